"""The 32 findings of other people's sweeps over brokers that imitate Kafka, each planted.

A row is a finding in the order in which they were collected, with the switches that plant it. Which
claims catch them is a fact of the switches (`caught_by`, held to the truth by test_detection.py).
What is planted nowhere says why. A row that is missing, or a switch that is not there, is red.
"""

from __future__ import annotations

import pytest

from touchstone.harness.run.detection import functions
from touchstone.reference_impl.broker.faults.switches import SWITCHES

FINDINGS: dict[int, tuple[str, tuple[str, ...], str]] = {
    1: ("fetch at mid-batch offset skips the batch", ("fetch-skips-mid-batch",), ""),
    2: ("fetch inside the last batch is empty for ever", ("last-batch-shut",), ""),
    3: ("no topic auto-creation on Metadata", ("auto-creation-never",), ""),
    4: ("IncrementalAlterConfigs append and subtract", ("config-lists-fixed",), ""),
    5: ("keyless records on compacted topics", ("keyless-on-compacted-accepted",), ""),
    6: ("ListOffsets by timestamp", ("list-offsets-by-time-off",), ""),
    7: ("CreatePartitions answers an empty array", ("new-partitions-not-answered",), ""),
    8: ("OffsetCommit metadata lost", ("commit-metadata-lost",), ""),
    9: ("DescribeConfigs empty", ("described-configs-empty",), ""),
    10: ("transaction timeout not validated", ("transaction-timeout-not-validated",), ""),
    11: ("EndTxn range too narrow for abort", ("end-txn-range-narrow",), ""),
    12: ("one extra rebalance after max-poll exceeded", ("rebalance-too-many",), ""),
    13: ("commit during rebalance wrong error", ("rebalance-not-told-to-commits",), ""),
    14: ("UNKNOWN_MEMBER_ID during concurrent joins", ("joining-members-forgotten",), ""),
    15: ("aborted records visible to read_committed", ("aborted-visible",), ""),
    16: ("truncated SyncGroup assignment", ("assignment-truncated",), ""),
    17: ("max.message.bytes not enforced", ("max-message-bytes-ignored",), ""),
    18: ("metadata missing after mixed CreateTopics", ("mixed-creations-lost",), ""),
    19: ("timeout error inside Fetch", ("fetch-waits-time-out",), ""),
    20: ("OffsetFetch omits leader epoch by name", ("fetch-by-name-omits-leader-epoch",), ""),
    21: ("epoch lookup below log start returns -1", ("epochs-below-the-start-unknown",), ""),
    22: ("end offset one too high", ("log-end-one-too-high",), ""),
    23: ("OffsetCommit and OffsetFetch 0 refused", ("version-0-refused",), ""),
    24: ("newer ApiVersions not negotiated down", ("newer-api-versions-refused",), ""),
    25: ("versions advertised that are not there", ("unserved-versions-advertised",), ""),
    26: ("duplicates", ("duplicate-appended",), ""),
    27: ("lost acknowledged write", ("lost-write",), ""),
    28: ("inconsistent offset and value", ("offset-off-by-one",), ""),
    29: ("aborted read", ("aborted-visible",), ""),
    30: ("spurious zero offset", ("nothing-committed-is-zero",), ""),
    31: ("stuck consumer", ("marker-not-written", "last-batch-shut"), ""),
    32: ("delayed end applied to a later transaction", ("fencing-skipped",), ""),
}


def test_every_finding_is_planted_or_says_why_not():
    assert sorted(FINDINGS) == list(range(1, 33))
    silent = [number for number, (_, switches, why) in FINDINGS.items() if not (switches or why)]
    assert not silent, "neither a switch nor a reason"


@pytest.mark.parametrize("number", FINDINGS)
def test_what_plants_a_finding_is_caught_by_a_claim_that_is_there(number):
    known = functions()
    for name in FINDINGS[number][1]:
        assert name in SWITCHES, f"finding {number}: no switch {name}"
        assert SWITCHES[name].caught_by in known, f"nothing catches {name}"
