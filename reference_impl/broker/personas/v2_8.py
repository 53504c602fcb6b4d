"""Kafka 2.8.2, with ZooKeeper: flexible versions, features, topic ids.

Ranges as a real 2.8.2 lists them in ApiVersions.
"""

from touchstone.reference_impl.broker.personas.persona import Persona, ranges, values
from touchstone.reference_impl.broker.personas.quirks import column

BROKER_LISTENER = ranges(
    """
    0:0-9 1:0-12 2:0-6 3:0-11 4:0-5 5:0-3 6:0-7 7:0-3 8:0-8 9:0-7 10:0-3 11:0-7 12:0-4 13:0-4
    14:0-5 15:0-5 16:0-4 17:0-1 18:0-3 19:0-7 20:0-6 21:0-2 22:0-4 23:0-4 24:0-3 25:0-3 26:0-3
    27:0-1 28:0-3 29:0-2 30:0-2 31:0-2 32:0-4 33:0-2 34:0-2 35:0-2 36:0-2 37:0-3 38:0-2 39:0-2
    40:0-2 41:0-2 42:0-2 43:0-2 44:0-1 45:0-0 46:0-0 47:0-0 48:0-1 49:0-1 50:0-0 51:0-0 56:0-0
    57:0-0 60:0-0 61:0-0
    """
)

PERSONA = Persona(
    release="2.8",
    observed="2.8.2",
    kraft=False,
    broker_listener=BROKER_LISTENER,
    controller_listener={},
    **values(column("2.8")),
)
