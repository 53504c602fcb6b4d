"""How a value of a role is drawn: a function of a few lines for each.

Which field has which role is `overlay`'s. A request speaks of one group, one producer, one topic at
a time, and its fields must agree about them (a generation belongs to a member, an epoch to a
producer), so the functions share a `Subject`: who draws the group's name also fixes whose member id
comes next.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from touchstone.fuzz.telemetry import metrics_payload
from touchstone.fuzz.world import ABSENT, CONSUMED, Member, Producer, Topic, World
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.embedded.consumer_protocol import (
    encode_assignment,
    encode_subscription,
)
from touchstone.reference_impl.wire.records import build
from touchstone.reference_impl.wire.records.batch import Record, encode_batch
from touchstone.reference_impl.wire.records.control import ABORT, COMMIT, marker_batch

FIRST_WITH_TOPIC_IDS = 13
"""The version of Fetch; sessions that were begun with names go on with names (KIP-516)."""
FIRST_WITH_ZSTD = 7
"""The version of Produce (KIP-110); the last of `record_sets` is compressed with it."""
BATCH_TIME = 1_700_000_000_000
NO_ID = bytes(16)
OFTEN_ABSENT = 0.01
JOINING, BEATING, LEAVING = 0, None, -1
"""What a heartbeat of a member does, as the epoch it carries; None: the member's own."""


@dataclass
class Subject:
    """What one request or response is about: the entities drawn last, and the world to draw from.

    `key` and `version` are the API's; `stage` is what a heartbeat does.
    """

    draw: random.Random
    key: int
    version: int
    world: World
    topic: Topic | None = None
    member: Member = field(default_factory=lambda: Member(""))
    producer: Producer | None = None
    session: tuple[int, int] = (0, -1)
    stage: int | None = BEATING


Role = Callable[[Subject], Any]


def one_of(values: list[Any]) -> Role:
    return lambda subject: subject.draw.choice(values)


# --- topics ---------------------------------------------------------------------------------------


def topic(subject: Subject, kind: str) -> str:
    subject.topic = subject.draw.choice(subject.world.topics[kind_for(subject, kind)])
    if kind in ("kept", "produced") and subject.draw.random() < OFTEN_ABSENT:
        subject.topic = Topic(ABSENT)
    return subject.topic.name


def topic_id(subject: Subject, kind: str) -> bytes:
    subject.topic = subject.draw.choice(subject.world.topics[kind_for(subject, kind)])
    return subject.topic.id


def kind_for(subject: Subject, kind: str) -> str:
    """Who produces in a transaction does so where that began."""
    return "transacted" if kind == "produced" and subject.producer is not None else kind


def topic_id_or_none(subject: Subject) -> bytes:
    """The id of a topic, or none: then it is named. Metadata takes ids from version 12 on."""
    subject.topic = None
    if subject.version >= 12 and subject.draw.random() < 0.5:
        return topic_id(subject, "kept")
    return NO_ID


def name_unless_id(subject: Subject) -> str | None:
    if subject.key == API.named("Metadata").key and subject.version >= 12 and subject.topic:
        return None
    return topic(subject, "kept")


def no_id(subject: Subject) -> bytes:
    return NO_ID


def partition(subject: Subject) -> int:
    return 1 if subject.draw.random() < OFTEN_ABSENT else 0


def this_broker(subject: Subject) -> int:
    return subject.world.broker


def log_dir(subject: Subject) -> str:
    return subject.world.log_dir


def metadata_version(subject: Subject) -> int:
    return subject.world.metadata_version


def port(subject: Subject) -> int:
    return subject.world.port


def api_key(subject: Subject) -> int:
    return subject.draw.choice(list(API))


def salt(subject: Subject) -> bytes:
    return b"0123456789abcdef"


# --- groups ---------------------------------------------------------------------------------------


def group(subject: Subject, kind: str) -> str:
    if kind == "joining" and subject.version >= 5 and subject.draw.random() < 0.5:
        number = subject.draw.randrange(16)  # a static member needs no id to join
        subject.member = Member(f"fuzz-static-{number}", "", -1, f"fuzz-instance-{number}")
        return subject.member.group
    if kind == "committing":
        kind = subject.draw.choice(("simple", "simple", "classic"))
    subject.member = subject.draw.choice(subject.world.members[kind])
    subject.stage = subject.draw.choice((JOINING, JOINING, JOINING, BEATING, BEATING, LEAVING))
    return subject.member.group


def member(subject: Subject) -> str:
    return subject.member.id


def no_member(subject: Subject) -> None:
    return None


def instance(subject: Subject) -> str | None:
    return subject.member.instance


def epoch(subject: Subject) -> int:
    """A generation id; of a heartbeat that carries a member epoch, what it does."""
    heartbeats = ("ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat")
    if API[subject.key].name in heartbeats and subject.stage is not None:
        return subject.stage
    return subject.member.epoch


def rebalance_timeout(subject: Subject) -> int:
    """ms. A member that joined a classic group has so long to sync, which no case may do."""
    return 600_000 if API[subject.key].name == "JoinGroup" else 5000


def subscription(subject: Subject) -> list[str] | None:
    """Always the same topics, since others would move the group to another epoch."""
    return [CONSUMED] if subject.stage == JOINING else None


def nothing_owned(subject: Subject) -> list[Any] | None:
    return [] if subject.stage == JOINING else None


