"""Topics of set-up steps on a target that does not serve CreateTopics.

Where CreateTopics only prepares a case, such a target may still make the topic: by Metadata with
allow_auto_topic_creation (KIP-204). What it gives is asked for once per run, with a topic of the
run's own: how many partitions, each with how many replicas. A case fits if it can do with that.
More partitions than it wants do no harm as long as it neither asks about one of them nor has a
group coordinator hand them out; Metadata answers are read without them (`translation`).

A case that is about CreateTopics, wants settings or names replicas is not helped by any of this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from touchstone.harness.driver.brokers import auto_created
from touchstone.harness.driver.words import walk
from touchstone.harness.model.claim import CaseId
from touchstone.harness.model.expect import Expectation, steps_named
from touchstone.harness.model.placeholders import Frame, Ref, TopicId
from touchstone.harness.model.scenario import Ask, Raw, Scenario, Send, asked
from touchstone.harness.model.target import Address
from touchstone.harness.model.transcript import Event, Header, Transcript

API = "CreateTopics"
BROKERS_DEFAULT = -1  # a count that the scenario leaves to the broker
# Coordinators that hand out every partition of a topic.
ASSIGNING = frozenset({"ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat"})
_TOPICS = ("name", "topic", "topic_name", "topic_id")
_PARTITIONS = ("partition", "partition_index", "partition_indexes", "index", "partitions")


@dataclass(frozen=True, slots=True)
class CreationDefaults:
    """What auto-creation gives a topic on one target."""

    partitions: int
    replicas: int


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One topic of a CreateTopics step."""

    topic: Any  # a name or its placeholder
    partitions: int
    replicas: int
    placed: frozenset[int]  # the brokers that are named for it, if any are
    settings: bool


def given(address: Address, name: str, deadline_s: float) -> CreationDefaults:
    """What a topic of this name gets. Raises Unresolved where Metadata makes none."""
    return CreationDefaults(*auto_created(address, name, deadline_s))


def as_transcript(target: str, name: str) -> Transcript:
    """What was made to find that out, as the transcript of a case tells it."""
    header = Header(target=target, kind="live", labels=(name,), names={name: name})
    return Transcript(header, (Event(0, "", "made", 0, note=name),))


def make(address: Address, body: Mapping[str, Any], deadline_s: float) -> dict[str, int]:
    """Have the topics of a CreateTopics body made; each with the count of partitions it wants.
    Raises Unresolved.
    """
    counts = {}
    for one in _wanted(body):
        found, _ = auto_created(address, one.topic, deadline_s)
        counts[one.topic] = found if one.partitions == BROKERS_DEFAULT else one.partitions
    return counts


def is_subject(case: CaseId, scenario: Scenario, expectation: Expectation) -> bool:
    """Whether a CreateTopics step is more than set-up (see `grades` for what set-up is)."""
    named = steps_named(expectation)
    if case.claim.api == API or case.claim.api is None and not named:
        return True
    return any(
        label in named or not isinstance(step, Ask) or bool(step.body.get("validate_only"))
        for label, step in zip(scenario.labels, scenario.steps, strict=True)
        for question in [asked(step)]
        if isinstance(question, Ask | Send) and question.api == API
    )


def unfit(scenario: Scenario, gives: CreationDefaults | None) -> str | None:
    """Why auto-creation cannot stand for the scenario's CreateTopics steps; None when it can."""
    if gives is None:
        return "Metadata creates no topic here either"
    steps = {
        label: step
        for label, step in zip(scenario.labels, scenario.steps, strict=True)
        if isinstance(step, Ask) and step.api == API
    }
    if any(isinstance(one, Ref) and one.step in steps for one in walk(scenario.steps)):
        return "a later step asks with what it answers"
    found = (_unfit(one, scenario, gives) for step in steps.values() for one in _wanted(step.body))
    return next(filter(None, found), None)


def _wanted(body: Mapping[str, Any]) -> Iterator[_Wanted]:
    for entry in body["topics"]:
        rows = entry.get("assignments") or ()
        yield _Wanted(
            entry["name"],
            len(rows) if rows else entry["num_partitions"],
            len(rows[0]["broker_ids"]) if rows else entry["replication_factor"],
            placed=frozenset(broker for row in rows for broker in row["broker_ids"]),
            settings=bool(entry.get("configs")),
        )


def _unfit(one: _Wanted, scenario: Scenario, gives: CreationDefaults) -> str | None:
    """Why a topic of auto-creation does not do for this one."""
    if one.settings:
        return "auto-creation gives a topic no settings of its own"
    if one.placed and (scenario.brokers > 1 or one.placed != {0}):
        return "auto-creation places replicas as it likes"
    if one.replicas not in (BROKERS_DEFAULT, gives.replicas):
        return f"auto-creation gives {gives.replicas} replicas, not {one.replicas}"
    if one.partitions in (BROKERS_DEFAULT, gives.partitions):
        return None
    if one.partitions > gives.partitions:
        return f"auto-creation gives {gives.partitions} partitions, not {one.partitions}"
    questions = list(_questions(scenario.steps))
    if any(api in ASSIGNING for api, _ in questions):
        return f"a group would be given {gives.partitions} partitions, not {one.partitions}"
    surplus = range(one.partitions, gives.partitions)
    if any(number in surplus for _, body in questions for number in _numbers(body, one.topic)):
        return f"it asks about partitions that auto-creation makes beyond {one.partitions}"
    return None


def _questions(steps: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """The API and body of every request but CreateTopics."""
    for step in map(asked, steps):
        question = step.data if isinstance(step, Raw) else step
        if isinstance(question, Ask | Send | Frame) and question.api != API:
            yield question.api, question.body


def _numbers(value: Any, topic: Any) -> Iterator[int]:
    """Every partition of the topic that a body names."""
    if isinstance(value, Mapping):
        names = [value.get(word) for word in _TOPICS]
        if topic in names or TopicId(topic) in names:
            yield from _partitions(value)
        else:
            for inner in value.values():
                yield from _numbers(inner, topic)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _numbers(inner, topic)


def _partitions(value: Any, *, named: bool = False) -> Iterator[int]:
    if isinstance(value, Mapping):
        for word, inner in value.items():
            yield from _partitions(inner, named=word in _PARTITIONS)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _partitions(inner, named=named)
    elif named and isinstance(value, int):
        yield value
