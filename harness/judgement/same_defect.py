"""Which marks are of one defect although they are not equal. Pure.

Two questions, each answered from rows alone, and for each there are defects that must stay apart.

*One sign in several shapes* (`merged`). An error code or a field that only has another place or
another name in other versions of the same step of the same claim, and one claim that meets the
same in several APIs; a value that is wrong in one way where it is asked for and where a case waits
for it to change.

*Several signs of one defect* (`families`). They keep their own titles and are told below the one
that heads them, with the argument:

- One step of one claim that goes wrong in one way in old versions and in another way in new ones,
  where neither way is met anywhere else.
- One rule that is broken in several APIs: Kafka refuses with the same error code and the target
  does not, in claims that prove the same clause of the behaviour catalogue, or in the same words of
  Kafka's, of which one text alone may be what it always says with that code.
- One thing of Kafka's that is not there, a topic, a setting or a feature, wherever it is missed.
- What a broker's death costs, where something that the same clause asks for was missing before
  anybody died: a successor cannot know what was never written.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from touchstone.harness.judgement import grades
from touchstone.harness.judgement.marks import (
    EVERY,
    HANDED_BACK,
    LACKS,
    Identity,
    Mark,
    Pair,
    starred,
)
from touchstone.harness.model.case_row import CaseRow

Principal = tuple[Identity, Mark]  # the identity that a mark counts for, and the mark
UNKNOWN = ((0, 3), (0, 100))  # NONE of Kafka's, UNKNOWN_TOPIC_OR_PARTITION or UNKNOWN_TOPIC_ID
TEXTS = 2  # of one error code, all of which Kafka says in both APIs: no standard text
_CLAUSE = re.compile(r"(?!KIP-)[A-Z]+-\d+")  # a KIP is a whole feature, no rule


class _Union:
    """Identities that were joined, each under the one that leads them."""

    def __init__(
        self, identities: Iterable[Identity], rank: Callable[[Identity], tuple[int | str, ...]]
    ):
        self._leader = {identity: identity for identity in identities}
        self._rank = rank

    def leader(self, identity: Identity) -> Identity:
        while self._leader[identity] != identity:
            identity = self._leader[identity]
        return identity

    def join(self, one: Identity, other: Identity) -> None:
        first, second = sorted((self.leader(one), self.leader(other)), key=self._rank)
        self._leader[second] = first


# one sign in several shapes


def merged(rows: Sequence[CaseRow], candidates: Sequence[list[Mark]]) -> list[list[Principal]]:
    """Each mark with the identity it counts for."""
    found = [(row, mark) for row, marked in zip(rows, candidates, strict=True) for mark in marked]
    versions: dict[Identity, set[int | None]] = defaultdict(set)
    counted: Counter[Identity] = Counter()
    for _, mark in found:
        versions[mark.identity].add(mark.version)
        counted[mark.identity] += 1
    union = _Union(counted, lambda identity: (-counted[identity], identity.word))
    for alike in _alike(found, _variant):
        for one in alike:
            for other in alike:
                if one != other and not versions[one] & versions[other]:
                    union.join(one, other)
    for alike in _alike(found, _moved):
        for other in alike[1:]:
            if not versions[alike[0]] & versions[other]:
                union.join(alike[0], other)
    for alike in _alike(found, _across_apis):
        for other in alike[1:]:
            union.join(alike[0], other)
    for awaited, outright in _also_outright(found):
        union.join(awaited, outright)
    return [[(union.leader(mark.identity), mark) for mark in marked] for marked in candidates]


def _also_outright(
    found: Iterable[tuple[CaseRow, Mark]],
) -> Iterator[tuple[Identity, Identity]]:
    """Values that were waited for in vain and, where nobody waits, are wrong in the same way.

    Equal offsets and counts may be chance; equal words, and a group's own numbers, are not. Of such
    a number Kafka's value is enough: the target's may have moved on with each look of the wait.
    """
    pairs: dict[Identity, set[Pair]] = defaultdict(set)
    for _, mark in found:
        pairs[mark.identity].add(mark.pair)
    for identity in [one for one in pairs if one.awaited]:
        outright = replace(identity, awaited=False)
        asked = pairs.get(outright, set())
        if identity.path.rpartition(".")[2] in HANDED_BACK:
            same = not {kafkas for kafkas, _ in pairs[identity]}.isdisjoint(dict(asked))
        else:
            same = any(isinstance(kafkas, str) for kafkas, _ in pairs[identity] & asked)
        if same:
            yield identity, outright


def _alike(
    found: Iterable[tuple[CaseRow, Mark]], key: Callable[[CaseRow, Mark], Hashable]
) -> list[list[Identity]]:
    groups: dict[Hashable, dict[Identity, None]] = defaultdict(dict)
    for row, mark in found:
        groups[key(row, mark)][mark.identity] = None
    return [list(group) for group in groups.values() if len(group) > 1]


def _variant(row: CaseRow, mark: Mark) -> Hashable:
    """One step of one claim, one field name, one code of the target: between versions that differ
    in shape only the place of the field, or Kafka's own code, may change."""
    identity = mark.identity
    leaf = identity.path.removesuffix(EVERY).rpartition(".")[2]
    answered = None if identity.codes is None else identity.codes[1]
    return (
        row["claim"],
        mark.step,
        identity.api,
        identity.kind,
        leaf,
        answered,
        identity.checker,
        identity.awaited,
        identity.manner,
        identity.entity,
    )


