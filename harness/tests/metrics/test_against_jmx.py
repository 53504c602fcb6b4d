"""What the reference broker measures is what a real 4.3.1 says through JMX of the same work."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest

from touchstone.harness.tests.metrics import workload
from touchstone.harness.tests.metrics.places import Measured, ours, real
from touchstone.reference_impl.io.client import Client

pytestmark = [
    pytest.mark.live, pytest.mark.java, pytest.mark.maven, pytest.mark.slow,
    pytest.mark.timeout(300),
]  # fmt: skip
GROUPS_SECONDS = 120
STABLE = "kafka.coordinator.group:type=GroupMetadataManager,name=NumGroupsStable:Value"
# What is not compared, and why.
APART = re.compile(
    # a real broker asks its own controller by the wire, and clients look until something is there
    r"request=(?!Produce|Fetch|ListOffsets)"
    # what coordinators write is as long as the ids of members, which chance gives
    r"|topic=__consumer_offsets"
    # and so are all topics together, once there are groups
    r"|name=(Bytes\w+|MessagesIn|TotalProduceRequests)PerSec:"
)
BEFORE_GROUPS, WITH_GROUPS = "before groups", "with groups"


def once_counted(measure: Callable[[], Measured], members: workload.Members) -> Measured:
    """What is measured as soon as groups are: 4.3.1 counts them once a minute."""
    deadline = time.monotonic() + GROUPS_SECONDS
    while not (found := measure())[STABLE] and time.monotonic() < deadline:
        for member in members * 5:
            member.poll()
    return found


@pytest.fixture(scope="module")
def measured() -> dict[str, tuple[Measured, Measured]]:
    """The real broker's and ours, at two moments of the same work."""
    found: dict[str, list[Measured]] = {BEFORE_GROUPS: [], WITH_GROUPS: []}
    for place in (real, ours):
        with place(1, workload.SETTINGS) as cluster, Client(cluster.bootstrap) as client:
            workload.data(client)
            found[BEFORE_GROUPS].append(cluster.measure())
            members = workload.groups(client)
            found[WITH_GROUPS].append(once_counted(cluster.measure, members))
            for member in members:
                member.close()
    return {moment: (real, ours) for moment, (real, ours) in found.items()}


def test_every_name_is_one_of_kafkas(measured):
    for theirs, mine in measured.values():
        compared = {name for name in mine if not APART.search(name)}
        assert compared - theirs.keys() == set()
        assert len(compared) > 60


def test_records_bytes_requests_and_errors_are_counted_as_kafka_counts_them(measured):
    theirs, mine = measured[BEFORE_GROUPS]
    names = [n for n in mine if n in theirs and ("topic=" not in n or "topic=measured" in n)]
    names = [n for n in names if "request=" not in n or not APART.search(n)]
    assert {name: mine[name] for name in names} == {name: theirs[name] for name in names}


def test_what_kafka_counts_of_this_work_is_counted(measured):
    theirs, mine = measured[BEFORE_GROUPS]
    kept = re.compile(r"BrokerTopicMetrics.*topic=|RequestMetrics,name=(Requests|Errors)PerSec,")
    names = [n for n in theirs if kept.search(n) and n.endswith(":Count") and theirs[n]]
    assert {name for name in names if not APART.search(name)} - mine.keys() == set()


def test_gauges_of_groups_partitions_and_logs_are_kafkas(measured):
    theirs, mine = measured[WITH_GROUPS]
    gauges = re.compile(r"coordinator|ReplicaManager|kafka.(cluster|log|controller)")
    names = [n for n in mine if n in theirs and gauges.search(n) and not APART.search(n)]
    assert {name: mine[name] for name in names} == {name: theirs[name] for name in names}
    assert mine[STABLE] == 1
