"""Kafka 3.9.2 as a KRaft node: the last release that also reads the oldest versions.

Ranges as a real 3.9.2 lists them in ApiVersions, on both listeners; it lists the same, and the same
features, when it serves the preview of KIP-848.
"""

from touchstone.reference_impl.broker.personas.persona import (
    Feature,
    Persona,
    Setting,
    ranges,
    values,
)
from touchstone.reference_impl.broker.personas.quirks import column

BROKER_LISTENER = ranges(
    """
    0:0-11 1:0-17 2:0-9 3:0-12 8:0-9 9:0-9 10:0-6 11:0-9 12:0-4 13:0-5 14:0-5 15:0-5 16:0-5
    17:0-1 18:0-4 19:0-7 20:0-6 21:0-2 22:0-5 23:0-4 24:0-5 25:0-4 26:0-4 27:0-1 28:0-4 29:0-3
    30:0-3 31:0-3 32:0-4 33:0-2 34:0-2 35:0-4 36:0-2 37:0-3 38:0-3 39:0-2 40:0-2 41:0-3 42:0-2
    43:0-2 44:0-1 45:0-0 46:0-0 47:0-0 48:0-1 49:0-1 50:0-0 51:0-0 55:0-2 57:0-1 60:0-1 61:0-0
    64:0-0 65:0-0 66:0-1 68:0-0 69:0-0 74:0-0 75:0-0 80:0-0 81:0-0
    """
)
CONTROLLER_LISTENER = ranges(
    """
    1:0-17 7:0-3 17:0-1 18:0-4 19:0-7 20:0-6 29:0-3 30:0-3 31:0-3 32:0-4 33:0-2 36:0-2 37:0-3
    38:0-3 39:0-2 40:0-2 41:0-3 43:0-2 44:0-1 45:0-0 46:0-0 49:0-1 50:0-0 51:0-0 52:0-1 53:0-1
    54:0-1 55:0-2 56:0-3 57:0-1 58:0-0 59:0-1 60:0-1 62:0-4 63:0-1 64:0-0 67:0-0 70:0-0 73:0-0
    80:0-0 81:0-0 82:0-0
    """
)

# The coordinator that was written for KIP-848 then has all groups, classic ones too (KafkaConfig.
# isNewGroupCoordinatorEnabled@3.9.0), so these are quirks of groups of any kind.
PREVIEW = Setting(
    "group.coordinator.rebalance.protocols",
    "consumer",
    {
        "groups.consumer-protocol-is-on": True,
        "groups.newer-coordinator": True,
        "groups.assignments-are-always-shown": True,
        "groups.ties-are-broken-as-by": "java",
        "groups.syncs-are-signs-of-life": False,
        "groups.tombstones-need-a-generation": False,
        "groups.loaded-ones-are-listed-meanwhile": False,
        "offsets.groups-end-with-their-last": False,
        "offsets.partitions-are-answered-once": False,
        "offsets.too-large-commits-are-told-apart": False,
    },
    "observed on 3.9.2 with group.coordinator.rebalance.protocols=classic,consumer",
)

PERSONA = Persona(
    release="3.9",
    observed="3.9.2",
    kraft=True,
    broker_listener=BROKER_LISTENER,
    controller_listener=CONTROLLER_LISTENER,
    # Telemetry is hidden while there is no receiver, and answered all the same.
    unlisted_but_served={71: (0, 0), 72: (0, 0)},
    features=(
        Feature("kraft.version", 0, 1),
        Feature("metadata.version", 1, 21),
    ),
    finalized={"metadata.version": 21},
    settings=(PREVIEW,),
    **values(column("3.9")),
)
