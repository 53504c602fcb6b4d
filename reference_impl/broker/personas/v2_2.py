"""Kafka 2.2.1, with ZooKeeper: all schemas still hand-written in Java, fetch from leader epochs.

Ranges as a real 2.2.1 lists them in ApiVersions.
"""

from touchstone.reference_impl.broker.personas.persona import Persona, ranges, values
from touchstone.reference_impl.broker.personas.quirks import column

BROKER_LISTENER = ranges(
    """
    0:0-7 1:0-10 2:0-5 3:0-7 4:0-2 5:0-1 6:0-5 7:0-2 8:0-6 9:0-5 10:0-2 11:0-4 12:0-2 13:0-2
    14:0-2 15:0-2 16:0-2 17:0-1 18:0-2 19:0-3 20:0-3 21:0-1 22:0-1 23:0-2 24:0-1 25:0-1 26:0-1
    27:0-0 28:0-2 29:0-1 30:0-1 31:0-1 32:0-2 33:0-1 34:0-1 35:0-1 36:0-1 37:0-1 38:0-1 39:0-1
    40:0-1 41:0-1 42:0-1 43:0-0
    """
)

PERSONA = Persona(
    release="2.2",
    observed="2.2.1",
    kraft=False,
    broker_listener=BROKER_LISTENER,
    controller_listener={},
    **values(column("2.2")),
)
