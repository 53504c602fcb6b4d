"""What a persona lists and this broker does not serve yet, as data that a test holds to the truth.

Such a request closes its connection, as Kafka does with a key it does not know: a lie that is told
in ApiVersions (the real release lists the key) is better met by a hang-up than by an invented
answer. Each row says which keys, why not, and which issue brings them. An API that gains a handler
must leave this list, and the list may name nothing that no release has.
"""

from __future__ import annotations

from typing import NamedTuple


class Missing(NamedTuple):
    keys: tuple[int, ...]
    reason: str
    issue: int


LOG_AND_CLUSTER, GROUPS = 4, 5

MISSING: tuple[Missing, ...] = (
    Missing(
        (52, 53, 54, 58, 59, 62, 63, 67, 70, 80, 81, 82),
        "The KRaft quorum and the registration of brokers with it do not exist here.",
        LOG_AND_CLUSTER,
    ),
    Missing((73,), "A broker's replicas have no directories to choose between.", LOG_AND_CLUSTER),
    Missing((71, 72), "Client telemetry is not received; no release lists it.", LOG_AND_CLUSTER),
    Missing((88, 89), "Streams groups come with their coordinator (KIP-1071).", GROUPS),
)


def reasons() -> dict[int, Missing]:
    """API key -> the row that lists it."""
    return {key: row for row in MISSING for key in row.keys}
