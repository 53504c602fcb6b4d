"""Two normalised transcripts -> where they differ, first difference first. Pure.

A Difference names the step, the path inside its answer (or "connection", "answer", "frames"), and
both values as they stood after normalisation. The oracle is always the left side: what Kafka did.
It knows of what kind it is; where it stands in its case is for `verdict` to say, which knows the
claim (see `grades`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import zip_longest
from operator import itemgetter
from typing import Any

from touchstone.harness.judgement import light
from touchstone.harness.judgement.grades import (
    ASKED,
    CONNECTION,
    MADE,
    MISSING,
    VALUE,
    VERSION,
    kind_of,
    kind_of_order,
)
from touchstone.harness.judgement.normalize import Reading, normalise
from touchstone.harness.model.path import Step, spell
from touchstone.harness.model.transcript import Transcript

FieldPath = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the target's behaviour is not the oracle's."""

    step: str
    path: str
    oracle: Any
    target: Any
    kind: str = VALUE
    stands: str = ASKED
    api: str | None = None  # of the step, with the version that was asked
    version: int | None = None
    at: int = 0  # the step's place in its scenario, or that where its answer was awaited
    entity: str = ""  # what the nearest element around it is called: a topic, a setting, an API

    def __str__(self) -> str:
        return f"{self.step}: {self.path}: oracle {self.oracle!r}, target {self.target!r}"


def compare(oracle: Transcript, target: Transcript) -> list[Difference]:
    """Every difference between two transcripts of one scenario."""
    sides = normalise(oracle), normalise(target)
    found = differences(*sides)
    since = light.stale_since(oracle, target) if any(map(light.is_number, found)) else None
    return found if since is None else differences(*sides, since)


def differences(
    oracle: list[Reading], target: list[Reading], stale_since: int | None = None
) -> list[Difference]:
    """Every difference between two lists of Readings; from the step at `stale_since` on, what the
    target answers follows from a number of Kafka's (`light`).
    """
    left = {reading.step: reading for reading in oracle}
    right = {reading.step: reading for reading in target}
    found: list[Difference] = []
    for step in sorted(left.keys() | right.keys()):
        found += _step(left.get(step), right.get(step))
    found = light.graded(found, left, right, stale_since)
    return sorted(found, key=lambda one: one.at)


def _step(left: Reading | None, right: Reading | None) -> list[Difference]:
    there = left or right
    assert there is not None
    at = (right or there).at

    def differs(path: str, oracle: Any, target: Any, kind: str) -> Difference:
        return Difference(
            there.label, path, oracle, target,
            kind=kind, api=there.api, version=there.version, at=at,
        )  # fmt: skip

    if left is None or right is None:
        ours, theirs = (side.outcome if side else "not attempted" for side in (left, right))
        return [differs("connection", ours, theirs, CONNECTION)]
    found = []
    if MADE in (left.outcome, right.outcome):
        return [differs(MADE, left.outcome, right.outcome, CONNECTION)]
    if left.outcome != right.outcome:
        found.append(differs("connection", left.outcome, right.outcome, CONNECTION))
    elif left.frames != right.frames:
        found.append(differs("frames", left.frames, right.frames, CONNECTION))
    elif left.version != right.version:
        found.append(differs(VERSION, left.version, right.version, VALUE))
    if left.undecodable != right.undecodable:
        found.append(differs("answer", _readable(left), _readable(right), CONNECTION))
    elif left.answer is not None and right.answer is not None and not _equal(left, right):
        for path, one, other in _values(left.answer, right.answer, ()):
            if left.version != right.version and _only_there(path, one, other):
                continue
            spelled = spell(path)
            order = isinstance(one, list) and isinstance(other, list)
            kind = kind_of_order(there.api, spelled) if order else kind_of(spelled, one, other)
            found.append(differs(spelled, one, other, kind))
    return found


def _only_there(path: FieldPath, left: Any, right: Any) -> bool:
    """Whether it is a field that one of two versions does not have."""
    return isinstance(path[-1], str) and MISSING in (left, right)


def _equal(left: Reading, right: Reading) -> bool:
    """Whether the answers are equal in all fields, which costs less to see than where they differ.

    Of one version all fields have one type; of two, `True == 1` would hide a difference.
    """
    return left.version == right.version and left.answer == right.answer


def _readable(reading: Reading) -> str:
    return reading.undecodable or ("decodes" if reading.answer is not None else "none")


