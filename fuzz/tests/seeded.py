"""Findings that are there because somebody put them there, each with the least that shows it.

A seeded finding is a planted defect (a switch of the reference broker, or a lie in front of it) and
a script made by hand that shows it and nothing else. `bulked` hides that script among requests,
elements, records and names that have nothing to do with it, as a campaign would.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from touchstone.fuzz.campaign import Campaign, Finding
from touchstone.fuzz.corpus_run import create_topics, serves_groups, wait_until
from touchstone.fuzz.generator import TOPICS, Generator, Pair, pairs_of
from touchstone.fuzz.layers import within_body
from touchstone.fuzz.minimise.fields import opened
from touchstone.fuzz.mutators import frame
from touchstone.fuzz.oracles import ORACLES
from touchstone.fuzz.roles import Subject
from touchstone.fuzz.runner import Link
from touchstone.fuzz.script import Reference, Script, Step
from touchstone.fuzz.triage import Trial
from touchstone.fuzz.triage.attempts import complaints, differences, played, signatures
from touchstone.fuzz.world import World
from touchstone.harness.model import advertised
from touchstone.harness.targets.liars import LyingServer, broker
from touchstone.harness.targets.misbehaviour import HangUp, Liar, Lie, Turn
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.apis import API, by_name
from touchstone.reference_impl.wire.headers import encode_request
from touchstone.reference_impl.wire.records.batch import (
    CRC_AT,
    HEADER_SIZE,
    Record,
    encode_batch,
    read_header,
)
from touchstone.reference_impl.wire.schema import Struct, fields_of

INVALID_PRODUCER_ID_MAPPING = 49
Asked = tuple[str, int, Struct]  # API, version, the fields that are not at their defaults
CONFIG = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": "0"}
NOISE = (2, 3, 10, 18, 22, 29, 32, 35, 60)
"""Keys of requests that change nothing which others are about, and that nobody waits for."""


def frame_of(asked: Asked, client: str | None = None) -> bytes:
    name, version, fields = asked
    api = by_name(name)
    return frame(encode_request(api.key, version, 1, client, filled_up(api, version, fields)))


def filled_up(api: Any, version: int, fields: Struct) -> Struct:
    body = {row.name: row.default_value(version) for row in fields_of(api.request.fields, version)}
    return _merged(api.request.fields, version, body, fields)


def _merged(rows: Any, version: int, body: Struct, fields: Struct) -> Struct:
    by = {row.name: row for row in fields_of(rows, version)}
    assert not fields.keys() - by.keys(), fields.keys() - by.keys()
    for name, value in fields.items():
        row = by[name]
        if row.element == "struct" and isinstance(value, list):
            value = [
                _merged(
                    row.fields,
                    version,
                    {c.name: c.default_value(version) for c in fields_of(row.fields, version)},
                    one,
                )
                for one in value
            ]
        body[name] = value
    return body


def batch(*, crc_is_wrong: bool = False, last_offset_delta: int = 0, **fields: Any) -> bytes:
    """A batch of one record without key and value, of which a header may be a lie."""
    made = encode_batch([Record(0, 0, None, None)], base_timestamp=0, **fields)
    header = read_header(made)._replace(last_offset_delta=last_offset_delta)
    fresh = bytearray(header.encode(made[HEADER_SIZE:]))
    fresh[CRC_AT] ^= crc_is_wrong
    return bytes(fresh)


def produce(records: bytes, acks: int = -1, topic: str = "fuzz-a") -> Asked:
    rows = [{"name": topic, "partition_data": [{"index": 0, "records": records}]}]
    return ("Produce", 9, {"acks": acks, "topic_data": rows})


def create(name: str, configs: Mapping[str, str] | None = None, **fields: Any) -> Asked:
    pairs = [{"name": key, "value": value} for key, value in (configs or {}).items()]
    row = {"name": name, "num_partitions": 1, "replication_factor": 1, "configs": pairs}
    return ("CreateTopics", 4, {"topics": [row], "timeout_ms": 5000} | fields)


JOIN = {
    "group_id": "g", "session_timeout_ms": 6000, "rebalance_timeout_ms": 100,
    "protocol_type": "c", "protocols": [{"name": "r"}],
}  # fmt: skip


@dataclass(frozen=True)
class Seeded:
    """A defect (switches, or a lie) and the least that shows it; `references` by step."""

    name: str
    asked: tuple[Asked, ...]
    switches: tuple[str, ...] = ()
    lie: Liar | None = None
    references: Mapping[int, tuple[Reference, ...]] = field(default_factory=dict)
    config: Mapping[str, str] = field(default_factory=dict)
    release: str = "4.3"
    wire: bytes | None = None  # of a step that is no request of any schema
    lanes: tuple[int, ...] = ()

    @property
    def by_hand(self) -> Script:
        wires = [frame_of(one) for one in self.asked] + ([self.wire] if self.wire else [])
        return Script(
            tuple(
                Step(wire, self.lanes[n] if self.lanes else 0, self.references.get(n, ()))
                for n, wire in enumerate(wires)
            )
        )


def switch(name: str, *asked: Asked, **more: Any) -> Seeded:
    return Seeded(name, asked, (name,), **more)


MEMBER = Reference("member_id", 0, "member_id")
SWITCHED = (
    switch("crc-not-checked", produce(batch(crc_is_wrong=True))),
    switch("record-count-not-checked", produce(batch(last_offset_delta=1))),
    switch("topic-created-without-validation", create("..")),
    switch("configs-not-validated", create("t", {"x": "y"})),
    switch(
        "validate-only-creates",
        create("t", validate_only=True),
        ("Metadata", 4, {"topics": [{"name": "t"}], "allow_auto_topic_creation": False}),
    ),
    switch(
        "sequence-gap-accepted",
        produce(batch(producer_id=7, producer_epoch=0, base_sequence=0)),
        produce(batch(producer_id=7, producer_epoch=0, base_sequence=5)),
    ),
    switch(
        "producer-epoch-not-checked",
        produce(batch(producer_id=7, producer_epoch=1, base_sequence=0)),
        produce(batch(producer_id=7, producer_epoch=0, base_sequence=1)),
    ),
    switch(
        "leader-epoch-not-checked",
        ("ListOffsets", 4, {"topics": [{"name": "fuzz-a", "partitions": [
            {"partition_index": 0, "current_leader_epoch": 9, "timestamp": -1}]}]}),
    ),
    switch("acks-zero-answered", produce(batch(), acks=0)),
    switch(
        "unknown-version-answered", wire=frame(bytes.fromhex("0003 0063 00000001 ffff 00 00000000"))
    ),
    switch(
        "transaction-timeout-not-validated",
        ("InitProducerId", 0, {"transactional_id": "t", "transaction_timeout_ms": 0}),
    ),
    switch(
        "commit-metadata-unlimited",
        ("OffsetCommit", 2, {"group_id": "g", "generation_id_or_member_epoch": -1, "topics": [
            {"name": "fuzz-a", "partitions": [{"committed_metadata": "m" * 4097}]}]}),
    ),
    switch(
        "strangers-commit",
        ("JoinGroup", 2, JOIN),
        ("SyncGroup", 0, {"group_id": "g", "generation_id": 1}),
        ("OffsetCommit", 2, {"group_id": "g", "generation_id_or_member_epoch": 1, "topics": [
            {"name": "fuzz-a", "partitions": [{}]}]}),
        references={1: (MEMBER,)},
    ),
    switch(
        "stale-generation-committed",
        ("JoinGroup", 2, JOIN),
        ("SyncGroup", 0, {"group_id": "g", "generation_id": 1}),
        ("OffsetCommit", 2, {"group_id": "g", "generation_id_or_member_epoch": 9, "topics": [
            {"name": "fuzz-a", "partitions": [{}]}]}),
        references={1: (MEMBER,), 2: (MEMBER,)},
    ),
    switch(
        "no-authorizer-no-acls",
        ("DescribeAcls", 1, {"resource_type_filter": 1, "pattern_type_filter": 1, "operation": 1,
            "permission_type": 1}),
    ),
    switch("any-handshake-welcome", ("SaslHandshake", 1, {"mechanism": ""})),
    switch(
        "auto-creation-not-asked-for",
        *2 * (("Metadata", 4, {"topics": [{"name": "t"}], "allow_auto_topic_creation": False}),),
        config={"auto.create.topics.enable": "true"},
    ),
    switch(
        "keyless-on-compacted-accepted",
        create("t", {"cleanup.policy": "compact"}),
        produce(batch(), topic="t"),
    ),
    switch(
        "max-message-bytes-ignored",
        create("t", {"max.message.bytes": "1"}),
        produce(batch(), topic="t"),
    ),
    switch(
        "member-epoch-not-fenced",
        ("ConsumerGroupHeartbeat", 1, {"group_id": "g", "member_id": "m", "rebalance_timeout_ms": 9,
            "subscribed_topic_names": [], "topic_partitions": []}),
        ("ConsumerGroupHeartbeat", 1, {"group_id": "g", "member_id": "m", "member_epoch": 9}),
    ),
    switch(
        "fenced-instance-accepted",
        ("JoinGroup", 5, JOIN | {"group_instance_id": "i"}),
        ("JoinGroup", 5, JOIN | {"group_instance_id": "i"}),
        ("Heartbeat", 3, {"group_id": "g", "group_instance_id": "i"}),
        references={2: (MEMBER,)},
    ),
    switch(
        "fencing-skipped",
        ("InitProducerId", 0, {"transactional_id": "t", "transaction_timeout_ms": 9}),
        ("InitProducerId", 0, {"transactional_id": "t", "transaction_timeout_ms": 9}),
        ("EndTxn", 0, {"transactional_id": "t"}),
        references={2: (Reference("producer_id", 0, "producer_id"),)},
    ),
    switch("version-0-refused", ("OffsetCommit", 0, {"group_id": "g", "topics": [
        {"name": "fuzz-a", "partitions": [{}]}]}), release="2.8"),
)  # fmt: skip


def _when(api: str, says: Any) -> Any:
    """A lie about one API where `says` holds of the request's body."""

    def decorated(lie: Lie) -> Lie:
        def told(turn: Turn) -> list[bytes] | None:
            try:
                applies = turn.api == api and turn.honest is not None and says(turn.request)
            except (KeyError, TypeError, IndexError):
                return None
            return lie(turn) if applies else None

        return told

    return decorated