def topology(subject: Subject) -> dict[str, Any] | None:
    if subject.stage != JOINING:
        return None
    one = {
        "subtopology_id": "0", "source_topics": [CONSUMED], "source_topic_regex": [],
        "state_changelog_topics": [], "repartition_sink_topics": [],
        "repartition_source_topics": [], "copartition_groups": [],
    }  # fmt: skip
    return {"epoch": 0, "subtopologies": [one]}


def subscription_bytes(subject: Subject) -> bytes:
    names = [subject.draw.choice(subject.world.topics["kept"]).name]
    owned = [{"topic": names[0], "partitions": [0]}]
    body = {"topics": names, "user_data": None, "owned_partitions": owned}
    return encode_subscription(subject.draw.randint(0, 3), body)


def assignment_bytes(subject: Subject) -> bytes:
    name = subject.draw.choice(subject.world.topics["kept"]).name
    chosen = [{"topic": name, "partitions": [0]}]
    body = {"assigned_partitions": chosen, "user_data": None}
    return encode_assignment(subject.draw.randint(0, 3), body)


def share_session_epoch(subject: Subject) -> int:
    if API[subject.key].name == "ShareFetch":
        subject.stage = subject.draw.choice((0, 0, 0, 0, 0, 0, 0, 0, 1, -1))
        return subject.stage
    return subject.draw.choice((1, 1, 1, -1))


def acknowledgements(subject: Subject) -> list[dict[str, Any]]:
    """None by the fetch that opens a session, and none else: nobody was given these records."""
    return []


# --- producers ------------------------------------------------------------------------------------


def transaction(subject: Subject, kind: str) -> str:
    subject.producer = subject.draw.choice(subject.world.producers[kind])
    return subject.producer.transactional_id


def transaction_at_times(subject: Subject, kind: str) -> str | None:
    return transaction(subject, kind) if subject.draw.random() < 0.2 else None


def producer_id(subject: Subject) -> int:
    return 7 if subject.producer is None else subject.producer.id


def producer_epoch(subject: Subject) -> int:
    return 0 if subject.producer is None else subject.producer.epoch


@cache
def record_sets(magic: int) -> tuple[bytes, ...]:
    """Well-formed records of this format: sizes, keys, tombstones, headers, codecs."""
    plain = [(b"k", b"v"), (None, b"value without key"), (b"tombstone", None)]
    codecs = (0, 1, 2, 3) if magic else (0,)
    made = [build(magic, plain, codec, timestamp=BATCH_TIME) for codec in codecs]
    made.append(build(magic, [b"x" * 200], timestamp=BATCH_TIME))
    if magic == 2:
        headed = [{"key": b"k", "value": b"v", "headers": [("h", b"1"), ("empty", None)]}]
        made.append(build(2, headed, timestamp=BATCH_TIME))
        made.append(
            build(2, plain, timestamp=BATCH_TIME, producer_id=7, producer_epoch=0, base_sequence=0)
        )
        made.append(build(2, plain, 4, timestamp=BATCH_TIME))
    return tuple(made)


def magic_of(version: int) -> int:
    """The format that Produce carries in this version."""
    return min(version, 3) - 1 if version > 1 else 0


def records(subject: Subject) -> bytes:
    """What a producer of this version sends, by the transaction the request names."""
    if subject.producer is not None:
        one = Record(0, 0, b"k", b"in a transaction")
        return encode_batch(
            [one], base_timestamp=BATCH_TIME, producer_id=subject.producer.id,
            producer_epoch=subject.producer.epoch, base_sequence=0, transactional=True,
        )  # fmt: skip
    sets = record_sets(magic_of(subject.version))
    return subject.draw.choice(sets[:-1] if subject.version < FIRST_WITH_ZSTD else sets)


def fetched_records(subject: Subject) -> bytes:
    """What a broker answers: batches one after another, with the marker that ends a transaction."""
    if subject.version < 4:
        return subject.draw.choice(record_sets(1 if subject.version > 1 else 0))
    if subject.draw.random() < 0.1:
        kind = subject.draw.choice((ABORT, COMMIT))
        return marker_batch(
            kind, producer_id=7, producer_epoch=0, coordinator_epoch=0, timestamp=BATCH_TIME
        )
    return subject.draw.choice(record_sets(2))


# --- sessions -------------------------------------------------------------------------------------


def fetch_session(subject: Subject) -> int:
    """No session, a new one, or one that the target has given."""
    known = subject.world.sessions if subject.version < FIRST_WITH_TOPIC_IDS else ()
    use = known and subject.draw.random() < 0.1
    subject.session = subject.draw.choice(known if use else ((0, -1), (0, -1), (0, 0)))
    return subject.session[0]


def fetch_session_epoch(subject: Subject) -> int:
    return subject.session[1]


def telemetry(subject: Subject) -> bytes:
    return metrics_payload(subject.draw.choice((1.0, -1.0, 0.0)))


def telemetry_client(subject: Subject) -> bytes:
    return subject.draw.choice((NO_ID, bytes(range(16))))


def telemetry_subscription(subject: Subject) -> int:
    return 0


WHOLE = {"subscription", "nothing_owned", "topology", "acknowledgements"}
"""Roles that draw a whole array or struct, not an element of it."""


class BadRole(ValueError):
    """A word that names no role."""


def role_named(words: str) -> Role:
    """The function for "role" or "role kind". Raises BadRole."""
    name, _, kind = words.partition(" ")
    function: Callable[..., Any] | None = globals().get(name)
    if function is None or function.__module__ != __name__ or isinstance(function, type):
        raise BadRole(f"no role {name!r}")
    return partial(function, kind=kind) if kind else function
