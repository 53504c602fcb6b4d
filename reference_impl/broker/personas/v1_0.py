"""Kafka 1.0.2, with ZooKeeper: message format v2, ids and topics by name only, no flexible version.

Ranges as a real 1.0.2 lists them in ApiVersions.
"""

from touchstone.reference_impl.broker.personas.persona import Persona, ranges, values
from touchstone.reference_impl.broker.personas.quirks import column

BROKER_LISTENER = ranges(
    """
    0:0-5 1:0-6 2:0-2 3:0-5 4:0-1 5:0-0 6:0-4 7:0-1 8:0-3 9:0-3 10:0-1 11:0-2 12:0-1 13:0-1
    14:0-1 15:0-1 16:0-1 17:0-1 18:0-1 19:0-2 20:0-1 21:0-0 22:0-0 23:0-0 24:0-0 25:0-0 26:0-0
    27:0-0 28:0-0 29:0-0 30:0-0 31:0-0 32:0-0 33:0-0 34:0-0 35:0-0 36:0-0 37:0-0
    """
)

PERSONA = Persona(
    release="1.0",
    observed="1.0.2",
    kraft=False,
    broker_listener=BROKER_LISTENER,
    controller_listener={},
    **values(column("1.0")),
)
