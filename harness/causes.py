"""What a target does differently, said once: equal differences of many cases are one cause. Pure.

A broker that answers one field wrongly fails a hundred claims, and a hundred red lines hide the one
sentence that its author needs. Causes are found from rows alone, so old nights and other people's
files can be asked too, in three steps.

1. *Candidates of a case.* What differs in its first step that differs explains the rest: later
   steps build on it. A setup step that ended otherwise, or answered another error code, goes first,
   unless as many cases conform in spite of it, or the case could go on and met something of its
   own. A step that answered, but never what was waited for, is told by what it answered.
2. *Identity.* Equal are: API, field path (list indexes as [*]), kind, and for error codes both
   codes. Other values (offsets, names, counts) vary by case and are only shown. Three things are
   merged that are one by all appearances: an error code or a field that only has another place or
   another name in other versions of the same step of the same claim, and one claim that meets the
   same in several APIs.
3. *Choice.* Each case rests on one of its candidates: the one that explains most cases of the run,
   then the graver, then the one that the claim names. So the fewest causes explain all cases.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from touchstone.harness import grades
from touchstone.harness.checkers.answer_parses import ANSWER
from touchstone.harness.verdict import CONFORMS, DIVERGES

Row = Mapping[str, Any]
Pair = tuple[Any, Any]
_INDEX = re.compile(r"\[-?\d+\]")
EVERY = "[*]"
# Endings that something earlier brought, and topics that were made in another way than asked.
WEAK = frozenset({"not attempted", "unresolved", "gone", grades.MADE})
UNMET, ENDED = "unmet", "ended"  # ENDED: the target, and not only a connection
# Codes of what is not there, or not yet: topics, partitions, leaders, coordinators, their ids.
ABSENT = frozenset({3, 5, 6, 14, 15, 16, 100})
# Numbers of answers that scenarios count on in the requests behind them.
HANDED_BACK = frozenset({"generation_id", "member_epoch", "producer_epoch"})
LONGEST_CODE = 100  # characters of a code, or of a list of codes, as an expectation words it


@dataclass(frozen=True, slots=True)
class Identity:
    """What two marks share when they are one: everything that does not vary by case."""

    api: str | None
    path: str
    kind: str
    codes: Pair | None = None  # of kind `code`: Kafka's and the target's
    checker: str = ""

    @property
    def word(self) -> str:
        """The identity as one word, the same in every run: what reports and pins call it."""
        path = ".".join(re.findall(r"\w+", self.path.replace(EVERY, "")))
        place = ".".join(word for word in (self.api or "bytes", path) if word)
        if self.checker:
            return f"{place}:{self.checker}"
        if self.codes is not None:
            return f"{place}:{self.codes[0]},{self.codes[1]}"
        return f"{place}:absence" if self.kind == grades.ABSENCE else place


@dataclass(frozen=True, slots=True)
class Mark:
    """One thing that is odd in one row, as its row tells it."""

    identity: Identity
    step: str
    at: int
    version: int | None
    pair: Pair
    stands: str
    sentence: str = ""  # of a checker's finding
    expected: bool = False  # the pair is what an expectation wanted and got, in its words


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing that a target does differently, and the cases that rest on it."""

    id: str
    kind: str
    apis: tuple[str | None, ...]
    path: str
    versions: tuple[int, ...]
    pairs: tuple[Pair, ...]  # Kafka's value and the target's; the commonest first
    step: str  # of the example
    cases: tuple[str, ...]
    example: Row
    sentence: str = ""
    expected: bool = False
    known: tuple[str, ...] = ()  # ids of the pins that explain its cases
    unpinned: int = 0  # its cases that no pin explains

    @property
    def api(self) -> str | None:
        return self.apis[0]


@dataclass(frozen=True)
class Causes:
    """All causes of one target's rows, the gravest first; and what decides nothing."""

    causes: tuple[Cause, ...]
    notes: tuple[Cause, ...]  # those of most cases first
    of_case: Mapping[str, Cause]


def find(rows: Iterable[Row]) -> Causes:
    """The causes of one target's rows."""
    every = list(rows)
    failed = [row for row in every if row["verdict"] == DIVERGES]
    excused = _met_by_conforming(every)
    candidates = [_candidates(row, excused) for row in failed]
    candidates = _merged(failed, candidates)
    chosen = _chosen(candidates)
    groups: dict[Identity, list[tuple[Row, Mark]]] = defaultdict(list)
    for row, marked, identity in zip(failed, candidates, chosen, strict=True):
        groups[identity] += [(row, mark) for principal, mark in marked if principal == identity]
    causes = _ranked(_cause(identity, members) for identity, members in groups.items())
    of_case = {case: cause for cause in causes for case in cause.cases}
    return Causes(causes, _notes(every, failed, candidates), of_case)


