"""This table lists the APIs that no release serves its clients, and a test holds it to the truth.

All others have a handler. One of these closes its connection, as Kafka does with a key that it does
not know: a hang-up is better than an invented answer.
"""

from __future__ import annotations

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
