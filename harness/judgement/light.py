"""Differences of two answers of which no client can tell: numbers that run alike, fillers. Pure.

They decide as any other value does, since Kafka does answer something else there; but whoever reads
causes wants them below, and a case that differs in anything else rests on that.

*Numbers.* What an epoch or a generation starts from is nobody's business: a client sends back what
it was given. That it goes up, when, and which two are equal is what Kafka promises (fencing). So
the numbers of one name in a whole case are held together: all must stand in the same order on both
sides. A negative one is a sign and no number, and member epoch 0 asks its reader to join (KIP-848).

*Stale numbers.* Where those of the two sides differ, a request that names the same one on both was
not written with what it was answered: what a target says to Kafka's number is nothing about the
target, nor is what comes behind it in that case.

*Fillers.* Where both sides answer the same error code, what stands beside it in the same element is
what was there before anybody knew: -1, "", null. `readers.BESIDE_ERRORS` has those that are read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from touchstone.harness.judgement import readers
from touchstone.harness.judgement.grades import ABSENCE, CODE, FILLER, MISSING, NUMBER, STALE, VALUE
from touchstone.harness.judgement.normalize import Reading
from touchstone.harness.model import path as paths
from touchstone.harness.model.transcript import RoundTrip, Transcript
from touchstone.reference_impl.wire.apis import API

if TYPE_CHECKING:
    from touchstone.harness.judgement.compare import Difference

# Fields of answers that hold an epoch or a generation.
NUMBERS = frozenset({
    "assignment_epoch", "generation_id", "group_epoch", "leader_epoch", "member_epoch",
    "partition_leader_epoch", "producer_epoch", "share_session_epoch",
})  # fmt: skip
# A group's epochs are those that its members reach; where members' are Kafka's, so must these be.
COUNTS_ON = dict.fromkeys(NUMBERS, ()) | dict.fromkeys(
    ("assignment_epoch", "group_epoch"), ("member_epoch",)
)
# Fields of requests that hold one of them, and in which fields of answers it was given.
NAMED = {
    "generation_id": ("generation_id", "member_epoch"),
    "generation_id_or_member_epoch": ("generation_id", "member_epoch"),
    "member_epoch": ("member_epoch",),
    "producer_epoch": ("producer_epoch",),
}
IN_VAIN = ("unmet", "unresolved", "not attempted")  # how a step ended that was told another thing
OF = ("group_id", "transactional_id")  # fields of requests that say whose the numbers are
JOIN = {"member_epoch": 0}  # the least number that is none but a sign
# Fields that name an element, of which the first that it has is what people call it.
NAMES = ("name", "topic", "topic_name", "feature", "resource_name", "group_id", "transactional_id")
Readings = Mapping[int, Reading]


def graded(
    found: Iterable[Difference], oracle: Readings, target: Readings, stale_since: int | None = None
) -> list[Difference]:
    """Return the differences, each with its entity, and light ones with their kind.

    `oracle` and `target` are the Readings of either side by their steps.
    """
    differing = list(found)
    alike = _alike(oracle, target, stale_since) if any(map(is_number, differing)) else set()
    kafkas = {(reading.label, reading.at): reading.answer for reading in oracle.values()}
    labels = {reading.label: reading.answer for reading in oracle.values()}
    wrong = {(one.step, one.path) for one in differing}
    out = []
    for one in differing:
        answer = kafkas.get((one.step, one.at), labels.get(one.step))
        around = list(_around(one.path, answer))
        kind = _kind(one, around, wrong, alike)
        if stale_since is not None and one.at >= stale_since and _follows(one):
            kind = STALE
        out.append(replace(one, entity=_entity(one, around), kind=kind))
    return out


def is_number(one: Difference) -> bool:
    """Return whether both sides have an epoch or a generation there."""
    return one.kind in (VALUE, NUMBER) and one.path.rpartition(".")[2] in NUMBERS


def _kind(
    one: Difference, around: list[tuple[str, Any]], wrong: set[tuple[str, str]], alike: set[str]
) -> str:
    if one.kind not in (VALUE, ABSENCE):
        return one.kind
    if one.kind == VALUE and one.path.rpartition(".")[2] in alike:
        return NUMBER
    if readers.is_read_beside_an_error(one.api, one.path):
        return one.kind
    for place, struct in around:
        code = struct.get("error_code") if isinstance(struct, dict) else None
        if code and (one.step, f"{place}.error_code".lstrip(".")) not in wrong:
            return FILLER
    return one.kind


def _around(path: str, answer: Any) -> Iterator[tuple[str, Any]]:
    """Yield every value of the oracle's answer that a path leads through, with its own path."""
    place: list[str | int] = []
    try:
        for step in paths.parse(path):
            yield paths.spell(tuple(place)), answer
            answer = answer[step]
            place.append(step)
        yield path, answer
    except (ValueError, LookupError, TypeError):
        return  # what only the target has


