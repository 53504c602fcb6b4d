"""No case uses a group that another could: cases share somebody else's cluster, sixteen at a time.

A name that a scenario draws is its own. One that is written out is everybody's, and a broker that
makes the group where Kafka refuses to would have it trip over another case.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from touchstone.harness.model import advertised
from touchstone.harness.model.scenario import Ask, Send, asked
from touchstone.harness.run import detection, dry

MAKES = ("JoinGroup", "OffsetCommit", "TxnOffsetCommit", "ConsumerGroupHeartbeat",
         "ShareGroupHeartbeat", "StreamsGroupHeartbeat")  # fmt: skip
# The hash of a name is what it is about; a cluster without streams groups makes none.
WRITTEN_OUT = {
    "offsets.groups-have-a-partition-by-java-hash",
    "rebalance.streams-heartbeats-are-refused-where-streams-are-off",
}


def written_out(scenario: Any) -> Iterator[str]:
    for step in map(asked, scenario.steps):
        if isinstance(step, Ask | Send) and step.api in MAKES:
            name = step.body.get("group_id")
            if isinstance(name, str) and name:
                yield name


@pytest.mark.slow
def test_no_case_uses_a_group_that_another_could() -> None:
    found, claims = set(), detection.functions().values()
    for release, table in advertised.tables().items():
        for claim, function in claims:
            for case in claim.cases(release, table)[-1:]:
                taken = dry.run(function, case, release)
                if taken is not None and any(written_out(taken.scenario)):
                    found.add(claim.id)
    assert found == WRITTEN_OUT