# Fields that name an element of an array; by them one missing element is one difference.
IDENTITIES = (
    "api_key", "partition_index", "partition", "index", "node_id", "broker_id", "topic_id",
    "topic", "name", "key", "resource_name",
)  # fmt: skip
# Fields that name an element only where both sides have one in common: when all of them differ,
# it is they that are wrong, and elements are compared by their place.
SHARED_IDENTITIES = ("base_offset", "offset", "first_offset", "member_id")
Name = Callable[[Any], Any]


def _lists(left: list[Any], right: list[Any], path: FieldPath) -> list[tuple[FieldPath, Any, Any]]:
    """Element by element: by their identity where they have one, else by their place.

    The second element of one name belongs to the other side's second: a topic that is asked about
    twice is answered twice. Paths count as the oracle does; what only the target has comes after.
    Another order of the same elements is a difference of its own, at the array's path. Of records
    in another format that alone is told: all else has other names and other borders there.
    """
    formats = _formats(left), _formats(right)
    if all(formats) and formats[0].isdisjoint(formats[1]):
        return [((*path, 0, "magic"), min(formats[0]), min(formats[1]))]
    name = _identity(left, right)
    if name is None:
        return _each(zip_longest(left, right, fillvalue=MISSING), path)
    ours, theirs = _numbered(left, name), _numbered(right, name)
    orders = [
        [one[0] for one in side if one in other] for side, other in ((ours, theirs), (theirs, ours))
    ]
    pairs = [(element, theirs.pop(one, MISSING)) for one, element in ours.items()]
    pairs += [(MISSING, element) for element in theirs.values()]
    found = _each(pairs, path)
    return found if orders[0] == orders[1] else [(path, orders[0], orders[1]), *found]


def _formats(elements: list[Any]) -> set[int]:
    """The formats of the records or batches among these elements."""
    return {one["magic"] for one in elements if isinstance(one, dict) and "magic" in one}


def _each(pairs: Iterable[tuple[Any, Any]], path: FieldPath) -> list[tuple[FieldPath, Any, Any]]:
    """What differs in pairs of elements, by their place."""
    return [
        each
        for place, (left, right) in enumerate(pairs)
        for each in _values(left, right, (*path, place))
    ]


def _numbered(elements: list[Any], name: Name) -> dict[tuple[Any, int], Any]:
    """Each element by its name and how many of that name stand before it."""
    met: Counter[Any] = Counter()
    found = {}
    for element in elements:
        one = name(element)
        found[one, met[one]] = element
        met[one] += 1
    return found


def _identity(left: list[Any], right: list[Any]) -> Name | None:
    """What tells the elements of two arrays apart; None: their place must do.

    Where nothing does because a name stands twice, it is the name that tells most of them apart.
    """
    # An id that the target makes up, or leaves out, does not hide the name that both sides have.
    alike: Iterable[Name] = map(itemgetter, IDENTITIES)
    tell = [name for name in alike if all(_tells_apart(side, name) for side in (left, right))]
    shared: list[Name] = [*map(itemgetter, SHARED_IDENTITIES), _itself]
    for name in tell or shared:
        if all(_tells_apart(side, name) for side in (left, right)):
            common = {name(one) for one in left} & {name(one) for one in right}
            if common:
                return name
    if tell:
        return tell[0]
    names = [itemgetter(word) for word in IDENTITIES]
    count, index = max((_names(left, right, name), -at) for at, name in enumerate(names))
    return names[-index] if count else None


def _names(left: list[Any], right: list[Any], name: Name) -> int:
    """How many elements this name tells apart; 0 where an element has no such name."""
    try:
        return len({name(element) for element in (*left, *right)})
    except (KeyError, TypeError):
        return 0


def _itself(element: Any) -> Any:
    """A plain value is its own name."""
    if isinstance(element, dict | list):
        raise TypeError("only plain values name themselves")
    return element


def _tells_apart(elements: list[Any], name: Name) -> bool:
    """Whether every element has this name, and each another one."""
    try:
        return len({name(element) for element in elements}) == len(elements)
    except (KeyError, TypeError):  # not a struct, no such field, or a name that is none
        return False


def _values(left: Any, right: Any, path: FieldPath) -> list[tuple[FieldPath, Any, Any]]:
    """Differences of two values, depth first, in the order of the oracle's fields."""
    if isinstance(left, dict) and isinstance(right, dict):
        found = []
        for key in [*left, *(key for key in right if key not in left)]:
            pair = left.get(key, MISSING), right.get(key, MISSING)
            found += _values(*pair, (*path, key))
        return found
    if isinstance(left, list) and isinstance(right, list):
        return _lists(left, right, path)
    same = left == right and isinstance(left, bool) == isinstance(right, bool)
    return [] if same else [(path, left, right)]