def _moved(row: CaseRow, mark: Mark) -> Hashable:
    """One field of an array's elements, and both values: in other versions the array stands inside
    another (OffsetFetch 8, FindCoordinator 4)."""
    identity = mark.identity
    array, _, leaf = identity.path.rpartition(".")
    array = array.rpartition(".")[2]
    whole = identity if not array.endswith(EVERY) else ""
    return (
        whole,
        array,
        leaf,
        identity.api,
        identity.kind,
        mark.pair,
        identity.checker,
        identity.awaited,
        identity.manner,
        identity.entity,
    )


def _across_apis(row: CaseRow, mark: Mark) -> Hashable:
    """One claim that tries many APIs and meets the same everywhere."""
    identity = mark.identity
    return (
        row["claim"],
        identity.path,
        identity.kind,
        identity.codes,
        identity.checker,
        identity.awaited,
        identity.manner,
    )


# several signs of one defect


@dataclass(frozen=True)
class _Sign:
    """Where one identity was met."""

    identity: Identity
    apis: frozenset[str | None]
    places: frozenset[tuple[str, str]]  # claim and step
    versions: frozenset[int | None]
    proofs: frozenset[frozenset[str]]  # the clauses that each of its claims proves
    harmed: frozenset[bool]  # whether its claims harm brokers
    claimed: bool  # whether it is always the place that a claim names
    texts: frozenset[str]  # what Kafka says to people in the same elements
    cases: int

    @property
    def clauses(self) -> frozenset[str]:
        """Clauses that all of its claims prove."""
        return frozenset.intersection(*self.proofs)


def families(
    rows: Sequence[CaseRow], candidates: Sequence[Sequence[Principal]]
) -> Mapping[Identity, tuple[Identity, str]]:
    """Identity -> the one that it is told below, and why; those that stand for themselves are not
    in it.
    """
    signs = {sign.identity: sign for sign in _signs(rows, candidates)}
    union = _Union(signs, lambda identity: _telling(signs[identity]))
    why: dict[Identity, str] = {}
    alike = (*_shapes(signs.values()), *_refusals(signs.values()), *_lacks(signs.values()))
    for one, other, reason in alike:
        union.join(one, other)
        why[one] = why[other] = reason
    heads = {identity: (union.leader(identity), why[identity]) for identity in why}
    # What was missing heads what its lack costs, however many cases that is.
    heads |= {later: (earlier, reason) for earlier, later, reason in _deaths(signs.values())}
    return {
        identity: (_head(identity, heads), reason)
        for identity, (other, reason) in heads.items()
        if other != identity
    }


def _head(identity: Identity, heads: Mapping[Identity, tuple[Identity, str]]) -> Identity:
    while identity in heads and heads[identity][0] != identity:
        identity = heads[identity][0]
    return identity


