"""ListOffsets as a flow: the offset of a timestamp, or of the beginning or end of a partition."""

from collections.abc import Mapping

from reference_impl.wire.errors import is_retriable

from .flow import Answer, Ask, Flow, KafkaError, Outcome, Pause, Unreachable
from .metadata import STALE, View, know, refresh

EARLIEST, LATEST = -2, -1
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
Place = tuple[str, int]


def offsets_for(
    view: View,
    wanted: Mapping[Place, int],
    *,
    isolation: int = READ_UNCOMMITTED,
    timeout_ms: int = 30_000,
) -> Flow[dict[Place, int]]:
    """Offset of each partition for its timestamp; -1 where nothing is that new."""
    give_up, attempt = view.now + timeout_ms, 0
    found: dict[Place, int] = {}
    yield from know(view, sorted({topic for topic, _ in wanted}), timeout_ms=timeout_ms)
    while True:
        left = {place: stamp for place, stamp in wanted.items() if place not in found}
        if not left:
            return found
        asks = _asks(view, left, isolation)
        error: KafkaError | Unreachable | None = None
        outcomes = (yield asks) if asks else []
        for outcome in outcomes:
            error = _take(outcome, found) or error
        if len(found) == len(wanted):
            return found
        wake = view.now + view.backoff.delay(attempt)
        if error is not None and (wake >= give_up or _final(error)):
            raise error
        yield Pause(wake)
        attempt += 1
        yield from refresh(view, sorted({topic for topic, _ in left}))


def _final(error: KafkaError | Unreachable) -> bool:
    if isinstance(error, Unreachable):
        return error.kind == "unsupported"
    return not is_retriable(error.code) and error.code not in STALE


def _asks(view: View, left: Mapping[Place, int], isolation: int) -> list[Ask]:
    nodes: dict[int, dict[str, list[dict]]] = {}
    for (topic, partition), stamp in left.items():
        leader = view.leader(topic, partition)
        if leader is None:
            continue
        row = {
            "partition_index": partition,
            "current_leader_epoch": leader.leader_epoch,
            "timestamp": stamp,
        }
        nodes.setdefault(leader.leader, {}).setdefault(topic, []).append(row)
    return [
        Ask(
            node,
            "ListOffsets",
            {
                "replica_id": -1,
                "isolation_level": isolation,
                "topics": [{"name": name, "partitions": rows} for name, rows in topics.items()],
            },
            versions=(1, 1 << 15),
        )
        for node, topics in nodes.items()
    ]


def _take(outcome: Outcome, found: dict[Place, int]) -> KafkaError | Unreachable | None:
    if not isinstance(outcome, Answer):
        return Unreachable(outcome)
    error = None
    for topic in outcome.body["topics"]:
        for part in topic["partitions"]:
            place = topic["name"], part["partition_index"]
            if part["error_code"]:
                error = KafkaError(part["error_code"], about="{}-{}".format(*place))
            else:
                found[place] = part["offset"]
    return error