# marks: what one row holds


def marks(row: Row) -> list[Mark]:
    """Everything in a row that decides, in the order of the steps."""
    found = [_of_difference(one) for one in row["differences"]]
    found = found or [_of_failure(one) for one in row.get("failures") or ()]
    found = found or [_of_finding(one) for one in row["findings"]]
    return sorted(found, key=lambda mark: mark.at) or [_of_reason(row)]


def notes(row: Row) -> list[Mark]:
    """Everything in a row that decides nothing."""
    return [
        _of_finding(one) if one.get("checker") else _of_difference(one)
        for one in row.get("notes") or ()
    ]


def _of_difference(one: Row) -> Mark:
    path, pair = starred(one["path"]), (_plain(one["oracle"]), _plain(one["target"]))
    kind = one.get("kind") or grades.kind_of(one["path"], one["oracle"], one["target"])
    return _mark(one, Identity(one.get("api"), path, kind, _codes(kind, pair)), pair)


def _of_failure(one: Row) -> Mark:
    path = starred(one["path"])
    kind = one.get("kind") or grades.kind_of_failure(one["path"])
    pair = _number(one["wanted"]), _number(one["got"])
    identity = Identity(one.get("api"), path, kind, _codes(kind, pair))
    return replace(_mark(one, identity, pair), expected=True)


def _codes(kind: str, pair: Pair) -> Pair | None:
    """Both codes of a difference of codes, or how a step ended that ended the target; what stands
    there and is too long for a code varies."""
    fits = all(len(str(one)) <= LONGEST_CODE for one in pair)
    return pair if (kind == grades.CODE or pair[1] == ENDED) and fits else None


def _of_finding(one: Row) -> Mark:
    if one["path"] == ANSWER:  # the same as the difference that other cases tell of
        identity = Identity(one.get("api"), ANSWER, grades.CONNECTION)
        return _mark(one, identity, ("decodes", one["sentence"]))
    kind = one.get("kind") or grades.kind_of_finding(one["checker"])
    identity = Identity(one.get("api"), starred(one["path"]), kind, checker=one["checker"])
    return _mark(one, identity, (None, None))


def _of_reason(row: Row) -> Mark:
    """Rows of before failures were kept have nothing but their reason."""
    identity = Identity(row.get("api"), "", grades.VALUE)
    return Mark(identity, "", 0, row.get("version"), (None, None), grades.ASKED, row["reason"])


def _mark(one: Row, identity: Identity, pair: Pair) -> Mark:
    return Mark(
        identity, one["step"], one.get("at") or 0, one.get("version"), pair,
        one.get("stands") or grades.ASKED, one.get("sentence") or "",
    )  # fmt: skip


def starred(path: str) -> str:
    """A path without its list indexes: what does not vary by case."""
    return _INDEX.sub(EVERY, path)


def _plain(value: Any) -> Hashable:
    """A value as text where it is none that can be counted."""
    return value if isinstance(value, str | int | float | None) else str(value)


def _number(text: str) -> Any:
    return int(text) if re.fullmatch(r"-?\d+", text) else text


# candidates: what may explain one row


def _met_by_conforming(rows: Sequence[Row]) -> Callable[[Identity], bool]:
    """Whether an oddity of a setup step is met by as many cases that conform as by others.

    Such a one explains nothing: the cases that differ do so for another reason.
    """
    met: Counter[tuple[Identity, bool]] = Counter()
    for row in rows:
        if row["verdict"] in (CONFORMS, DIVERGES):
            for identity in {mark.identity for mark in notes(row)}:
                met[identity, row["verdict"] == CONFORMS] += 1
    return lambda identity: met[identity, True] >= met[identity, False]


def _candidates(row: Row, excused: Callable[[Identity], bool]) -> list[Mark]:
    """The marks of a DIVERGES row that may explain it: those of its first step that counts."""
    deciding = marks(row)
    graver = [mark for mark in deciding if mark.identity.kind != grades.PROSE]
    deciding = graver or deciding
    first = [mark for mark in deciding if mark.at == deciding[0].at]
    before = [
        mark for mark in notes(row)
        if mark.at < first[0].at and _explains(mark, first) and not excused(mark.identity)
    ]  # fmt: skip
    if not before:
        return _most_telling(first)
    earliest = min(mark.at for mark in before)
    # A step that never got there is told by its values too, which by themselves explain nothing.
    step = [m for m in notes(row) if m.at == earliest and m.identity.kind != grades.PROSE]
    handed = [mark for mark in step if _handed_back(mark)]
    if handed and not any(mark.identity.kind == grades.CODE for mark in step):
        return handed
    return _most_telling(step)


def _handed_back(mark: Mark) -> bool:
    """Whether this is a number that later requests name: as Kafka answered it, not the target."""
    numbers = all(isinstance(one, int) for one in mark.pair)
    return numbers and mark.identity.path.rpartition(".")[2] in HANDED_BACK