def _entity(one: Difference, around: list[tuple[str, Any]]) -> str:
    """Return the name of the nearest element that has one, "" where none has."""
    sides = [side for side in (one.oracle, one.target) if MISSING in (one.oracle, one.target)]
    for value in (*sides, *(value for place, value in reversed(around) if place.endswith("]"))):
        name = _name(one.api, value)
        if name:
            return name
    return ""


def _name(api: str | None, value: Any) -> str:
    if not isinstance(value, Mapping):
        return value if isinstance(value, str) and value != MISSING else ""
    if api == "ApiVersions" and value.get("api_key") in API:
        return API[value["api_key"]].name
    return next((value[word] for word in NAMES if isinstance(value.get(word), str)), "")


# numbers


def _alike(oracle: Readings, target: Readings, stale_since: int | None) -> set[str]:
    """Return the names of those numbers that stand in the same order on both sides, as far as the
    target was asked with what it answered.
    """
    met: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for step in oracle.keys() & target.keys():
        if stale_since is None or target[step].at < stale_since:
            for name, *pair in _numbers(oracle[step].answer, target[step].answer, NUMBERS):
                met[name].add((pair[0], pair[1]))
    return {
        name for name in met
        if _rise_together(name, met[name].union(*(met.get(one, ()) for one in COUNTS_ON[name])))
    }  # fmt: skip


def _numbers(left: Any, right: Any, names: Collection[str]) -> Iterator[tuple[str, int, int]]:
    """Yield each number of these names that stands in the same place of both messages, but for
    those beside an error code.
    """
    if isinstance(left, dict) and isinstance(right, dict):
        if left.get("error_code") or right.get("error_code"):
            return
        for name, value in left.items():
            other = right.get(name)
            if name in names and isinstance(value, int) and isinstance(other, int):
                yield name, value, other
            elif isinstance(value, dict | list):
                yield from _numbers(value, other, names)
    elif isinstance(left, list) and isinstance(right, list):
        for value, other in zip(left, right, strict=False):
            yield from _numbers(value, other, names)


def _rise_together(name: str, pairs: set[tuple[int, int]]) -> bool:
    least = JOIN.get(name, -1)
    signs = {pair for pair in pairs if min(pair) <= least}
    return all(ours == theirs for ours, theirs in signs) and all(
        one[0] < other[0] and one[1] < other[1] for one, other in pairwise(sorted(pairs - signs))
    )


# stale numbers


def _follows(one: Difference) -> bool:
    """Whether it may follow from what the case itself asked; an end of the connection does not."""
    return one.kind in (ABSENCE, CODE, VALUE) or one.target in IN_VAIN


def stale_since(oracle: Transcript, target: Transcript) -> int | None:
    """Return the place of the first request that names the same number on both sides, although the
    answers of its group before it that gave it differ; None where there is none. Higher ones than
    any that was given are meant to be nobody's.
    """
    kafkas = {trip.label: trip for trip in oracle.round_trips}
    given: dict[tuple[str, str], set[tuple[int, int]]] = defaultdict(set)
    for trip in target.round_trips:
        other = kafkas.get(trip.label)
        if other is None:
            continue
        mine = _body(trip)
        group = next(_owners(mine), "")
        for name, ours, theirs in _numbers(_body(other), mine, NAMED.keys()):
            before = {pair for answer in NAMED[name] for pair in given[group, answer]}
            differ = any(one != two for one, two in before) and (ours, theirs) not in before
            if ours == theirs > 0 and differ and ours <= max(map(max, before)) + 1:
                return trip.at
        for name, ours, theirs in _numbers(other.answer, trip.answer, NUMBERS):
            if min(ours, theirs) > JOIN.get(name, -1):
                given[group, name].add((ours, theirs))
    return None


def _owners(body: Any) -> Iterator[str]:
    """Yield whose numbers a request names."""
    if isinstance(body, dict):
        for name, value in body.items():
            if name in OF and value:
                yield value
            elif isinstance(value, list):
                yield from _owners(value)
    elif isinstance(body, list):
        for value in body:
            yield from _owners(value)


def _body(trip: RoundTrip) -> Mapping[str, Any]:
    return {} if trip.request is None else trip.request.body
