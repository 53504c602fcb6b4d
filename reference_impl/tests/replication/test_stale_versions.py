"""An ISR that a leader wants over a version it has not seen: nothing is written (REPL-15)."""

import pytest

from touchstone.reference_impl.tests.replication.wires import Wires


@pytest.mark.parametrize("release", ["1.0", "2.2", "2.8", "4.3"])
@pytest.mark.parametrize(("versions_behind", "isr"), [(0, (0, 1)), (1, (0, 1, 2))])
def test_a_stale_version_changes_no_isr(release, versions_behind, isr):
    """The leader goes on with the ISR it knows, and proposes nothing meanwhile."""
    wires = Wires(release)
    wires.topic()
    leader, stored = wires.replica(0), wires.cluster.partition("t", 0)
    stored.partition_epoch += versions_behind  # somebody wrote, and the leader has not heard of it
    wires.brokers[0].replicas.isr_wanted(leader, (0, 1), wires.now)
    wires.run()
    assert (leader.isr, tuple(stored.isr), leader.proposed) == (isr, isr, None)