def _explains(mark: Mark, first: Iterable[Mark]) -> bool:
    """Whether a setup step's oddity can be why the first step that counts differs.

    What a setup step was to make may be there although its answer does not decode, or a wait for it
    was in vain. The case went on then, and what it met later is its own, unless a step could not be
    asked, or was told that something is not there.
    """
    if _handed_back(mark):
        return True
    if not explains(mark.identity.kind, mark.pair[1]):
        return False
    if mark.pair[1] != UNMET and mark.identity.path != ANSWER:
        return True
    return any(
        one.pair[1] in (ABSENT if one.identity.kind == grades.CODE else WEAK) for one in first
    )


def explains(kind: str, target: Any) -> bool:
    """Whether a setup step's oddity can be why a later step differs."""
    return kind == grades.CODE or (kind == grades.CONNECTION and target not in WEAK)


def _most_telling(step: list[Mark]) -> list[Mark]:
    """Those marks of one step that say most about it.

    A checker's finding repeats what differs, so it counts only alone. Other values follow from
    another error code. "Never gets there" is the harness's own word, and the answer says more.
    """
    plain = [mark for mark in step if not mark.identity.checker] or step
    codes = [mark for mark in plain if mark.identity.kind == grades.CODE]
    if codes:
        return codes
    inside = [
        mark for mark in plain
        if mark.identity.kind != grades.CONNECTION or mark.identity.path == ANSWER
    ]  # fmt: skip
    return inside if inside and any(mark.pair[1] == UNMET for mark in plain) else plain


# merging: identities that are one by all appearances

Principal = tuple[Identity, Mark]  # the identity that a mark counts for, and the mark


def _merged(rows: Sequence[Row], candidates: Sequence[list[Mark]]) -> list[list[Principal]]:
    """Each mark with the identity it counts for."""
    found = [(row, mark) for row, marked in zip(rows, candidates, strict=True) for mark in marked]
    versions: dict[Identity, set[int | None]] = defaultdict(set)
    counted: Counter[Identity] = Counter()
    for _, mark in found:
        versions[mark.identity].add(mark.version)
        counted[mark.identity] += 1
    leader: dict[Identity, Identity] = {identity: identity for identity in counted}

    def leader_of(identity: Identity) -> Identity:
        while leader[identity] != identity:
            identity = leader[identity]
        return identity

    def join(one: Identity, other: Identity) -> None:
        pair = sorted((leader_of(one), leader_of(other)), key=lambda i: (-counted[i], i.word))
        leader[pair[1]] = pair[0]

    for alike in _alike(found, _variant):
        for one in alike:
            for other in alike:
                if one != other and not versions[one] & versions[other]:
                    join(one, other)
    for alike in _alike(found, _moved):
        for other in alike[1:]:
            if not versions[alike[0]] & versions[other]:
                join(alike[0], other)
    for alike in _alike(found, _across_apis):
        for other in alike[1:]:
            join(alike[0], other)
    return [[(leader_of(mark.identity), mark) for mark in marked] for marked in candidates]


def _alike(
    found: Iterable[tuple[Row, Mark]], key: Callable[[Row, Mark], Hashable]
) -> list[list[Identity]]:
    groups: dict[Hashable, dict[Identity, None]] = defaultdict(dict)
    for row, mark in found:
        groups[key(row, mark)][mark.identity] = None
    return [list(group) for group in groups.values() if len(group) > 1]


def _variant(row: Row, mark: Mark) -> Hashable:
    """One step of one claim, one field name, one code of the target: between versions that differ
    in shape only the place of the field, or Kafka's own code, may change."""
    identity = mark.identity
    leaf = identity.path.removesuffix(EVERY).rpartition(".")[2]
    answered = None if identity.codes is None else identity.codes[1]
    return row["claim"], mark.step, identity.api, identity.kind, leaf, answered, identity.checker


def _moved(row: Row, mark: Mark) -> Hashable:
    """One field of an array's elements, and both values: in other versions the array stands inside
    another (OffsetFetch 8, FindCoordinator 4)."""
    identity = mark.identity
    array, _, leaf = identity.path.rpartition(".")
    array = array.rpartition(".")[2]
    whole = identity if not array.endswith(EVERY) else ""
    return whole, array, leaf, identity.api, identity.kind, mark.pair, identity.checker


def _across_apis(row: Row, mark: Mark) -> Hashable:
    """One claim that tries many APIs and meets the same everywhere."""
    identity = mark.identity
    return row["claim"], identity.path, identity.kind, identity.codes, identity.checker


# choice


