"""Clusters of three brokers: two shapes of them, logs on chosen brokers, leaders and followers.

Three rules make a fault mean the same on every run. Every topic says on which brokers it lives, the
first of which leads. Broker 0 is the controller (where brokers elect one) and is left alone, so it
is who gets asked how things stand. And each shape has one way to lose a follower: with
SHORT_SESSIONS a broker that is gone is noticed in seconds while a silent one is waited for; with
SHORT_LAG it is the other way round.

Sources: schema Metadata, Produce, Fetch; settings of the same names in Kafka's documentation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from touchstone.harness.model.expect import Expectation, all_of, answer, by_release
from touchstone.harness.model.placeholders import Records
from touchstone.harness.model.scenario import Ask, Until
from touchstone.harness.model.steps import (
    at_controller,
    create_topic,
    fetch,
    list_offsets,
    metadata,
    produce,
    stop_broker,
)
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.records import batch

BROKERS, NOBODY = (0, 1, 2), -1
FIRST = 0  # the controller, where brokers elect one
PART = "topics[0].partitions[0]"
LEADER, EPOCH, ISR = f"{PART}.leader_id", f"{PART}.leader_epoch", f"{PART}.isr_nodes"
OFFLINE = f"{PART}.offline_replicas"
WRITTEN = "responses[0].partition_responses[0]"
READ = "responses[0].partitions[0]"
MARK = f"{READ}.high_watermark"
OFFSET_CODE, OFFSET = f"{PART}.error_code", f"{PART}.offset"
FOLLOWERS = 5  # of Fetch: followers say where their log starts, and all five releases serve it
LONG_MS = 20_000  # a wait that something else ends

# The releases on which these suites have been confirmed.
RECORDED = "1.0,2.2,2.8,3.9,4.3"
_STEADY = {"auto.leader.rebalance.enable": "false", "controlled.shutdown.retry.backoff.ms": "500"}
SHORT_SESSIONS: dict[str, Any] = {
    "releases": RECORDED,
    "brokers": 3,
    "config": {
        **_STEADY,
        "zookeeper.session.timeout.ms": "3000",
        "broker.session.timeout.ms": "3000",
        "broker.heartbeat.interval.ms": "500",
        "replica.lag.time.max.ms": "30000",
    },
}
SHORT_SESSIONS_UNHARMED = dict(SHORT_SESSIONS)  # the same cluster, for cases that harm nobody
SHORT_SESSIONS |= {"capabilities": ("harm",)}
SHORT_SESSIONS_APART = SHORT_SESSIONS | {"capabilities": ("harm", "controller-apart")}
SHORT_LAG: dict[str, Any] = {
    "releases": RECORDED,
    "brokers": 3,
    "racks": ("a", "b", "c"),
    "config": {
        **_STEADY,
        "zookeeper.session.timeout.ms": "30000",
        "broker.session.timeout.ms": "30000",
        "replica.lag.time.max.ms": "2000",
        "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
    },
}
SHORT_LAG_UNHARMED = dict(SHORT_LAG)  # the same cluster, for cases that harm nobody
SHORT_LAG |= {"capabilities": ("harm",)}


def on(releases: str, shape: Mapping[str, Any]) -> dict[str, Any]:
    """The shape for a claim about some of the releases only."""
    return {**shape, "releases": releases}


def placed(
    topic: Any,
    rows: Mapping[int, Sequence[int]],
    *,
    configs: Mapping[str, Any] | None = None,
    seen_by: Sequence[int] = BROKERS,
) -> list[Any]:
    """A topic on these brokers, ready when all of them know it whole and its leaders serve it.

    ZooKeeper's brokers hear of a partition's leader before its topic is in their metadata, and
    refuse producers in between.
    """
    word, where = topic.key, {"broker": FIRST} if FIRST in seen_by else at_controller()
    made = create_topic(topic, configs=configs, assignments=rows, name=f"made {word}", **where)
    in_sync = [(ISR, "len ==", len(row)) for row in rows.values() if len(rows) == 1]
    known = [
        Until(
            metadata(topic, broker=broker, name=f"known {word} {broker}"),
            "topics[0].error_code", "==", 0,
            also=(
                ("topics[0].partitions", "len ==", len(rows)),
                ("topics[0].partitions[*].leader_id", "each >=", 0),
                *in_sync,
            ),
        )
        for broker in seen_by
    ]  # fmt: skip
    asked = [
        end(topic, partition, at=row[0], name=f"serving {word} {partition}")
        for partition, row in rows.items()
    ]
    serving = [Until(one, OFFSET_CODE, "==", 0) for one in asked]
    return [made, *known, *serving]


def a_log(
    topic: Any,
    row: Sequence[int] = (1, 2),
    *values: bytes,
    **how: Any,
) -> list[Any]:
    """A topic of one partition on these brokers, with a batch of each value."""
    writes = [
        write(topic, value, name=f"{topic.key} before {index}", to=row[0])
        for index, value in enumerate(values)
    ]
    return [placed(topic, {0: row}, **how), *writes]


def write(topic: Any, *values: Any, to: int = 1, name: str = "write", **how: Any) -> Ask:
    """A batch of these values (or ready Records) to one broker; acks are all unless given."""
    ready = values[0] if isinstance(values[0], Records) else batch(*values)
    partition = how.pop("partition", 0)
    return produce(topic, partition, ready, broker=to, name=name, **how)


def read(topic: Any, offset: int = 0, *, at: int = 1, name: str = "read", **how: Any) -> Ask:
    """A consumer's fetch from one broker, answered at once."""
    partition = how.pop("partition", 0)
    return fetch(topic, partition, offset, broker=at, name=name, **{"max_wait_ms": 0, **how})


