"""Topics of one broker that hold known batches, and where their logs end."""

from collections.abc import Callable
from typing import Any

from touchstone.harness.model.expect import Expectation, answer
from touchstone.harness.model.scenario import Ask
from touchstone.harness.model.steps import a_topic, list_offsets, produce

END = "topics[0].partitions[0].offset"


def among(*versions: int) -> Callable[[dict[str, Any]], bool]:
    """For `where`: the versions at which an answer changed its shape, not each one between."""
    return lambda row: row["version"] in versions


def appended(topic: Any, *batches: Any, partition: int = 0) -> list[Any]:
    """Each batch produced on its own, so that each stays a batch of the log."""
    return [
        produce(topic, partition, one, name=f"append {partition}/{index}")
        for index, one in enumerate(batches)
    ]


def a_log(topic: Any, *batches: Any, configs: Any = None) -> list[Any]:
    """A topic of one partition that holds these batches."""
    return [a_topic(topic, configs=configs), appended(topic, *batches)]


def log_end(topic: Any, partition: int = 0, *, name: str = "end") -> Ask:
    """ListOffsets of where the log ends."""
    return list_offsets(topic, partition, name=name)


def ends_at(offset: int, *, step: str = "end") -> Expectation:
    """The step, a `log_end`, answers this offset."""
    return answer(step, END).is_(offset)
