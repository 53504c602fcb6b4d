"""A target made ready for valid requests: its topics hold records, its groups have members.

`prepared` asks for what `World` holds and puts in what the target said. An API that the target does
not serve, or refuses, leaves its part of the world made up; but a cluster of ours whose coordinator
never becomes ready is not prepared. `prepare` makes the topics first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any, Protocol

from touchstone.fuzz.corpus_run import (
    AFTER_DELETION,
    NotPrepared,
    create_topics,
    delete_topics,
    listed_topics,
)
from touchstone.fuzz.roles import BATCH_TIME
from touchstone.fuzz.runner import Link, Question
from touchstone.fuzz.watches.watch import CANARY
from touchstone.fuzz.world import CONSUMED, LASTING, TOPICS, Member, Producer, Topic, World
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.embedded.consumer_protocol import (
    encode_assignment,
    encode_subscription,
)
from touchstone.reference_impl.wire.records import build
from touchstone.reference_impl.wire.schema import Struct, fields_of

Served = Mapping[int, tuple[int, int]]
PASSING = {3, 14, 15, 16, 51}
"""Error codes of a coordinator or topic that is not there yet, or of a transaction that ends."""
SECRET = {"salt": bytes(16), "salted_password": bytes(32)}
SESSIONS = 8
FIRST_WITH_SESSIONS = 7  # version of Fetch
LONGEST_MS, LONGEST_BEFORE_2_3_MS = 1_800_000, 300_000
"""group.max.session.timeout.ms by default; JoinGroup v5 came with the longer one."""
REBALANCE_MS = 600_000
TRANSACTION_MS = 900_000
TRIES, TRIES_OF_OURS = 200, 1500
"""With 20 ms between two of them (`Link.rest`): a cluster of ours may be busy for half a minute."""


class Answering(Protocol):
    """What a Link does (`fuzz.runner`), as far as it is needed here."""

    def ask_all(self, questions: Sequence[Question]) -> list[Struct | None]: ...

    def ask_apart(self, questions: Sequence[Question]) -> list[Struct | None]: ...

    def rest(self) -> None: ...


class Asker:
    """Questions by the name of the API and at most a version; bodies may hold more fields than that
    version has. Many are asked together: one at a time they took 45 s on a busy machine. Of `ours`
    it is known that every coordinator is there after a while.
    """

    def __init__(self, target: Answering, served: Served, *, ours: bool = False) -> None:
        self._target, self._served, self._ours = target, served, ours

    def version(self, name: str, most: int) -> int | None:
        """The newest up to `most`; None where that is not served."""
        key = API.named(name).key
        low, high = self._served.get(key, (0, -1))
        version = min(most, high, API[key].latest)
        return None if version < low else version

    def all(
        self, name: str, most: int, bodies: Iterable[Struct], *, apart: bool = False
    ) -> list[Struct | None]:
        """What each comes to; None: not served, hung up on, held, or not to be read."""
        key, version, asked = API.named(name).key, self.version(name, most), list(bodies)
        if version is None or not asked:
            return [None] * len(asked)
        ask = self._target.ask_apart if apart else self._target.ask_all
        return ask([(key, version, filled(key, version, body)) for body in asked])

    def __call__(self, name: str, most: int, body: Struct) -> Struct | None:
        (said,) = self.all(name, most, [body])
        return said

    def all_done(
        self, name: str, most: int, bodies: Iterable[Struct], *, apart: bool = False
    ) -> list[Struct | None]:
        """The first answer to each that does not ask to wait; None where it is a refusal. Raises
        NotPrepared where all of them ask to wait for ever, and should not.
        """
        waiting = dict(enumerate(bodies))
        done: list[Struct | None] = [None] * len(waiting)
        asked = dict(waiting)
        tries = TRIES_OF_OURS if self._ours else TRIES
        for _ in range(tries):
            said = self.all(name, most, asked.values(), apart=apart)
            for number, answer in zip(asked, said, strict=True):
                code = 0 if answer is None else code_of(answer)
                if code not in PASSING:
                    done[number] = None if code else answer
                    del waiting[number]
            if not waiting:
                return done
            # While nobody is served one asks for all: apart, each question is a connection.
            asked = dict(islice(waiting.items(), 1 if len(waiting) == len(done) else None))
            self._target.rest()
        if self._ours and len(waiting) == len(done):
            raise NotPrepared(f"{name} is only answered with error code {code}, {tries} times")
        return done


def code_of(answer: Struct) -> int:
    """The error code of an answer, or of the first partition that it speaks of."""
    if "error_code" in answer:
        return int(answer["error_code"])
    rows = (row for topic in answer.get("topics", ()) for row in topic.get("partitions", ()))
    return int(next(rows, {"error_code": 0})["error_code"])


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
    return prepared(link, served, ours=ours)


def prepared(target: Answering, served: Served, *, ours: bool = False) -> World:
    """The world of this target. Topics of `LASTING` exist. Raises NotPrepared."""
    asker = Asker(target, served, ours=ours)
    made_up = World()
    brokers, topics = topic_ids(asker, made_up)
    write_records(asker)
    members = dict(made_up.members)
    joined = [one for kind in JOINED for one in members[kind]]
    empty_groups(asker, [one.group for one in joined])
    asker("FindCoordinator", 1, {"key": joined[0].group, "key_type": 0})  # makes their topic
    known = {one.group: one for one in join(asker, joined)}
    members |= {kind: tuple(known[one.group] for one in members[kind]) for kind in JOINED}
    commit(asker, [*members["simple"], *members["removed"]])
    for kind, name in HEARTBEATS.items():
        members[kind] = heartbeat(asker, name, members[kind])
    share_offsets(asker, members["shared"])
    heartbeat(asker, HEARTBEATS["share"], members["fetching"], TOPICS)
    user = {"name": "fuzz-user-0", "mechanism": 1, "iterations": 4096, **SECRET}
    asker("AlterUserScramCredentials", 0, {"upsertions": [user]})
    state_of_shares(asker, made_up, topics)
    return World(
        topics, members, producers_of(asker, made_up), tuple(sessions(asker)),
        metadata_version(asker), log_dir(asker), *brokers,
    )  # fmt: skip


def topic_ids(
    asker: Asker, made_up: World
) -> tuple[tuple[int, int], Mapping[str, tuple[Topic, ...]]]:
    """((id of a broker, its port), topics with their ids)."""
    said = asker("Metadata", 12, {"topics": None})
    if said is None:
        return (made_up.broker, made_up.port), made_up.topics
    ids = {row["name"]: row.get("topic_id", made_up.topics["kept"][0].id) for row in said["topics"]}
    topics = {
        kind: tuple(replace(one, id=ids.get(one.name, one.id)) for one in found)
        for kind, found in made_up.topics.items()
    }
    broker = said["brokers"][0]
    return (broker["node_id"], broker["port"]), topics


def write_records(asker: Asker) -> None:
    """Some batches into each topic that is fetched from."""
    magic_2 = build(2, [(b"k", b"v")] * 3, timestamp=BATCH_TIME)
    row = {"index": 0, "records": magic_2}
    topics = [{"name": name, "partition_data": [row]} for name in LASTING]
    for _ in range(3):
        asker("Produce", 7, {"acks": -1, "timeout_ms": 5000, "topic_data": topics})


JOINED = ("classic", "leaving", "joining")


def empty_groups(asker: Asker, names: list[str]) -> None:
    """Have the members leave that an earlier preparation left: a new one would wait for them."""
    said = asker("DescribeGroups", 4, {"groups": names})
    asker.all("LeaveGroup", 2, [
        {"group_id": group["group_id"], "member_id": member["member_id"]}
        for group in (said["groups"] if said else ())
        for member in group["members"]
    ])  # fmt: skip


def join(asker: Asker, members: Sequence[Member]) -> list[Member]:
    """Each the only member of its classic group, joined and synced; as it was where it is refused.

    Up to JoinGroup v3 a member is let in at once: from v4 on it has to come again with its id. A
    case may have left a member that was told to come again and never will (KIP-394); for that one
    the group waits, half an hour, and then ours is not in it.
    """
    longest_ms = LONGEST_MS if asker.version("JoinGroup", 5) == 5 else LONGEST_BEFORE_2_3_MS
    subscription = encode_subscription(0, {"topics": [CONSUMED], "user_data": None})
    answers = asker.all_done("JoinGroup", 3, [
        {
            "group_id": one.group, "member_id": "", "session_timeout_ms": longest_ms,
            "rebalance_timeout_ms": REBALANCE_MS, "protocol_type": "consumer",
            "protocols": [{"name": "range", "metadata": subscription}],
        }
        for one in members
    ], apart=True)  # fmt: skip
    found = [
        replace(one, id=said["member_id"], epoch=said["generation_id"]) if said else one
        for one, said in zip(members, answers, strict=True)
    ]
    owned = [{"topic": CONSUMED, "partitions": [0]}]
    assignment = encode_assignment(0, {"assigned_partitions": owned, "user_data": None})
    asker.all("SyncGroup", 3, [
        {
            "group_id": one.group, "generation_id": one.epoch, "member_id": one.id,
            "assignments": [{"member_id": one.id, "assignment": assignment}],
        }
        for one, said in zip(found, answers, strict=True) if said
    ])  # fmt: skip
    return found


def commit(asker: Asker, members: Iterable[Member]) -> None:
    """Groups that only commit offsets, of every topic that is kept."""
    row = {"partition_index": 0, "committed_offset": 0, "committed_metadata": ""}
    topics = [{"name": name, "partitions": [row]} for name in TOPICS]
    asker.all_done("OffsetCommit", 5, [
        {"group_id": one.group, "generation_id_or_member_epoch": -1, "topics": topics}
        for one in members
    ])  # fmt: skip


HEARTBEATS = {
    "consumer": "ConsumerGroupHeartbeat",
    "share": "ShareGroupHeartbeat",
    "streams": "StreamsGroupHeartbeat",
}


def heartbeat(
    asker: Asker, name: str, members: Sequence[Member], topics: tuple[str, ...] = (CONSUMED,)
) -> tuple[Member, ...]:
    """Members of groups of the newer protocols, whose ids are their own choice."""
    source = {
        "subtopology_id": "0", "source_topics": [CONSUMED], "source_topic_regex": [],
        "state_changelog_topics": [], "repartition_sink_topics": [],
        "repartition_source_topics": [], "copartition_groups": [],
    }  # fmt: skip
    body = {
        "member_epoch": 0, "rebalance_timeout_ms": 5000, "subscribed_topic_names": list(topics),
        "topic_partitions": [], "topology": {"epoch": 0, "subtopologies": [source]},
        "process_id": "fuzz-process", "active_tasks": [], "standby_tasks": [], "warmup_tasks": [],
    }  # fmt: skip
    bodies = [{**body, "group_id": one.group, "member_id": one.id} for one in members]
    answers = zip(members, asker.all_done(name, 1, bodies), strict=True)
    return tuple(replace(one, epoch=said["member_epoch"]) if said else one for one, said in answers)


def share_offsets(asker: Asker, members: Sequence[Member]) -> None:
    """Share groups without members that hold offsets of every topic that is kept."""
    for epoch in (0, -1):  # joins and leaves, for a group must exist to be given offsets
        asker.all_done("ShareGroupHeartbeat", 1, [
            {
                "group_id": one.group, "member_id": "MDEyMzQ1Njc4OUFCQ0RFRg",
                "member_epoch": epoch, "subscribed_topic_names": list(TOPICS),
            }
            for one in members
        ])  # fmt: skip
    rows = [{"partition_index": 0, "start_offset": 0}]
    topics = [{"topic_name": name, "partitions": rows} for name in TOPICS]
    bodies = [{"group_id": one.group, "topics": topics} for one in members]
    asker.all_done("AlterShareGroupOffsets", 0, bodies)


def state_of_shares(asker: Asker, world: World, topics: Mapping[str, tuple[Topic, ...]]) -> None:
    """Share-group state as a group coordinator writes it, of groups that do not exist."""
    rows = [{"partition": 0, "state_epoch": 1, "start_offset": 0}]
    body = [{"topic_id": topic.id, "partitions": rows} for topic in topics["kept"]]
    bodies = [{"group_id": one.group, "topics": body} for one in world.members["stated"]]
    asker.all("InitializeShareGroupState", 0, bodies)


def producers_of(asker: Asker, made_up: World) -> Mapping[str, tuple[Producer, ...]]:
    """Transactional producers; all but the kind `opened` have an ongoing transaction over one
    partition, which the next preparation aborts.
    """
    kinds = [(kind, one) for kind, found in made_up.producers.items() for one in found]
    first = kinds[0][1].transactional_id
    asker("FindCoordinator", 1, {"key": first, "key_type": 1})  # makes their topic
    answers = asker.all_done("InitProducerId", 3, [
        {
            "transactional_id": one.transactional_id, "transaction_timeout_ms": TRANSACTION_MS,
            "producer_id": -1, "producer_epoch": -1,
        }
        for _, one in kinds
    ])  # fmt: skip
    known = [
        replace(one, id=said["producer_id"], epoch=said["producer_epoch"]) if said else one
        for (_, one), said in zip(kinds, answers, strict=True)
    ]
    asker.all("AddPartitionsToTxn", 3, [
        {
            "v3_and_below_transactional_id": one.transactional_id,
            "v3_and_below_producer_id": one.id, "v3_and_below_producer_epoch": one.epoch,
            "v3_and_below_topics": [{"name": "fuzz-transacted", "partitions": [0]}],
        }
        for (kind, _), one, said in zip(kinds, known, answers, strict=True)
        if said and kind != "opened"
    ])  # fmt: skip
    by_name = {one.transactional_id: one for one in known}
    return {
        kind: tuple(by_name[one.transactional_id] for one in found)
        for kind, found in made_up.producers.items()
    }


def sessions(asker: Asker) -> Iterator[tuple[int, int]]:
    """Fetch sessions that the target gave, with the epoch that comes next."""
    if (asker.version("Fetch", 11) or 0) < FIRST_WITH_SESSIONS:
        return
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
    for said in asker.all("Fetch", 11, [body] * SESSIONS):
        if said is not None and said["session_id"]:
            yield said["session_id"], 1


def metadata_version(asker: Asker) -> int:
    said = asker("ApiVersions", 3, {
        "client_software_name": "touchstone", "client_software_version": "1.0",
    })  # fmt: skip
    rows: list[dict[str, Any]] = said.get("finalized_features", []) if said else []
    found = [row["max_version_level"] for row in rows if row["name"] == "metadata.version"]
    return found[0] if found else World().metadata_version


def log_dir(asker: Asker) -> str:
    """A log directory of the broker."""
    said = asker("DescribeLogDirs", 1, {"topics": []})
    with suppress(LookupError, TypeError):
        return str(said["results"][0]["log_dir"])  # type: ignore[index]
    return World().log_dir