def follow(topic: Any, offset: int, *, of: int = 1, by: int = 2, name: str, **how: Any) -> Ask:
    """The fetch of a follower, sent by us in its place while it is paused or away."""
    version = how.pop("version", FOLLOWERS)
    how = {"max_wait_ms": 0, **how}
    asked = fetch(topic, 0, offset, broker=of, name=name, version=version, **how)
    return replace(asked, body={**asked.body, "replica_id": by})


def marked(topic: Any, mark: int, *, at: int = 1, name: str = "read", **how: Any) -> Until:
    """Read until the high watermark is this."""
    return Until(read(topic, at=at, name=name, **how), MARK, "==", mark)


def without_epochs(case: Any) -> dict[str, Any]:
    """Spread into a read whose batches' epochs are left out on 1.0.

    There the stop of a follower counts as one epoch or as two (harness/judgement/epochs.py); a
    message set (version 3) does not tell.
    """
    return {"version": 3} if case.release == "1.0" else {}


def end(topic: Any, partition: int = 0, *, at: int = 1, name: str = "end", **how: Any) -> Ask:
    """ListOffsets of where the log ends, to one broker."""
    return list_offsets(topic, partition, broker=at, name=name, **how)


@dataclass(frozen=True, slots=True)
class EpochsVary:
    """A case whose leader epochs on 2.2 vary from run to run: see `metadata_version`."""

    case: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.case, name)


def metadata_version(case: Any) -> int:
    """The version of Metadata that says most of what this release can say without topic ids.

    In 1.0 and 2.2 the stop of a follower counts as one leader epoch or as two, and the judge frees
    the epochs that follow (harness/judgement/epochs.py). Claims that wrap their case in
    EpochsVary were recorded before it did, and do not ask 2.2 for epochs.
    """
    epochs_vary = case.release == "2.2" and isinstance(case, EpochsVary)
    return 5 if case.release == "1.0" or epochs_vary else 7


def look(case: Any, topic: Any, name: str = "look", *, at: int = 0) -> Ask:
    """How one broker sees the topic."""
    return metadata(topic, version=metadata_version(case), broker=at, name=name)


def until_led(
    case: Any, topic: Any, leader: int, isr: Sequence[int], name: str = "look", *, at: int = 0
) -> list[Until]:
    """Look until one broker sees this leader and these brokers, in any order, in sync; and until
    the leader sees it as well, and leads.
    """
    wanted = ((ISR, "len ==", len(isr)), *((ISR, "contains", one) for one in isr))
    steps = [Until(look(case, topic, name, at=at), LEADER, "==", leader, also=wanted)]
    if leader != at:
        there = look(case, topic, f"{name} there", at=leader)
        steps.append(Until(there, LEADER, "==", leader, also=wanted))
    return [*steps, Until(end(topic, at=leader, name=f"{name} serves"), OFFSET_CODE, "==", 0)]


def stopped(broker: int, *, seen_by: int = 1) -> list[Any]:
    """Stop it and wait until another broker has been told that it is gone, which is after whatever
    its end did to that broker's partitions: the epochs of 1.0, which nobody can see, have settled.
    """
    told = metadata(broker=seen_by, name=f"without {broker}")
    return [stop_broker(broker), Until(told, "brokers[*].node_id", "each !=", broker)]


def until_leaderless(
    case: Any, topic: Any, name: str = "nobody", *, at: int = 0, offline: Sequence[int] = ()
) -> Until:
    """Look until one broker sees no leader, and these replicas as offline.

    With ZooKeeper the controller tells the two in turn.
    """
    gone = ((OFFLINE, "==", list(offline)),) if offline else ()
    return Until(look(case, topic, name, at=at), LEADER, "==", NOBODY, also=gone)


def led_by(
    step: str,
    leader: int,
    isr: Sequence[int],
    zk: int,
    kraft: int | None = None,
    *,
    joined: bool = False,
) -> Expectation:
    """The step, a look, shows this leader, this ISR in this order, this leader epoch (KRaft's, if
    it counts otherwise). 1.0 tells no epochs. An ISR that a leader has changed (`joined`) is in the
    order of ids in 4.3, where leaders keep it in a hash set.
    """
    found, epoch = answer(step, LEADER).is_(leader), answer(step, EPOCH)
    kept, sorted_ = (answer(step, ISR).is_(order) for order in (list(isr), sorted(isr)))
    return by_release(
        {
            "1.0": all_of(found, kept),
            "2.2": all_of(found, kept),  # see metadata_version
            "2.8": all_of(found, kept, epoch.is_(zk)),
            "3.9": all_of(found, kept, epoch.is_(zk if kraft is None else kraft)),
            "4.3": all_of(
                found, sorted_ if joined else kept, epoch.is_(zk if kraft is None else kraft)
            ),
        }
    )


def stored(step: str, offset: int) -> Expectation:
    """The step's one partition was written, from this offset on."""
    return all_of(
        answer(step, f"{WRITTEN}.error_code").is_(ErrorCode.NONE),
        answer(step, f"{WRITTEN}.base_offset").is_(offset),
    )


def refused(step: str, code: int) -> Expectation:
    """The step's one partition answers this error."""
    return answer(step, f"{WRITTEN}.error_code").is_(code)
