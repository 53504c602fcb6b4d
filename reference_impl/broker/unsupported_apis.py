"""This table lists the APIs that the broker does not serve, and a test holds it to the truth.

Two kinds: what no release serves its clients (NOT_FOR_CLIENTS), which is Kafka's own behaviour, and
what a persona lists and is MISSING here.

Either closes its connection, as Kafka does with a key it does not know: a hang-up is better than
an invented answer. Each row says which keys and why not. An API that gains a handler must leave
this list, and the list may name nothing that no release has.
"""

from __future__ import annotations

from typing import NamedTuple

# APIs that no release lists to its clients, with what they are for instead. Probed on the client
# listener of all five releases: each request in each version ends the connection.
NOT_FOR_CLIENTS: dict[int, str] = {
    52: "between controllers: Vote",
    53: "between controllers: BeginQuorumEpoch",
    54: "between controllers: EndQuorumEpoch",
    58: "from brokers to controllers: Envelope",
    59: "between controllers: FetchSnapshot",
    62: "from brokers to controllers: BrokerRegistration",
    63: "from brokers to controllers: BrokerHeartbeat",
    67: "from brokers to controllers: AllocateProducerIds",
    70: "between controllers: ControllerRegistration",
    73: "from brokers to controllers: AssignReplicasToDirs",
    82: "between controllers: UpdateRaftVoter",
}


class UnsupportedApis(NamedTuple):
    keys: tuple[int, ...]
    reason: str


MISSING: tuple[UnsupportedApis, ...] = (
    UnsupportedApis((71, 72), "Client telemetry is not received; no release lists it."),
)


def reasons() -> dict[int, UnsupportedApis]:
    """API key -> the row that lists it."""
    return {key: row for row in MISSING for key in row.keys}