def _topics(body: Struct) -> set[str]:
    return {row["name"] for row in body["topics"] or ()}


@_when("Metadata", lambda body: "fuzz-b" in _topics(body))
def _other_id(turn: Turn) -> list[bytes]:
    assert turn.honest is not None
    return [(turn.correlation_id + 7).to_bytes(4, "big") + turn.honest[4:]]


@_when("ListOffsets", lambda body: body["isolation_level"] == 1)
def _trailing(turn: Turn) -> list[bytes]:
    assert turn.honest is not None
    return [turn.honest + b"\0\0\0"]


@_when("FindCoordinator", lambda body: body["key_type"] == 1)
def _hangs_up(turn: Turn) -> list[bytes]:
    raise HangUp


@_when("DescribeConfigs", lambda body: len(body["resources"]) > 1)
def _unknown_error(turn: Turn) -> list[bytes]:
    body = turn.answer
    body["results"][1]["error_code"] = -1
    return [turn.encoded(body)]


@_when("OffsetFetch", lambda body: body["group_id"] == "fuzz-group-7")
def _garbage(turn: Turn) -> list[bytes]:
    return [b"\xff\xff\xff\xf0HTTP"]


@_when("Heartbeat", lambda body: body["generation_id"] < 0)
def _endless(turn: Turn) -> list[bytes]:
    return [(16 << 20).to_bytes(4, "big") + turn.frame[4:8]]  # all that follows is swallowed