def _signs(rows: Sequence[CaseRow], candidates: Sequence[Sequence[Principal]]) -> Iterator[_Sign]:
    met: dict[Identity, list[tuple[CaseRow, Mark]]] = defaultdict(list)
    for row, marked in zip(rows, candidates, strict=True):
        for identity, mark in marked:
            met[identity].append((row, mark))
    for identity, members in met.items():
        yield _Sign(
            identity,
            frozenset(mark.identity.api for _, mark in members),
            frozenset((row["claim"], mark.step) for row, mark in members),
            frozenset(mark.version for _, mark in members),
            frozenset(_clauses(row) for row, _ in members),
            frozenset(bool(row.get("harms")) for row, _ in members),
            all(mark.stands == grades.CLAIM or mark.expected for _, mark in members),
            frozenset(text for row, mark in members for text in _texts(row, mark)),
            len({row["case"] for row, _ in members}),
        )


def _clauses(row: CaseRow) -> frozenset[str]:
    found = map(_CLAUSE.match, row.get("evidence") or ())
    return frozenset(one[0] for one in found if one)


def _texts(row: CaseRow, mark: Mark) -> Iterator[str]:
    """Kafka's error messages beside the error codes that a mark stands for."""
    field, message = "error_code", "error_message"
    beside = {
        one["path"].removesuffix(field) + message
        for one in row["differences"]
        if one["step"] == mark.step and starred(one["path"]) == mark.identity.path
    }
    for one in (*row["differences"], *(row.get("notes") or ())):
        if one["step"] == mark.step and one["path"] in beside and isinstance(one["oracle"], str):
            yield one["oracle"]


def _telling(sign: _Sign) -> tuple[bool, int, str]:
    """A code says more than how a step ended; then what more cases show."""
    return sign.identity.kind != grades.CODE, -sign.cases, sign.identity.word


Joined = tuple[Identity, Identity, str]


def _shapes(signs: Iterable[_Sign]) -> Iterator[Joined]:
    """One step of one claim, in versions that have none in common."""
    at: dict[Hashable, list[_Sign]] = defaultdict(list)
    for sign in signs:
        if len(sign.places) == 1 and len(sign.apis) == 1 and None not in sign.versions:
            at[sign.places, sign.apis].append(sign)
    for first, *others in at.values():
        seen = [version for sign in (first, *others) for version in sign.versions]
        if len(seen) == len(set(seen)):
            yield from ((first.identity, sign.identity, "other versions") for sign in others)


def _refusals(signs: Iterable[_Sign]) -> Iterator[Joined]:
    """One error code of Kafka's in several APIs, under one clause or in the same words."""
    broken: dict[int, list[_Sign]] = defaultdict(list)
    for sign in signs:
        code = (sign.identity.codes or (0,))[0]
        if sign.identity.kind == grades.CODE and sign.claimed and isinstance(code, int) and code:
            broken[code].append(sign)
    for refusals in broken.values():
        for one, other in combinations(refusals, 2):
            if one.apis & other.apis:
                continue
            clauses = sorted(one.clauses & other.clauses)
            if clauses:
                yield one.identity, other.identity, f"the same rule, {clauses[0]}"
            elif len(one.texts & other.texts) >= TEXTS:
                yield one.identity, other.identity, "Kafka refuses it in the same words"


def _lacks(signs: Iterable[_Sign]) -> Iterator[Joined]:
    """One name of Kafka's that is missing, or is said to be unknown where Kafka knows it."""
    missing: dict[str, list[Identity]] = defaultdict(list)
    for sign in signs:
        one = sign.identity
        if one.entity and (one.manner == LACKS or one.codes in UNKNOWN):
            missing[one.entity].append(one)
    for name, (first, *others) in missing.items():
        yield from ((first, other, f"there is no {name}") for other in others)


def _deaths(signs: Iterable[_Sign]) -> Iterator[Joined]:
    """What was missing while all brokers lived, and what then differs after one died."""
    known = list(signs)
    missing = [
        sign for sign in known
        if sign.identity.kind == grades.ABSENCE and sign.claimed and sign.harmed == {False}
    ]  # fmt: skip
    for sign in known:
        if sign.harmed != {True} or sign.identity.kind not in (grades.ABSENCE, grades.VALUE):
            continue
        roots = [one for one in missing if not one.apis & sign.apis and _under(sign, one)]
        if len(roots) == 1:
            yield roots[0].identity, sign.identity, "after a broker's death"


def _under(later: _Sign, earlier: _Sign) -> bool:
    """Whether each claim of one proves a clause that a claim of the other proves too."""
    proved = frozenset.union(*earlier.proofs)
    return all(clauses & proved for clauses in later.proofs)
