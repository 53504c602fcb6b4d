"""Kafka 4.3.1: no ZooKeeper, the oldest versions gone (KIP-896), share and streams groups.

Ranges as a real 4.3.1 lists them in ApiVersions, on both listeners.
"""

from touchstone.reference_impl.broker.personas.persona import Feature, Persona, ranges, values
from touchstone.reference_impl.broker.personas.quirks import column

BROKER_LISTENER = ranges(
    """
    0:0-13 1:4-18 2:1-11 3:0-13 8:2-10 9:1-10 10:0-6 11:0-9 12:0-4 13:0-5 14:0-5 15:0-6 16:0-5
    17:0-1 18:0-4 19:2-7 20:1-6 21:0-2 22:0-5 23:2-4 24:0-5 25:0-4 26:0-5 27:1-2 28:0-5 29:1-3
    30:1-3 31:1-3 32:1-4 33:0-2 34:1-2 35:1-5 36:0-2 37:0-3 38:1-3 39:1-2 40:1-2 41:1-3 42:0-2
    43:0-2 44:0-1 45:0-1 46:0-0 47:0-0 48:0-1 49:0-1 50:0-0 51:0-0 55:0-2 57:0-2 60:0-2 61:0-0
    64:0-0 65:0-0 66:0-2 68:0-1 69:0-1 74:0-1 75:0-0 76:1-1 77:1-1 78:1-2 79:1-2 80:0-1 81:0-0
    83:0-0 84:0-0 85:0-1 86:0-0 87:0-1 88:0-0 89:0-0 90:0-1 91:0-0 92:0-0
    """
)
CONTROLLER_LISTENER = ranges(
    """
    1:4-18 17:0-1 18:0-4 19:2-7 20:1-6 29:1-3 30:1-3 31:1-3 32:1-4 33:0-2 36:0-2 37:0-3 38:1-3
    39:1-2 40:1-2 41:1-3 43:0-2 44:0-1 45:0-1 46:0-0 49:0-1 50:0-0 51:0-0 52:0-2 53:0-1 54:0-1
    55:0-2 56:2-3 57:0-2 58:0-0 59:0-1 60:0-2 62:0-4 63:0-2 64:0-0 67:0-0 70:0-0 73:0-0 80:0-1
    81:0-0 82:0-0
    """
)

PERSONA = Persona(
    release="4.3",
    observed="4.3.1",
    kraft=True,
    broker_listener=BROKER_LISTENER,
    controller_listener=CONTROLLER_LISTENER,
    # Versions 0 to 2 are listed for the sake of an old librdkafka, and close the connection.
    listed_but_refused=frozenset({(0, 0), (0, 1), (0, 2)}),
    # Telemetry is hidden while there is no receiver, and answered all the same.
    unlisted_but_served={71: (0, 0), 72: (0, 0)},
    features=(
        Feature("group.version", 0, 1),
        Feature("kraft.version", 0, 1),
        Feature("metadata.version", 7, 30),
        Feature("share.version", 0, 1),
        Feature("streams.version", 0, 1),
        Feature("transaction.version", 0, 2),
        Feature("eligible.leader.replicas.version", 0, 1),
    ),
    finalized={
        "group.version": 1,
        "streams.version": 1,
        "transaction.version": 2,
        "eligible.leader.replicas.version": 1,
        "share.version": 1,
        "metadata.version": 30,
    },
    **values(column("4.3")),
)