def _lie(name: str, lie: Lie, *asked: Asked, raw: bool = False) -> Seeded:
    return Seeded(name, asked, lie=Liar(name, "", "", lie, raw))


LIES = (
    _lie("wrong-id-for-a-topic", _other_id, ("Metadata", 5, {"topics": [{"name": "fuzz-b"}]})),
    _lie("bytes-behind-an-answer", _trailing, ("ListOffsets", 2, {"isolation_level": 1})),
    _lie("hangs-up-on-transactions", _hangs_up, ("FindCoordinator", 1, {"key_type": 1})),
    _lie(
        "two-resources-are-too-much",
        _unknown_error,
        ("DescribeConfigs", 1, {"resources": [{}, {}]}),
    ),
    _lie(
        "garbage-for-a-group", _garbage, ("OffsetFetch", 5, {"group_id": "fuzz-group-7"}), raw=True
    ),
    _lie("silent-to-who-is-no-member", _endless, ("Heartbeat", 2, {"generation_id": -1}), raw=True),
)
ALL = (*SWITCHED, *LIES)

JUDGED = Campaign("seeded", "", "generated", {}, (0, 0), dict(ORACLES), 1)


# --- a defect beside its absence ------------------------------------------------------------------


class Bench:
    """The target with the defect and the one without; both begin anew at every `restore`."""

    def __init__(self, seeded: Seeded) -> None:
        self.seeded = seeded
        self._open = ExitStack()
        self.restore()

    def close(self) -> None:
        self._open.close()

    def restore(self) -> None:
        self._open.close()
        release, config = self.seeded.release, CONFIG | dict(self.seeded.config)
        right = self._open.enter_context(serve(release=release, config=config))
        self.right = self._link(right.bootstrap[0])
        if self.seeded.lie is None:
            wrong = serve(release=release, config=config, switches=self.seeded.switches)
            self.wrong = self._link(self._open.enter_context(wrong).bootstrap[0])
        else:
            server = LyingServer(self.seeded.lie, broker(self.right.address))
            server = self._open.enter_context(server)
            self.wrong = self._open.enter_context(Link(*server.address, timeout_s=0.1))
        for link in (self.right,) if self.seeded.lie else (self.right, self.wrong):
            create_topics(link, dict.fromkeys(TOPICS, False))
            wait_until(partial(serves_groups, link), "no groups", link)
            wait_until(partial(_serves_transactions, link), "no transactions", link)

    def _link(self, word: str) -> Link:
        host, _, port = word.rpartition(":")
        return self._open.enter_context(Link(host, int(port), timeout_s=0.3))

    def complains(self, script: Script) -> list[Finding]:
        steps = played(script, self.wrong)
        if self.seeded.lie is not None:
            return complaints(JUDGED, script, steps)
        return differences(script, steps, signatures(played(script, self.right)))

    @property
    def trial(self) -> Trial:
        return Trial(self.complains, self.complains, self.restore)


