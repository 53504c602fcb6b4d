"""Requests about nothing that real Kafka never answers, seen on 3.9.2 and 4.3.1."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.tests.broker.one_broker import WAITING, OneBroker


@pytest.mark.parametrize(
    ("release", "api", "version", "body", "waits"),
    [
        ("3.9", "AddPartitionsToTxn", 4, {"transactions": []}, True),
        ("4.3", "AddPartitionsToTxn", 5, {"transactions": []}, True),
        ("3.9", "OffsetFetch", 8, {"groups": [], "require_stable": False}, True),
        ("3.9", "OffsetFetch", 9, {"groups": [], "require_stable": False}, True),
        ("4.3", "OffsetFetch", 8, {"groups": [], "require_stable": False}, False),
    ],
)
def test_a_request_about_nothing_may_never_be_answered(release, api, version, body, waits):
    broker = OneBroker(release)
    assert (broker.ask(api, version, body) == WAITING) is waits
    broker.now += 3_600_000
    assert not waits or broker.brokers[0].tick(broker.now) == []
