"""Generations and member epochs: a case sends those that it was answered, whatever they are.

A coordinator counts a group's generations and epochs, and where it begins is its own affair: Kafka
3.9 gives the first member of a consumer group epoch 1, Kafka 4.3 epoch 2. Scenarios write the
numbers that Kafka gives, which makes them readable: a later epoch is 9, the one before is 1. A
broker that begins elsewhere would then be asked in epochs that it never gave, and its FENCED says
nothing about it.

So a number above zero that a request about a group sends is held against what Kafka answered in
earlier steps about the group, and goes out moved by as much as the target's answer in that step is
apart from Kafka's. Zero and below have meanings of their own (to join, to leave) and stay, and no
number is moved there. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from touchstone.harness.model.scenario import Ask, Scenario, Send, Until, asked
from touchstone.harness.model.transcript import Transcript

_GIVEN = frozenset({"generation_id", "member_epoch"})
# What a request says -> the fields of answers that give it.
SENT: Mapping[str, frozenset[str]] = {
    "generation_id": _GIVEN,
    "member_epoch": _GIVEN,
    "generation_id_or_member_epoch": _GIVEN,
    "endpoint_information_epoch": frozenset({"endpoint_information_epoch"}),
}
GROUP = "group_id"
Answers = Callable[
    [str], Any
]  # the decoded answer of a step by its label, None where there is none


class Given(NamedTuple):
    """A number that Kafka gave in an earlier step, and where it stands."""

    step: str
    field: str
    number: int


class GroupNumbers:
    """The numbers of one case: Kafka's answers are known beforehand, the target's as they come.
    Without Kafka's nothing is moved.
    """

    def __init__(self, scenario: Scenario, kafkas: Transcript | None, targets: Answers) -> None:
        self._kafkas, self._targets = kafkas, targets
        self._asked = [] if kafkas is None else list(_groups(scenario))

    def sent(self, index: int, body: Any, resolved: Any) -> Any:
        """The body of the step at this place, `resolved`, with its numbers moved; a number that
        the scenario took from an answer is right already.
        """
        return self._moved(index, body, resolved, None) if self._asked else resolved

    def conditions(self, index: int, step: Until) -> Iterator[tuple[str, str, Any]]:
        """The conditions of the wait at this place, for the target's numbers."""
        for path, op, wanted in step.conditions:
            if path in SENT and _counts(wanted):
                wanted = self._number(index, step.ask.body.get(GROUP), path, wanted)
            yield path, op, wanted

    def giver(self, index: int, group: Any, field: str, number: int) -> Given | None:
        """The last step before this one in which Kafka gave the group what this field of a request
        says, else the last in which it gave another number.
        """
        given = list(self._given(index, group, SENT[field]))
        return next((one for one in given if one.number == number), given[0] if given else None)

    def _given(self, index: int, group: Any, fields: frozenset[str]) -> Iterator[Given]:
        """What Kafka gave the group before this step, the last first."""
        for place, label, of in reversed(self._asked):
            answer = self._kafka(label) if place < index and of == group else None
            if answer is not None:
                for field in fields & answer.keys():
                    if _counts(answer[field]):
                        yield Given(label, field, answer[field])

    def _kafka(self, label: str) -> Mapping[str, Any] | None:
        trip = None if self._kafkas is None else self._kafkas.by_label.get(label)
        return None if trip is None else trip.answer

    def _moved(self, index: int, body: Any, resolved: Any, group: Any) -> Any:
        if isinstance(body, Mapping) and isinstance(resolved, Mapping):
            group = body.get(GROUP, group)
            return {
                key: self._number(index, group, key, inner)
                if key in SENT and _counts(body.get(key))
                else self._moved(index, body.get(key), inner, group)
                for key, inner in resolved.items()
            }
        if isinstance(body, Sequence) and isinstance(resolved, list | tuple):
            pairs = zip(body, resolved, strict=True)
            return [self._moved(index, one, other, group) for one, other in pairs]
        return resolved

    def _number(self, index: int, group: Any, field: str, number: int) -> int:
        found = self.giver(index, group, field, number)
        answer = None if found is None else self._targets(found.step)
        if found is None or not isinstance(answer, Mapping) or not _counts(answer.get(found.field)):
            return number
        moved = number + answer[found.field] - found.number
        return moved if moved > 0 else number


def _counts(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number > 0


def _groups(scenario: Scenario) -> Iterator[tuple[int, str, Any]]:
    """The place and label of each request about one group, and the group."""
    for place, (label, step) in enumerate(zip(scenario.labels, scenario.steps, strict=True)):
        request = asked(step)
        if isinstance(request, Ask | Send) and GROUP in request.body:
            yield place, label, request.body[GROUP]