def _serves_transactions(link: Link) -> bool:
    link.ask(10, 1, {"key": "t", "key_type": 1})
    body = {"transactional_id": "t", "producer_id": 1, "producer_epoch": 0, "committed": False}
    answer = link.ask(26, 0, body)
    return answer is not None and answer["error_code"] == INVALID_PRODUCER_ID_MAPPING


@contextmanager
def bench(seeded: Seeded) -> Iterator[Bench]:
    made = Bench(seeded)
    try:
        yield made
    finally:
        made.close()


# --- the needle in the hay ------------------------------------------------------------------------


def bulked(seeded: Seeded, draw: random.Random) -> Script:
    """The script by hand among up to six other requests, with more in each of its own."""
    steps = [_fatter(step, draw) for step in seeded.by_hand.steps]
    places = sorted(draw.randint(0, len(steps)) for _ in range(draw.randint(2, 6)))
    made: list[Step] = []
    moved: dict[int, int] = {}
    for number in range(len(steps) + 1):
        for _ in range(places.count(number)):
            made.append(_noise(seeded.release, draw))
        if number < len(steps):
            moved[number] = len(made)
            made.append(steps[number])
    return Script(
        tuple(
            replace(step, references=tuple(replace(r, step=moved[r.step]) for r in step.references))
            for step in made
        )
    )


def _noise(release: str, draw: random.Random) -> Step:
    """A request that the target serves, and that no oracle complains about."""
    pairs = [pair for pair in pairs_of(advertised.table(release)) if pair.key in NOISE]
    _, wire = Generator(pairs, draw).frame(draw.randrange(1000))
    return Step(wire)


def _fatter(step: Step, draw: random.Random) -> Step:
    request = opened(step.wire)
    if request is None:
        return replace(step, wire=frame(step.wire[4:] + draw.randbytes(30)))

    def fatten(key: int, version: int, body: Struct) -> None:
        subject = Subject(draw, key, version, World())
        generator = Generator([Pair(key, version)], draw)
        _fatten(generator, API[key].request.fields, subject, body, "")

    wire = within_body(step.wire, fatten)
    body = opened(wire)
    assert body is not None
    header = body.header
    named = encode_request(header.key, header.version, 77, "touchstone-fuzz", body.body)
    return replace(step, wire=frame(named))


def _fatten(generator: Generator, rows: Any, subject: Subject, body: Struct, path: str) -> None:
    """Up to three more elements behind those of each array of structs; longer records."""
    for row in fields_of(rows, subject.version):
        value, here = body.get(row.name), f"{path}.{row.name}" if path else row.name
        if row.is_array and row.element == "struct" and value is not None:
            for element in value:
                _fatten(generator, row.fields, subject, element, here)
            more = [
                generator._struct(row.fields, subject, here)
                for _ in range(generator.draw.randint(0, 3))
            ]
            body[row.name] = [*value, *copy.deepcopy(more)]
