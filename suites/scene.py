"""What the suites of reading share: a log with known batches, and questions for several partitions.

Two facts make their claims exact. Timestamps hang on the run's clock, so that no retention takes
the records away while a case looks at them. And every value has ten bytes, so that a batch of one
record has SIZE bytes in format 2 (61 of header, 17 of record) and limits can be put between
batches. Nothing here judges.
"""

from collections.abc import Callable, Sequence
from typing import Any

from touchstone.harness.model.placeholders import Now, Records, TopicId
from touchstone.harness.model.steps import FETCH_BY_ID, PARTITION_MAX_BYTES, a_topic, produce

SIZE = 78
ONE, TWO, THREE = b"first-----", b"second----", b"third-----"
VALUES = (ONE, TWO, THREE)


def among(*versions: int) -> Callable[[dict[str, Any]], bool]:
    """For `where`: the versions at which an answer changed its shape, not each one between."""
    return lambda row: row["version"] in versions


def batch(*values: bytes, at: int = 0, **how: Any) -> Records:
    """One batch of these values, stamped with the run's clock moved by `at` milliseconds."""
    return Records({"magic": 2, "records": list(values), "timestamp": Now(at), **how})


def stamped(*times: int, **how: Any) -> Records:
    """One batch of a record per time; times are moments of the run's clock."""
    records = [
        {"value": VALUES[index % 3], "timestamp": Now(time)} for index, time in enumerate(times)
    ]
    return Records({"magic": 2, "records": records, **how})


def appended(topic: Any, *batches: Any, partition: int = 0) -> list[Any]:
    """Each batch produced on its own, so that each stays a batch of the log."""
    return [
        produce(topic, partition, one, name=f"append {partition}/{index}")
        for index, one in enumerate(batches)
    ]


def a_log(topic: Any, *batches: Any, configs: Any = None) -> list[Any]:
    """A topic of one partition that holds these batches."""
    return [a_topic(topic, configs=configs), appended(topic, *batches)]


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


def _word(topic: Any, by_id: bool) -> Any:
    return TopicId(topic) if by_id and not isinstance(topic, bytes) else topic
