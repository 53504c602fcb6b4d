"""A target made ready for valid requests: its topics hold records, its groups have members.

`prepared` asks for what `World` holds and puts in what the target said. An API that the target does
not serve, or refuses, leaves its part of the world made up. Asking is an argument, so that any
connection will do. `prepare` does it over a link, and makes the topics first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from touchstone.fuzz.corpus_run import (
    AFTER_DELETION,
    create_topics,
    delete_topics,
    listed_topics,
)
from touchstone.fuzz.roles import BATCH_TIME
from touchstone.fuzz.runner import Link
from touchstone.fuzz.watches.watch import CANARY
from touchstone.fuzz.world import CONSUMED, LASTING, TOPICS, Member, Producer, Topic, World
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.embedded.consumer_protocol import (
    encode_assignment,
    encode_subscription,
)
from touchstone.reference_impl.wire.records import build
from touchstone.reference_impl.wire.schema import Struct, fields_of

Ask = Callable[[int, int, Struct], Struct | None]
Served = Mapping[int, tuple[int, int]]
MEMBER_ID_REQUIRED = 79
PASSING = {3, 14, 15, 16, 51}
"""Error codes of a coordinator or topic that is not there yet, or of a transaction that ends."""
SECRET = {"salt": bytes(16), "salted_password": bytes(32)}
SESSIONS = 8
LONGEST_MS = 1_800_000
REBALANCE_MS = 600_000
TRANSACTION_MS = 900_000
TRIES = 200


class Asker:
    """Questions by the name of the API and at most a version; the body may hold more fields than
    that version has.
    """

    def __init__(self, ask: Ask, served: Served, rest: Callable[[], object]) -> None:
        self._ask, self._served, self.rest = ask, served, rest

    def __call__(self, name: str, most: int, body: Struct) -> tuple[int, Struct] | None:
        """(version, answer) in the newest version up to `most`; None: not served or hung up on."""
        key = API.named(name).key
        low, high = self._served.get(key, (0, -1))
        version = min(most, high, API[key].latest)
        if version < low:
            return None
        answer = self._ask(key, version, filled(key, version, body))
        return None if answer is None else (version, answer)

    def until_done(self, name: str, most: int, body: Struct) -> Struct | None:
        """The first answer that does not ask to wait; None where it is a refusal."""
        for _ in range(TRIES):
            said = self(name, most, body)
            code = None if said is None else said[1].get("error_code", 0)
            if said is None or code not in PASSING:
                return None if code or said is None else said[1]
            self.rest()
        return None


def filled(key: int, version: int, body: Struct) -> Struct:
    """The fields that this version has, those that are not given with their defaults."""
    rows = fields_of(API[key].request.fields, version)
    return {row.name: body.get(row.name, row.default_value(version)) for row in rows}


def prepare(link: Link, served: Served, *, ours: bool, rests: int = AFTER_DELETION) -> World:
    """The world of the target at the other end of the link, with all that lasts in it; topics that
    cases made are deleted where the target is `ours`, and after that it `rests` (delete_topics).
    Raises NotPrepared.
    """
    if ours:
        others = sorted(one for one in listed_topics(link) if not one.startswith(("__", CANARY)))
        delete_topics(link, others, rests=rests)
    create_topics(link, dict.fromkeys(LASTING, False))
    return prepared(link.ask, served, link.rest)


def prepared(ask: Ask, served: Served, rest: Callable[[], object]) -> World:
    """The world of this target. Topics of `LASTING` exist; `rest` lets the target have a moment."""
    asker = Asker(ask, served, rest)
    made_up = World()
    brokers, topics = topic_ids(asker, made_up)
    write_records(asker)
    empty_groups(asker, [one.group for kind in JOINED for one in made_up.members[kind]])
    members = {
        **made_up.members,
        **{k: tuple(commit(asker, m) for m in made_up.members[k]) for k in ("simple", "removed")},
        **{kind: tuple(join(asker, one) for one in made_up.members[kind]) for kind in JOINED},
        **{
            kind: tuple(heartbeat(asker, name, m) for m in made_up.members[kind])
            for kind, name in HEARTBEATS.items()
        },
    }
    for one in made_up.members["shared"]:
        share_offsets(asker, one)
    for one in made_up.members["fetching"]:
        heartbeat(asker, HEARTBEATS["share"], one, TOPICS)
    user = {"name": "fuzz-user-0", "mechanism": 1, "iterations": 4096, **SECRET}
    asker("AlterUserScramCredentials", 0, {"upsertions": [user]})
    state_of_shares(asker, made_up, topics)
    producers = {
        kind: tuple(begin(asker, one, opened=kind != "opened") for one in all_of_kind)
        for kind, all_of_kind in made_up.producers.items()
    }
    return World(
        topics, members, producers, tuple(sessions(asker, topics)), metadata_version(asker),
        log_dir(asker), *brokers,
    )  # fmt: skip


def topic_ids(
    asker: Asker, made_up: World
) -> tuple[tuple[int, int], Mapping[str, tuple[Topic, ...]]]:
    """((id of a broker, its port), topics with their ids)."""
    said = asker("Metadata", 12, {"topics": None})
    if said is None:
        return (made_up.broker, made_up.port), made_up.topics
    answer = said[1]
    ids = {
        row["name"]: row.get("topic_id", made_up.topics["kept"][0].id) for row in answer["topics"]
    }
    topics = {
        kind: tuple(replace(one, id=ids.get(one.name, one.id)) for one in found)
        for kind, found in made_up.topics.items()
    }
    broker = answer["brokers"][0]
    return (broker["node_id"], broker["port"]), topics


def write_records(asker: Asker) -> None:
    """Some batches into each topic that is fetched from."""
    magic_2 = build(2, [(b"k", b"v")] * 3, timestamp=BATCH_TIME)
    for _ in range(3):
        for name in LASTING:
            rows = [{"index": 0, "records": magic_2}]
            topic = [{"name": name, "partition_data": rows}]
            asker("Produce", 7, {"acks": -1, "timeout_ms": 5000, "topic_data": topic})


def commit(asker: Asker, member: Member) -> Member:
    """A group that only commits offsets, of every topic that is kept."""
    rows = [{"partition_index": 0, "committed_offset": 0, "committed_metadata": ""}]
    topics = [{"name": name, "partitions": [dict(rows[0])]} for name in TOPICS]
    body = {"group_id": member.group, "generation_id_or_member_epoch": -1, "topics": topics}
    asker("FindCoordinator", 1, {"key": member.group, "key_type": 0})
    asker("OffsetCommit", 5, body)
    return member


JOINED = ("classic", "leaving", "joining")


def empty_groups(asker: Asker, names: list[str]) -> None:
    """Have the members leave that an earlier preparation left: a new one would wait for them."""
    said = asker("DescribeGroups", 4, {"groups": names})
    for group in said[1]["groups"] if said else ():
        for member in group["members"]:
            body = {"group_id": group["group_id"], "member_id": member["member_id"]}
            asker("LeaveGroup", 2, body)


def join(asker: Asker, member: Member) -> Member:
    """The only member of a classic group, joined and synced."""
    subscription = encode_subscription(0, {"topics": [CONSUMED], "user_data": None})
    body: Struct = {
        "group_id": member.group, "member_id": "", "session_timeout_ms": LONGEST_MS,
        "rebalance_timeout_ms": REBALANCE_MS, "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": subscription}],
    }  # fmt: skip
    joined: Struct = {}
    for _ in range(TRIES):
        said = asker("JoinGroup", 5, body)
        if said is None:
            return member
        joined = said[1]
        if joined["error_code"] == 0:
            break
        body["member_id"] = joined["member_id"]  # as MEMBER_ID_REQUIRED asks for
        if joined["error_code"] in PASSING:
            asker.rest()
        elif joined["error_code"] != MEMBER_ID_REQUIRED:
            return member
    else:
        return member
    id_, generation = joined["member_id"], joined["generation_id"]
    owned = [{"topic": CONSUMED, "partitions": [0]}]
    assignment = encode_assignment(0, {"assigned_partitions": owned, "user_data": None})
    asker("SyncGroup", 3, {
        "group_id": member.group, "generation_id": generation, "member_id": id_,
        "assignments": [{"member_id": id_, "assignment": assignment}],
    })  # fmt: skip
    return replace(member, id=id_, epoch=generation)


HEARTBEATS = {
    "consumer": "ConsumerGroupHeartbeat",
    "share": "ShareGroupHeartbeat",
    "streams": "StreamsGroupHeartbeat",
}


def heartbeat(
    asker: Asker, name: str, member: Member, topics: tuple[str, ...] = (CONSUMED,)
) -> Member:
    """A member of a group of the newer protocols, whose id is its own choice."""
    source = {
        "subtopology_id": "0", "source_topics": [CONSUMED], "source_topic_regex": [],
        "state_changelog_topics": [], "repartition_sink_topics": [],
        "repartition_source_topics": [], "copartition_groups": [],
    }  # fmt: skip
    body = {
        "group_id": member.group, "member_id": member.id, "member_epoch": 0,
        "rebalance_timeout_ms": 5000, "subscribed_topic_names": list(topics),
        "topic_partitions": [],
        "topology": {"epoch": 0, "subtopologies": [source]}, "process_id": "fuzz-process",
        "active_tasks": [], "standby_tasks": [], "warmup_tasks": [],
    }  # fmt: skip
    answer = asker.until_done(name, 1, body)
    return member if answer is None else replace(member, epoch=answer["member_epoch"])


def share_offsets(asker: Asker, member: Member) -> None:
    """A share group without members that holds offsets of every topic that is kept."""
    for chosen in (0, -1):  # joins and leaves, for a group must exist to be given offsets
        body = {
            "group_id": member.group, "member_id": "MDEyMzQ1Njc4OUFCQ0RFRg",
            "member_epoch": chosen, "subscribed_topic_names": list(TOPICS),
        }  # fmt: skip
        asker.until_done("ShareGroupHeartbeat", 1, body)
    rows = [{"partition_index": 0, "start_offset": 0}]
    topics = [{"topic_name": name, "partitions": rows} for name in TOPICS]
    asker.until_done("AlterShareGroupOffsets", 0, {"group_id": member.group, "topics": topics})


def state_of_shares(asker: Asker, world: World, topics: Mapping[str, tuple[Topic, ...]]) -> None:
    """Share-group state as a group coordinator writes it, of groups that do not exist."""
    for member in world.members["stated"]:
        rows = [{"partition": 0, "state_epoch": 1, "start_offset": 0}]
        body = [{"topic_id": topic.id, "partitions": rows} for topic in topics["kept"]]
        asker("InitializeShareGroupState", 0, {"group_id": member.group, "topics": body})


def begin(asker: Asker, producer: Producer, *, opened: bool) -> Producer:
    """A transactional producer; `opened`: with an ongoing transaction over one partition."""
    name = producer.transactional_id
    asker("FindCoordinator", 1, {"key": name, "key_type": 1})
    body = {
        "transactional_id": name, "transaction_timeout_ms": TRANSACTION_MS, "producer_id": -1,
        "producer_epoch": -1,
    }  # fmt: skip
    given = asker.until_done("InitProducerId", 3, body)
    if given is None:
        return producer
    known = replace(producer, id=given["producer_id"], epoch=given["producer_epoch"])
    if opened:
        asker("AddPartitionsToTxn", 3, {
            "v3_and_below_transactional_id": name, "v3_and_below_producer_id": known.id,
            "v3_and_below_producer_epoch": known.epoch,
            "v3_and_below_topics": [{"name": "fuzz-transacted", "partitions": [0]}],
        })  # fmt: skip
    return known


def sessions(asker: Asker, topics: Mapping[str, tuple[Topic, ...]]) -> Iterator[tuple[int, int]]:
    """Fetch sessions that the target gave, with the epoch that comes next."""
    row = {
        "partition": 0, "current_leader_epoch": -1, "fetch_offset": 0, "last_fetched_epoch": -1,
        "log_start_offset": -1, "partition_max_bytes": 1000,
    }  # fmt: skip
    body = {
        "replica_id": -1, "max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1000,
        "isolation_level": 0, "session_id": 0, "session_epoch": 0,
        "topics": [{"topic": CONSUMED, "partitions": [row]}], "forgotten_topics_data": [],
        "rack_id": "",
    }  # fmt: skip
    for _ in range(SESSIONS):
        said = asker("Fetch", 11, body)
        if said is not None and said[0] >= 7 and said[1]["session_id"]:
            yield said[1]["session_id"], 1


def metadata_version(asker: Asker) -> int:
    said = asker("ApiVersions", 3, {
        "client_software_name": "touchstone", "client_software_version": "1.0",
    })  # fmt: skip
    rows: list[dict[str, Any]] = said[1].get("finalized_features", []) if said else []
    found = [row["max_version_level"] for row in rows if row["name"] == "metadata.version"]
    return found[0] if found else World().metadata_version


def log_dir(asker: Asker) -> str:
    """A log directory of the broker."""
    said = asker("DescribeLogDirs", 1, {"topics": []})
    with suppress(LookupError, TypeError):
        return str(said[1]["results"][0]["log_dir"])  # type: ignore[index]
    return World().log_dir
