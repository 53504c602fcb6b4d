"""Where releases differ in what their controllers do and say: one row a behaviour.

A row is the sentence, the value from each release on that changed it, and where it was seen; how it
is read stands in `releases.py`.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.personas.releases import Rows
from touchstone.reference_impl.wire.errors import ErrorCode as E

_THREE = "observed on three nodes of 1.0.2, 2.2.1, 2.8.2, 3.9.2, 4.3.1"

ROWS: Rows = {
    "controller.keeps-eligible-leaders": (
        "Replicas that left an ISR below min.insync.replicas may still lead (KIP-966), and an ISR "
        "may be empty; without the quirk its last member stays in it.",
        {"1.0": False, "4.3": True},
        _THREE,
    ),
    "controller.sorts-reported-isrs": (
        "An ISR that a leader reports is kept in ascending order; without the quirk the newest "
        "member is the last.",
        {"1.0": False, "4.3": True},
        _THREE,
    ),
    "controller.shrinks-isrs-when-it-begins": (
        "A broker that becomes controller takes dead brokers out of every ISR, for one leader "
        "epoch each.",
        {"1.0": False, "2.8": True, "3.9": False},
        _THREE,
    ),
    "controller.drops-isr-changes-when-it-begins": (
        "A broker that becomes controller removes what was announced of changed ISRs; without the "
        "quirk it stays until somebody announces more.",
        {"1.0": False, "2.2": True, "3.9": None},
        "KafkaController.onControllerFailover@1.0.2, 2.2.1, 2.8.2",
    ),
    "controller.elects-when-unclean-is-allowed": (
        "A change of unclean.leader.election.enable elects leaders for what has none, at once.",
        {"1.0": False, "2.2": True, "3.9": False},
        _THREE,
    ),
    "controller.names-the-elections-it-skips": (
        "An election of all partitions answers for each of them; without the quirk for those "
        "alone that changed.",
        {"1.0": True, "2.8": False},
        _THREE,
    ),
    "elections.say-when-needless": (
        "An election that changes nothing answers ELECTION_NOT_NEEDED; without the quirk NONE.",
        {"1.0": False, "2.8": True},
        _THREE,
    ),
    "controller.may-know-newer-broker-epochs": (
        "A request for a later registration of this broker than it knows of is obeyed; without "
        "the quirk it is UNKNOWN_SERVER_ERROR (KIP-380).",
        {"1.0": True, "2.2": False, "2.8": True},
        "observed with LeaderAndIsr on three nodes of 2.2.1 and 2.8.2",
    ),
    "controller.refusals-name-partitions": (
        "LeaderAndIsr with an old controller epoch is refused partition by partition, too.",
        {"1.0": False, "2.2": True, "3.9": False},
        "observed on three nodes of 1.0.2, 2.2.1, 2.8.2",
    ),
    "controller.stops-are-fenced": (
        "StopReplica names a leader epoch, and an older one is refused (KIP-570).",
        {"1.0": False, "2.8": True, "3.9": False},
        "observed on three nodes of 2.8.2",
    ),
    "isr.report-version": (
        "The version of AlterPartition in which a leader reports its ISR to the controller; None "
        "where it writes the state znode itself.",
        {"1.0": None, "2.8": 0, "3.9": 3},
        "AlterIsrManager@2.8.2, AlterPartitionManager@3.9.2",
    ),
    "features.fail-together": (
        "UpdateFeatures refuses the whole request for one bad feature.",
        {"1.0": False, "4.3": True},
        "observed on 2.8.2, 3.9.2, 4.3.1",
    ),
    "features.metadata-version-stays-up": (
        "The metadata version cannot be lowered.",
        {"1.0": True, "3.9": False, "4.3": True},
        "observed on 3.9.2, 4.3.1",
    ),
    "registrations.unknown-broker": (
        "What UnregisterBroker says of a broker nobody knows.",
        {"1.0": "", "4.3": "Broker ID {0} is not currently registered"},
        "observed on 3.9.2, 4.3.1",
    ),
    "quotas.address-stands-alone": (
        "What AlterClientQuotas says of an address that is combined with another entity.",
        {
            "1.0": "IP entity should not be used with user/client ID entity.",
            "3.9": "IP entity shouldnot be combined with User or ClientId",
        },
        "observed on 2.8.2, 3.9.2, 4.3.1",
    ),
    "metadata.leaderless-is-blank": (
        "A partition without a live leader shows neither ISR nor leader epoch in Metadata.",
        {"1.0": True, "2.8": False},
        _THREE,
    ),
    "metadata.leaderless-code": (
        "The code of such a partition from Metadata v6 on; below it is LEADER_NOT_AVAILABLE.",
        {"1.0": E.LEADER_NOT_AVAILABLE, "2.2": E.LISTENER_NOT_FOUND, "2.8": E.LEADER_NOT_AVAILABLE},
        _THREE,
    ),
}
