"""What a target does differently, said once: equal differences of many cases are one cause. Pure.

A broker that answers one field wrongly fails a hundred claims, and a hundred red lines hide the one
sentence that its author needs. Causes are found from rows alone, so old nights and other people's
files can be asked too, in three steps.

1. *Candidates of a case.* What nothing before it excuses (`effects.INEXCUSABLE`) comes first: an
   answer that cannot be read is none whatever was asked. Else what differs in its first step that
   differs explains the rest, for later steps build on it; what no client can tell counts only where
   nothing else differs. A setup step that ended otherwise, or answered another error code, goes
   first, unless as many cases conform in spite of it, or the case could go on and met something of
   its own: above all an end of the connection where Kafka answers. A number that a setup step
   handed back explains later numbers, and nothing else. A step that answered, but never what was
   waited for, is told by what it answered.
2. *Identity.* Equal marks are one (`marks`), and so are those that only have another shape or are
   another sign of the same defect (`same_defect`).
3. *Choice.* Each case rests on one of its candidates: the one that explains most cases of the run,
   then the graver, then the one that the claim names. So the fewest causes explain all cases.
   What else differs in them lies behind it, is counted, and can be opened.

Causes stand by what they do and to whom (`effects`), then by how many cases rest on them; those of
which no client can tell come last and are counted apart.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from touchstone.harness.checkers.answer_parses import ANSWER
from touchstone.harness.judgement import effects, grades, light, same_defect
from touchstone.harness.judgement.marks import (
    ENDED,
    HANDED_BACK,
    UNMET,
    WEAK,
    Identity,
    Mark,
    Pair,
    is_kafkas,
    marks,
    notes,
)
from touchstone.harness.judgement.same_defect import Principal
from touchstone.harness.judgement.verdict import CONFORMS, DIVERGES
from touchstone.harness.model.case_row import CaseRow

# Codes of what is not there, or not yet: topics, partitions, leaders, coordinators, their ids.
ABSENT = frozenset({3, 5, 6, 14, 15, 16, 100})
# A wait for a group says nothing of topics.
ABSENT_GROUPS = frozenset({14, 15, 16})
OF_GROUPS = frozenset({"DescribeGroups", "FindCoordinator", "OffsetFetch"})
ENDS_INSTEAD = (("answered", "closed"), ("answered", ENDED))
_TELLING = (effects.ACCEPTS, effects.SILENT, effects.REFUSES)  # other values of a step follow
IN_SPITE = 3  # so many times fewer cases that conform show that what they met prevents nothing


Member = tuple[CaseRow, Mark]


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
    example: CaseRow
    sentence: str = ""
    expected: bool = False
    awaited: bool = False  # of the target's value: its cases waited for another one
    known: tuple[str, ...] = ()  # ids of the pins that explain its cases
    unpinned: int = 0  # its cases that no pin explains
    also: tuple[Cause, ...] = ()  # other signs of the same defect; `cases` are those of all
    why: str = ""  # of such a sign: why it is told there
    effect: str = effects.ODD
    hits: str = ""  # whom
    names: tuple[str, ...] = ()  # of Kafka's own things that it is about, the commonest first
    behind: tuple[Cause, ...] = ()  # what else differs in its cases, which nobody has judged alone

    @property
    def is_light(self) -> bool:
        """Whether no client can tell, or nothing is said of the target."""
        return self.effect in effects.ASIDE

    @property
    def api(self) -> str | None:
        return self.apis[0]


@dataclass(frozen=True)
class Causes:
    """All causes of one target's rows, the gravest first; and what decides nothing."""

    causes: tuple[Cause, ...]  # the light ones last
    notes: tuple[Cause, ...]  # those of most cases first
    of_case: Mapping[str, Cause]

    @property
    def grave(self) -> tuple[Cause, ...]:
        """Those of which a client can tell."""
        return tuple(cause for cause in self.causes if not cause.is_light)

    @property
    def light(self) -> tuple[Cause, ...]:
        """Those of which none can; cases rest on them where nothing else differs."""
        return tuple(cause for cause in self.causes if cause.is_light)


def find(rows: Iterable[CaseRow]) -> Causes:
    """The causes of one target's rows."""
    every = list(rows)
    failed = [row for row in every if row["verdict"] == DIVERGES]
    excused = _met_by_conforming(every)
    candidates = [_candidates(row, excused) for row in failed]
    signs = same_defect.merged(failed, candidates)
    below = same_defect.families(failed, signs)
    chosen = _chosen([[(_head(one, below), mark) for one, mark in marked] for marked in signs])
    groups: dict[Identity, dict[Identity, list[Member]]] = defaultdict(dict)
    for row, marked, head in zip(failed, signs, chosen, strict=True):
        mine = [(one, mark) for one, mark in marked if _head(one, below) == head]
        sign = mine[0][0]
        members = groups[head].setdefault(sign, [])
        members += [(row, mark) for one, mark in mine if one == sign]
    causes = _ranked(
        replace(_family(head, told, below), behind=_behind(told.values()))
        for head, told in groups.items()
    )
    of_case = {case: cause for cause in causes for case in cause.cases}
    return Causes(causes, _notes(every, failed, signs), of_case)


