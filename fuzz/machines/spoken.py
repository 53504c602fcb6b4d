"""Group protocols that a broker lists and does not speak.

Kafka 3.9 lists the APIs of KIP-848 and refuses each with UNSUPPORTED_VERSION unless
group.coordinator.rebalance.protocols names `consumer`; a share group likewise wants its feature
(observed on 3.9.2, 4.3.1). So a broker is asked for a group that nobody has before a machine is
walked on it.
"""

from __future__ import annotations

from collections.abc import Callable

from touchstone.fuzz.machines.walk import Ranges
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

CONSUMER_GROUP_DESCRIBE, SHARE_GROUP_DESCRIBE = 69, 77
PROTOCOLS = {CONSUMER_GROUP_DESCRIBE: {68, 69}, SHARE_GROUP_DESCRIBE: {76, 77, 78, 79}}
"""What is asked, and the keys of the protocol that it stands for."""
NOBODYS = "touchstone-fuzz-nobody"


def spoken(ranges: Ranges, ask: Callable[[int, int, Struct], Struct | None]) -> Ranges:
    """The served (lowest, highest) versions by key, without protocols that are refused whole."""
    refused: set[int] = set()
    for key in PROTOCOLS.keys() & ranges.keys():
        body = {"group_ids": [NOBODYS], "include_authorized_operations": False}
        answer = ask(key, ranges[key][0], body)
        groups = answer["groups"] if answer else []
        if any(row["error_code"] == ErrorCode.UNSUPPORTED_VERSION for row in groups):
            refused |= PROTOCOLS[key]
    return {key: served for key, served in ranges.items() if key not in refused}
