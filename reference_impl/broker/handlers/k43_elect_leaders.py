"""ElectLeaders: the preferred replica leads again, or anybody does where nobody could (KIP-460).

ZooKeeper's controller answers a partition once however often it was asked for, KRaft's every entry
by itself, topics without partitions too, and nothing at all to a request that gives it no time.
2.2 calls an election that changes nothing a success. Whoever names a partition that has not had a
leader yet is never answered there: the election dies in the controller.

Sources: KIP-183, KIP-460; CTL-23; KafkaController.processReplicaLeaderElection@2.2.1, 2.8.2,
ReplicationControlManager.electLeaders@3.9.2, 4.3.1; observed on three nodes of the four,
and partitions without a leader on one node of 2.2.1, 2.8.2.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.control.cluster_controller import ClusterController
from touchstone.reference_impl.broker.effects import NEVER, Request, Wait
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.controller import PREFERRED, UNCLEAN, ElectionResult
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.cluster.view import MetadataView
from touchstone.reference_impl.cluster.zookeeper_controller import ZooKeeperController
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

NEEDLESS = "Leader election not needed for topic partition."
PartitionRow = tuple[int, int, str | None]  # partition, code, message
NOT_AVAILABLE = {
    ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE: "The preferred leader was not available.",
    ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE: (
        "Eligible topic partition leaders are not available."
    ),
}


def handle(
    request: Request,
    controller: ClusterController,
    metadata: MetadataView,
    cluster: Cluster,
    persona: Persona,
    now: int,
) -> Struct | Wait:
    body = request.body
    rows, kind = body["topic_partitions"], body["election_type"]
    if persona.kraft:
        if rows == []:
            return _answer([])
        if body["timeout_ms"] <= 0:
            return fail(request, ErrorCode.REQUEST_TIMED_OUT)
        if kind not in (PREFERRED, UNCLEAN):
            message = f"Unknown election type {kind}"
            return _refused(request, ErrorCode.INVALID_REQUEST, message)
        return _answer(_kraft(controller, cluster, kind, rows))
    if kind not in (PREFERRED, UNCLEAN):
        return fail(request, ErrorCode.UNKNOWN_SERVER_ERROR)
    found = _zookeeper(controller, metadata, persona, kind, rows)
    return Wait(NEVER, (), lambda _: None, lambda _: None) if found is None else _answer(found)


def fail(request: Request, code: int) -> Struct:
    return _refused(request, code, None)


def _refused(request: Request, code: int, message: str | None) -> Struct:
    """The whole request, and each partition it names, with one code."""
    rows = [
        (row["topic"], [(index, code, message) for index in row["partitions"]])
        for row in request.body["topic_partitions"] or ()
    ]
    return _answer(rows, code)


def _answer(rows: list[tuple[str, list[PartitionRow]]], code: int = ErrorCode.NONE) -> Struct:
    return {
        "error_code": code,
        "replica_election_results": [
            {
                "topic": topic,
                "partition_result": [
                    {"partition_id": index, "error_code": each, "error_message": message}
                    for index, each, message in partitions
                ],
            }
            for topic, partitions in rows
        ],
    }


# ------------------------------------------------------------------------------------- KRaft


def _kraft(
    controller: ClusterController, cluster: Cluster, kind: int, rows: list[Struct] | None
) -> list[tuple[str, list[PartitionRow]]]:
    if rows is None:
        done = controller.active.elect(kind, None)
        by_topic: dict[str, list[ElectionResult]] = {name: [] for name in cluster.topics}
        for each in done:
            by_topic[each.topic].append(each)
        return [
            (name, [_kraft_row(_kraft_words(kind, name), each) for each in elected])
            for name, elected in by_topic.items()
        ]
    return [
        (row["topic"], _kraft_rows(controller, kind, row["topic"], row["partitions"]))
        for row in rows
    ]


def _kraft_rows(
    controller: ClusterController, kind: int, topic: str, indexes: list[int]
) -> list[PartitionRow]:
    says = _kraft_words(kind, topic)  # once: a name that no topic can have may be of 32 KB
    elected = controller.active.elect(kind, [(topic, index) for index in indexes])
    return [_kraft_row(says, each) for each in elected]


def _kraft_words(kind: int, topic: str) -> dict[str, tuple[int, str | None]]:
    """The code and the message of each outcome whose message names no partition."""
    nobody = _unavailable(kind)
    return {
        "done": (ErrorCode.NONE, None),
        "needless": (ErrorCode.ELECTION_NOT_NEEDED, NEEDLESS),
        "unknown-topic": (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {topic}"),
        "unavailable": (nobody, NOT_AVAILABLE[ErrorCode(nobody)]),
    }


def _kraft_row(says: dict[str, tuple[int, str | None]], elected: ElectionResult) -> PartitionRow:
    topic, index, outcome = elected
    if outcome == "unknown-partition":
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return index, unknown, f"No such partition as {topic}-{index}"
    return index, *says[outcome]


# --------------------------------------------------------------------------------- ZooKeeper


def _zookeeper(
    controller: ClusterController,
    metadata: MetadataView,
    persona: Persona,
    kind: int,
    rows: list[Struct] | None,
) -> list[tuple[str, list[PartitionRow]]] | None:
    """Rows by topic in the order in which it was first named; None where there is no answer."""
    places = None
    if rows is not None:
        places = list(dict.fromkeys((row["topic"], i) for row in rows for i in row["partitions"]))
    found: dict[str, list[PartitionRow]] = {}
    if not controller.here:
        if places is None:
            places = [(p.topic, p.index) for p in metadata.all_partitions()]
        for topic, index in places:
            found.setdefault(topic, []).append((index, ErrorCode.NOT_CONTROLLER, None))
    else:
        active = controller.active
        assert isinstance(active, ZooKeeperController)
        if places is not None and active.stuck(places):
            return None
        says_needless = persona.quirk("elections.say-when-needless")
        for elected in active.elect(kind, places):
            row = _zookeeper_row(kind, elected, says_needless=says_needless)
            found.setdefault(elected.topic, []).append(row)
    return list(found.items())


def _zookeeper_row(kind: int, elected: ElectionResult, *, says_needless: bool) -> PartitionRow:
    topic, index, outcome = elected
    needless = (ErrorCode.ELECTION_NOT_NEEDED, NEEDLESS) if says_needless else (0, None)
    code, message = {
        "done": (ErrorCode.NONE, None),
        "needless": needless,
        "unknown-partition": (
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            "The partition does not exist.",
        ),
        "deleting": (ErrorCode.INVALID_TOPIC_EXCEPTION, "The topic is being deleted"),
        "unavailable": (_unavailable(kind), _words(kind, topic, index)),
    }[outcome]
    return index, code, message


def _unavailable(kind: int) -> int:
    if kind == PREFERRED:
        return ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    return ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE


def _words(kind: int, topic: str, index: int) -> str:
    strategy = "PreferredReplicaPartitionLeaderElectionStrategy"
    if kind == UNCLEAN:
        strategy = "OfflinePartitionLeaderElectionStrategy(true)"
    return f"Failed to elect leader for partition {topic}-{index} under strategy {strategy}"