def _chosen(candidates: Sequence[Sequence[Principal]]) -> list[Identity]:
    """The identity that each row rests on: again and again the one that explains most rows."""
    first: dict[Identity, tuple[int, bool, int]] = {}
    of_row: list[set[Identity]] = []
    explained: dict[Identity, set[int]] = defaultdict(set)
    for number, marked in enumerate(candidates):
        of_row.append({identity for identity, _ in marked})
        for place, (identity, mark) in enumerate(marked):
            explained[identity].add(number)
            weight = grades.STANDS.index(mark.stands), _slight(mark.pair), place
            first[identity] = min(first.get(identity, weight), weight)

    def merit(identity: Identity) -> tuple[Any, ...]:
        grave = 0 if identity.kind in (grades.CONNECTION, grades.CODE) else 1
        return -len(explained[identity]), grave, first[identity], identity.word, repr(identity)

    # Choosing one takes cases from others, whose merit in the heap is then too good: they are
    # weighed again when they come up.
    heap = [(merit(identity), identity) for identity in explained]
    heapq.heapify(heap)
    chosen: dict[int, Identity] = {}
    while heap:
        weight, best = heapq.heappop(heap)
        if weight != merit(best):
            heapq.heappush(heap, (merit(best), best))
            continue
        for number in explained[best]:
            chosen[number] = best
            for other in of_row[number] - {best}:
                explained[other].discard(number)
    return [chosen[number] for number in range(len(candidates))]


def _slight(pair: Pair) -> bool:
    """Whether one side has null where the other has nothing in it: few clients could tell."""
    return None in pair and any(side in ("", "[]", "{}") for side in pair)


def _cause(identity: Identity, members: Sequence[tuple[Row, Mark]]) -> Cause:
    rows = list({row["case"]: row for row, _ in members}.values())
    pairs = Counter(mark.pair for _, mark in members)
    apis = Counter(mark.identity.api for _, mark in members)
    # The example is a case that shows the commonest pair, so that text and card agree.
    common = pairs.most_common(1)[0][0]
    example, shown = next((row, mark) for row, mark in members if mark.pair == common)
    claims = {row["claim"] for row in rows}
    known = {row["known"]: None for row in rows if row.get("known")}
    # One claim that tries many APIs names such a cause: no API would be the same in every run.
    id = identity.word if len(apis) == 1 else replace(identity, api=min(claims)).word
    return Cause(
        id=id,
        kind=identity.kind,
        apis=tuple(sorted(apis, key=lambda api: (-apis[api], api or ""))),
        path=identity.path,
        versions=tuple(sorted({mark.version for _, mark in members} - {None})),
        pairs=tuple(pair for pair, _ in pairs.most_common()),
        step=shown.step,
        cases=tuple(row["case"] for row in rows),
        example=example,
        sentence=shown.sentence,
        expected=shown.expected,
        known=tuple(known),
        unpinned=sum(not row.get("known") for row in rows),
    )


def _ranked(found: Iterable[Cause]) -> tuple[Cause, ...]:
    def rank(cause: Cause) -> tuple[int, int, str]:
        return grades.KINDS.index(cause.kind), -len(cause.cases), cause.id

    return tuple(sorted(found, key=rank))


def _notes(
    rows: Sequence[Row], failed: Sequence[Row], candidates: Sequence[Sequence[Principal]]
) -> tuple[Cause, ...]:
    """What decides nothing, told once: of a case that diverges only what came before its cause."""
    roots = {
        row["case"]: min((mark.at for _, mark in marked), default=0)
        for row, marked in zip(failed, candidates, strict=True)
    }
    groups: dict[Identity, list[tuple[Row, Mark]]] = defaultdict(list)
    for row in rows:
        for mark in notes(row):
            if mark.at < roots.get(row["case"], mark.at + 1):
                groups[mark.identity].append((row, mark))
    found = (_cause(identity, members) for identity, members in groups.items())
    return tuple(sorted(found, key=lambda note: (-len(note.cases), note.id)))


def foremost(found: Sequence[Cause], count: int) -> list[Cause]:
    """As many causes as can be shown: those that most cases rest on, still the gravest first.

    The gravest alone would hide behind single lost connections what most of a run is about. What
    ends the target is shown even if it is one case.
    """
    most = sorted(found, key=lambda cause: (not _fatal(cause), -len(cause.cases)))[:count]
    return [cause for cause in found if cause in most]


def _fatal(cause: Cause) -> bool:
    return any(target == ENDED for _, target in cause.pairs)


def version_words(versions: Sequence[int]) -> str:
    """Versions as ranges: "v0-v4, v6"."""
    ranges: list[list[int]] = []
    for version in sorted(set(versions)):
        if ranges and version == ranges[-1][1] + 1:
            ranges[-1][1] = version
        else:
            ranges.append([version, version])
    return ", ".join(f"v{a}" if a == b else f"v{a}-v{b}" for a, b in ranges)
