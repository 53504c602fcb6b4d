"""The same questions to real Kafka and to the reference broker, under the same ACLs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from touchstone.harness.model.target import Shape
from touchstone.harness.targets import parse
from touchstone.harness.tests.acls.answers import seen
from touchstone.harness.tests.acls.peers import Broker
from touchstone.harness.tests.acls.requests import (
    DOOMED,
    REQUESTS,
    TOPICS,
    Body,
)
from touchstone.harness.tests.groups.lockstep import apart
from touchstone.reference_impl.broker.personas import persona
from touchstone.reference_impl.wire.apis import API

PATIENCE_S = 300.0
DELETE_TOPICS = 20


class Question(NamedTuple):
    key: int
    version: int
    number: int  # of the API's bodies in this version

    def __str__(self) -> str:
        return f"{API[self.key].name} v{self.version} ({self.number})"


def settings(release: str) -> dict[str, Any]:
    return {"authorizer.class.name": persona(release).quirk("acls.authorizer"),
            "allow.everyone.if.no.acl.found": "true",
            "log.retention.ms": -1,  # the records that are sent are of 1970
            "group.initial.rebalance.delay.ms": 0}  # fmt: skip


@contextmanager
def brokers(release: str, *first: str, ours_alone: bool = False) -> Iterator[list[Broker]]:
    """Kafka and ours, each with the topics and groups that are asked about; TOUCHSTONE_ACL_ORACLES
    names brokers that run already, as in 2.8=127.0.0.1:39282. `first` are words of other targets.
    """
    given = dict(row.split("=") for row in os.environ.get("TOUCHSTONE_ACL_ORACLES", "").split())
    words = () if ours_alone else first or (f"kafka@{release}",)
    targets = [parse(word) for word in (*words, f"reference@{release}")]
    missing = None if release in given else targets[0].available()
    if missing:
        pytest.skip(f"not run: {missing}")
    made: list[Broker] = []
    try:
        for number, target in enumerate(targets):
            at = given.get(release) if targets[0].kind == "process" and number == 0 else None
            made.append(Broker(at or _started(target, release), release))
            made[-1].grant([])
            _prepare(made[-1], release)
        yield made
    finally:
        for each in made:
            each.close()
        for target in targets:
            target.stop()


def _started(target: Any, release: str) -> str:
    host, port = target.start(Shape(1, config=settings(release))).bootstrap[0]
    return f"{host}:{port}"


def questions(release: str) -> Iterator[Question]:
    """Of each API in each version of the release."""
    for key, (low, high) in persona(release).broker_listener.items():
        if key not in REQUESTS:
            continue
        for version in range(low, high + 1):
            if persona(release).serves(key, version):
                for number, _ in enumerate(REQUESTS[key](version, no_id)):
                    yield Question(key, version, number)


def body(question: Question, broker: Broker) -> Body:
    made = REQUESTS[question.key](question.version, lambda name: broker.ids.get(name, no_id(name)))
    return _known(list(made)[question.number], API[question.key].request.fields)


def _known(given: Any, fields: Any) -> Any:
    """What the API has a field for: bodies are shared by APIs that are much alike."""
    if isinstance(given, list):
        return [_known(each, fields) for each in given]
    if not isinstance(given, dict):
        return given
    known = {each.name: each.fields for each in fields}
    return {key: _known(value, known[key]) for key, value in given.items() if key in known}


def differences(question: Question, brokers: list[Broker]) -> list[str]:
    """Where the two answers are apart; none where they say the same."""
    return apart(*(answer(question, each) for each in brokers))


def answer(question: Question, broker: Broker) -> Any:
    """What is compared of the broker's answer, as JSON has it."""
    if question.key == DELETE_TOPICS:
        for name in DOOMED:
            _create(broker, name)
    got = broker.ask(API[question.key].name, question.version, body(question, broker))
    if question.key == DELETE_TOPICS:
        for name in DOOMED:
            _settle(broker, name)
    return seen(got)


def no_id(name: str) -> bytes:
    """One that no topic has, for each name another."""
    return b"no such id here "[: 16 - len(name) % 16] + name.encode()[: len(name) % 16]


def _prepare(broker: Broker, release: str) -> None:
    for name in TOPICS:
        _create(broker, name)
    _until(broker, "InitProducerId", 0, {"transactional_id": None, "transaction_timeout_ms": 1000})
    for group in TOPICS:
        _until(broker, "FindCoordinator", 1, {"key": group, "key_type": 0})
        _until(broker, "FindCoordinator", 1, {"key": group, "key_type": 1})
        row = {"partition_index": 0, "committed_offset": 7, "committed_metadata": ""}
        _until(broker, "OffsetCommit", 3, {
            "group_id": group, "generation_id_or_member_epoch": -1, "member_id": "",
            "topics": [{"name": each, "partitions": [row]} for each in TOPICS],
        })  # fmt: skip


def _create(broker: Broker, name: str) -> None:
    """The topic, once this broker shows the one that was made."""
    row = {"name": name, "num_partitions": 1, "replication_factor": 1, "assignments": [],
           "configs": []}  # fmt: skip
    made = {"topics": [row], "timeout_ms": 15_000, "validate_only": False}
    version = min(_range(broker, 19)[-1], 7)
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:  # one that is being deleted is there, and then not
        row = broker.admin.ask("CreateTopics", version, made)["topics"][0]
        if not row["error_code"]:
            broker.made[name] = bytes(row.get("topic_id", b""))
        found = _shown(broker, name)
        led = found["partitions"] and not found["partitions"][0]["error_code"]
        if led and not found["error_code"]:
            broker.ids[name] = bytes(found.get("topic_id", b"")) or no_id(name)
            if broker.made.get(name, b"") in (b"", broker.ids[name]):
                return
    raise TimeoutError(f"{name} has no leader")


def _settle(broker: Broker, name: str) -> None:
    """Wait while the topic is being deleted: until then a broker of ZooKeeper's time shows it to
    whoever asks for all topics, without partitions.
    """
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        found = _shown(broker, name)
        if found["error_code"] or found["partitions"]:
            return
    raise TimeoutError(f"{name} is neither there nor gone")


def _shown(broker: Broker, name: str) -> Any:
    """What Metadata says of one topic."""
    topics = [{"name": name, "topic_id": bytes(16)}]
    asked = {"topics": topics, "allow_auto_topic_creation": False}
    newest = min(_range(broker, 3)[-1], 10)
    return broker.admin.ask("Metadata", newest, asked)["topics"][0]


def _range(broker: Broker, key: int) -> range:
    low, high = broker.served[key]
    return range(low, high + 1)


def _until(broker: Broker, api: str, version: int, asked: Body) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        answer = repr(broker.admin.ask(api, version, asked))
        if not any(f"error_code': {code}" in answer for code in (14, 15, 16, 3)):
            return
    raise TimeoutError(answer)