def _head(identity: Identity, below: Mapping[Identity, tuple[Identity, str]]) -> Identity:
    return below[identity][0] if identity in below else identity


def _family(
    head: Identity,
    signs: Mapping[Identity, Sequence[Member]],
    below: Mapping[Identity, tuple[Identity, str]],
) -> Cause:
    """The cause of several signs of one defect, of which the head is told first."""
    found = {sign: _cause(sign, members) for sign, members in signs.items()}
    first = found.pop(head, None) or found.pop(next(iter(found)))
    if not found:
        return first
    also = [replace(cause, why=below[sign][1]) for sign, cause in found.items()]
    every = (first, *_ranked(also))
    return replace(
        first,
        cases=tuple(case for cause in every for case in cause.cases),
        known=tuple(dict.fromkeys(pin for cause in every for pin in cause.known)),
        unpinned=sum(cause.unpinned for cause in every),
        also=every[1:],
    )


# candidates: what may explain one row


def _met_by_conforming(rows: Sequence[CaseRow]) -> Callable[[Identity], bool]:
    """Whether an oddity of a setup step is met by about as many cases that conform as by others.

    Such a one explains nothing: the cases that differ do so for another reason. The bound is low,
    so that it is not reached by one case more or less: what prevents anything prevents nearly all.
    """
    met: Counter[tuple[Identity, bool]] = Counter()
    for row in rows:
        if row["verdict"] in (CONFORMS, DIVERGES):
            for identity in {mark.identity for mark in notes(row)}:
                met[identity, row["verdict"] == CONFORMS] += 1
    return lambda identity: IN_SPITE * met[identity, True] >= met[identity, False]


def _candidates(row: CaseRow, excused: Callable[[Identity], bool]) -> list[Mark]:
    """The marks of a DIVERGES row that may explain it: those of its first step that counts."""
    deciding = marks(row)
    inexcusable = [mark for mark in deciding if effects.of(mark) in effects.INEXCUSABLE]
    if inexcusable:
        return [mark for mark in inexcusable if mark.at == inexcusable[0].at]
    deciding = [mark for mark in deciding if not effects.is_light(mark)] or deciding
    first = [mark for mark in deciding if mark.at == deciding[0].at]
    raising = [mark for mark in first if effects.of(mark) == effects.RAISES]
    if raising and not any(effects.of(mark) in _TELLING for mark in first):
        return raising
    in_vain = {mark.at for mark in notes(row) if mark.pair[1] == UNMET}
    before = [
        mark for mark in notes(row)
        if mark.at < first[0].at and not excused(mark.identity)
        and _explains(mark, first, in_vain=mark.at in in_vain)
    ]  # fmt: skip
    if not before or any(_ends_instead(mark) for mark in first):
        return _most_telling(first)
    earliest = min(mark.at for mark in before)
    # A step that never got there is told by its values too, which by themselves explain nothing.
    step = [m for m in notes(row) if m.at == earliest and m.identity.kind not in grades.NOTED]
    handed = [mark for mark in step if _handed_back(mark)]
    if handed and not any(mark.identity.kind == grades.CODE for mark in step):
        return handed
    return _most_telling(step)


def _ends_instead(mark: Mark) -> bool:
    """Whether Kafka answered this request and the target ended the connection, or itself.

    Whatever a setup step left in the request, a wrong number or a name that is unknown, an answer
    can say so: who ends the connection instead has a defect here too.
    """
    return mark.identity.path == "connection" and mark.pair in ENDS_INSTEAD


def _handed_back(mark: Mark) -> bool:
    """Whether this is a number that later requests name: as Kafka answered it, not the target."""
    numbers = all(isinstance(one, int) for one in mark.pair)
    return numbers and mark.identity.path.rpartition(".")[2] in HANDED_BACK


def _is_such_a_number(mark: Mark) -> bool:
    """Whether it is an epoch or a generation, in whatever answer."""
    return mark.identity.path.rpartition(".")[2] in light.NUMBERS


