"""What a case leaves in the logs in which coordinators keep groups, transactions and shares.

A case notes where such a log ends, does something and reads from there. The log is everybody's:
only the case's own records are compared, opened (harness/judgement/internal_logs.py).
"""

from typing import Any

from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Ask
from touchstone.harness.model.steps import fetch, list_offsets

OFFSETS, SHARE_STATES = "__consumer_offsets", "__share_group_state"
ENDED = Ref("log end", "topics[0].partitions[0].offset")


def log_end(log: str, partition: int = 0, *, name: str = "log end") -> Ask:
    """Where the log ends now."""
    return list_offsets(log, partition, name=name)


def since(log: str, partition: int = 0) -> Ask:
    """What has been appended since `log_end`."""
    return fetch(log, partition, ENDED, name="log")


def written(log: str, *steps: Any) -> list[Any]:
    """These steps, and what they left in the log."""
    return [log_end(log), *steps, since(log)]
