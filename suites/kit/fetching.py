"""A Fetch of several partitions, and of a session (KIP-227).

Source: schema Fetch.
"""

from collections.abc import Sequence
from typing import Any

from touchstone.harness.model.placeholders import Ref, TopicId
from touchstone.harness.model.scenario import Ask, Quiet
from touchstone.harness.model.steps import FETCH_BY_ID, PARTITION_MAX_BYTES

SESSION = Ref("full", "session_id")
LISTENS_MS = 700
"""How long a Fetch that must wait is listened to: longer than the half second that clients let one
wait by default (fetch.max.wait.ms), which is when a wait that is cut short would end.
"""


def nothing_comes(connection: str = "b", name: str | None = None) -> Quiet:
    """A Fetch waits on this connection, and goes on waiting."""
    return Quiet(connection, name, LISTENS_MS)


def part(partition: int = 0, offset: Any = 0, **fields: Any) -> dict[str, Any]:
    """One partition of a Fetch, with a consumer's defaults."""
    return {
        "partition": partition,
        "current_leader_epoch": -1,
        "fetch_offset": offset,
        "partition_max_bytes": PARTITION_MAX_BYTES,
        **fields,
    }


def question(
    version: int, topics: Sequence[tuple[Any, Sequence[dict[str, Any]]]], **fields: Any
) -> dict[str, Any]:
    """The body of a Fetch of several partitions: ((topic, (part(...), ...)), ...)."""
    by_id = version >= FETCH_BY_ID
    return {
        "max_wait_ms": 0,
        "min_bytes": 1,
        "max_bytes": 50 << 20,
        "topics": [
            {("topic_id" if by_id else "topic"): _word(topic, by_id), "partitions": list(parts)}
            for topic, parts in topics
        ],
        **fields,
    }


def full(case: Any, topic: Any, *parts: Any, name: str = "full", **fields: Any) -> Ask:
    """A full fetch that opens a session of these partitions, of partition 0 if none is named."""
    body = question(case.version, [(topic, parts or [part()])], session_epoch=0, **fields)
    return Ask("Fetch", case.version, body, name=name)


def more(
    case: Any,
    epoch: int,
    name: str,
    topics: Sequence[Any] = (),
    *,
    session: Any = SESSION,
    connection: str | None = None,
    **fields: Any,
) -> Ask:
    """An incremental fetch of a session."""
    body = question(case.version, topics, session_id=session, session_epoch=epoch, **fields)
    return Ask("Fetch", case.version, body, name=name, connection=connection)


def _word(topic: Any, by_id: bool) -> Any:
    return TopicId(topic) if by_id and not isinstance(topic, bytes) else topic
