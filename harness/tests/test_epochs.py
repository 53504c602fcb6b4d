"""Only epochs that Kafka leaves to chance are freed: its release, its end and its role decide."""

from __future__ import annotations

import pytest

from touchstone.harness.judgement.compare import compare
from touchstone.harness.tests.stopped_follower import after_a_stop


@pytest.mark.parametrize("release", ["1.0", "2.2"])
def test_a_followers_stop_is_one_epoch_or_two(release):
    once, twice = (after_a_stop(each, each, release=release) for each in (1, 2))
    assert compare(once, twice) == compare(twice, once) == []


@pytest.mark.parametrize("release", ["2.8", "3.9", "4.3"])
def test_later_releases_fence_its_last_fetch(release):
    once, twice = (after_a_stop(each, each, release=release) for each in (1, 2))
    assert compare(once, twice) != []


@pytest.mark.parametrize("other", [{"how": "kill"}, {"leader": 2}])
def test_who_is_killed_or_leads_does_not_fetch_on(other):
    assert compare(*(after_a_stop(each, each, **other) for each in (1, 2))) != []


def test_how_epochs_stand_to_each_other_is_compared():
    assert compare(after_a_stop(1, 1), after_a_stop(1, 2)) != []
    assert compare(after_a_stop(1, 2), after_a_stop(2, 3)) == []
    assert compare(after_a_stop(1, 1), after_a_stop(0, 0)) != []
