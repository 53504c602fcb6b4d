"""Steps of recorded cases: each is there, in its order, and none is missing that was taken."""

from __future__ import annotations

import pytest

from touchstone.harness.model.recordings import Store
from touchstone.harness.results import steps


def test_nothing_was_asked_of_a_target_that_was_not_run():
    assert steps.of(None) == []


@pytest.mark.slow
@pytest.mark.parametrize("suite", ["topics", "rebalance", "connections"])
def test_every_step_that_kafka_was_asked_has_its_time(suite):
    store = Store("4.3")
    for case in store.cases(suite):
        seen = store.transcript(suite, case)
        made = steps.of(seen)
        assert [one["step"] for one in made] == list(seen.header.labels)
        assert not [one for one in made if one["at_ms"] is None], case
        assert all(one["ms"] >= 0 for one in made)