def _explains(mark: Mark, first: Iterable[Mark], *, in_vain: bool) -> bool:
    """Whether a setup step's oddity can be why the first step that counts differs.

    What a setup step was to make may be there although its answer does not decode, or a wait for it
    was in vain, whatever that answered. The case went on then, and what it met later is its own,
    unless a step could not be asked, or was told that something is not there.
    """
    if _handed_back(mark):
        return all(map(_is_such_a_number, first))
    if not explains(mark.identity.kind, mark.pair[1]):
        return False
    if not in_vain and mark.identity.path != ANSWER:
        return True
    absent = ABSENT_GROUPS if mark.identity.api in OF_GROUPS else ABSENT
    return any(
        one.pair[1] in (absent if one.identity.kind == grades.CODE else WEAK) for one in first
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
            weight = grades.STANDS.index(mark.stands), effects.is_light(mark), place
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


def _cause(identity: Identity, members: Sequence[Member]) -> Cause:
    rows = list({row["case"]: row for row, _ in members}.values())
    pairs = Counter(mark.pair for _, mark in members)
    apis = Counter(mark.identity.api for _, mark in members)
    # The example is a case that shows the commonest pair, so that text and card agree.
    common = pairs.most_common(1)[0][0]
    example, shown = next((row, mark) for row, mark in members if mark.pair == common)
    claims = {row["claim"] for row in rows}
    names = Counter(mark.entity for _, mark in members if is_kafkas(mark.entity))
    known = {word: None for row in rows if (word := row.get("known"))}
    # One claim that tries many APIs names such a cause: no API would be the same in every run.
    id = identity.word if len(apis) == 1 else replace(identity, api=min(claims)).word
    return Cause(
        id=id,
        kind=identity.kind,
        apis=tuple(sorted(apis, key=lambda api: (-apis[api], api or ""))),
        path=identity.path,
        versions=tuple(sorted({mark.version for _, mark in members if mark.version is not None})),
        pairs=tuple(pair for pair, _ in pairs.most_common()),
        step=shown.step,
        cases=tuple(row["case"] for row in rows),
        example=example,
        sentence=shown.sentence,
        expected=shown.expected,
        awaited=identity.awaited,
        known=tuple(known),
        unpinned=sum(not row.get("known") for row in rows),
        effect=effects.of(shown),
        hits=effects.who(shown),
        names=tuple(name for name, _ in names.most_common()),
    )


def _ranked(found: Iterable[Cause]) -> tuple[Cause, ...]:
    def rank(cause: Cause) -> tuple[Any, ...]:
        weight = effects.rank(cause.effect, cause.hits)
        return *weight, -len(cause.cases), grades.KINDS.index(cause.kind), cause.id

    return tuple(sorted(found, key=rank))


def _behind(signs: Iterable[Sequence[Member]]) -> tuple[Cause, ...]:
    """What else differs in the cases of a cause and is not light, the gravest first."""
    told: dict[str, set[Identity]] = defaultdict(set)
    rows: dict[str, CaseRow] = {}
    for members in signs:
        for row, mark in members:
            rows[row["case"]] = row
            told[row["case"]].add(mark.identity)
    groups: dict[Identity, list[Member]] = defaultdict(list)
    for case, row in rows.items():
        for mark in marks(row):
            if mark.identity not in told[case] and not effects.is_light(mark):
                groups[mark.identity].append((row, mark))
    return _ranked(_cause(identity, members) for identity, members in groups.items())


def _notes(
    rows: Sequence[CaseRow], failed: Sequence[CaseRow], candidates: Sequence[Sequence[Principal]]
) -> tuple[Cause, ...]:
    """What decides nothing, told once: of a case that diverges only what came before its cause."""
    roots = {
        row["case"]: min((mark.at for _, mark in marked), default=0)
        for row, marked in zip(failed, candidates, strict=True)
    }
    groups: dict[Identity, list[Member]] = defaultdict(list)
    for row in rows:
        for mark in notes(row):
            if mark.at < roots.get(row["case"], mark.at + 1):
                groups[mark.identity].append((row, mark))
    found = (_cause(identity, members) for identity, members in groups.items())
    return tuple(sorted(found, key=lambda note: (-len(note.cases), note.id)))


def foremost(found: Sequence[Cause], count: int) -> list[Cause]:
    """As many causes as can be shown: half of them the gravest, half those of most other cases.

    The gravest alone would hide behind single cases what most of a run is about. All stand from the
    gravest down.
    """
    first = (count + 1) // 2
    most = sorted(found[first:], key=lambda cause: -len(cause.cases))[: count - first]
    shown = {cause.id for cause in (*found[:first], *most)}
    return [cause for cause in found if cause.id in shown]


def version_words(versions: Sequence[int]) -> str:
    """Versions as ranges: "v0-v4, v6"."""
    ranges: list[list[int]] = []
    for version in sorted(set(versions)):
        if ranges and version == ranges[-1][1] + 1:
            ranges[-1][1] = version
        else:
            ranges.append([version, version])
    return ", ".join(f"v{a}" if a == b else f"v{a}-v{b}" for a, b in ranges)
