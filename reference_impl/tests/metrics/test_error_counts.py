"""Which codes of an answer count: its own, each row's, and the exceptions that Kafka makes."""

from __future__ import annotations

from collections import Counter

import pytest

from touchstone.reference_impl.broker.metrics.error_counts import counted
from touchstone.reference_impl.wire.apis import by_name

TWO = [{"partitions": [{"error_code": 0}, {"error_code": 3}]}]


@pytest.mark.parametrize(
    "api, version, body, codes",
    [
        ("Heartbeat", 4, {"error_code": 27}, {27: 1}),
        ("Heartbeat", 4, {}, {0: 1}),  # what a handler leaves out has its default
        ("Fetch", 12, {"responses": TWO}, {0: 2, 3: 1}),
        ("Fetch", 4, {"responses": TWO}, {0: 2, 3: 1}),  # its own before it has a place
        ("Metadata", 13, {"topics": [{"error_code": 5, **TWO[0]}]}, {0: 1, 3: 1, 5: 1}),
        ("OffsetFetch", 1, {"topics": TWO}, {0: 1, 3: 1}),
        ("OffsetFetch", 2, {"topics": TWO}, {0: 2, 3: 1}),
        ("OffsetFetch", 8, {"groups": [{"topics": TWO}]}, {0: 2, 3: 1}),
        ("FindCoordinator", 3, {}, {0: 1}),
        ("FindCoordinator", 4, {"coordinators": [{"error_code": 15}]}, {15: 1}),
        ("DeleteAcls", 3, {"filter_results": [{"matching_acls": [{}, {}]}]}, {0: 1}),
        ("UnregisterBroker", 0, {}, {}),
        ("UnregisterBroker", 0, {"error_code": 102}, {102: 1}),
        ("LeaveGroup", 5, {"members": None}, {0: 1}),
    ],
)
def test_codes_that_count(api, version, body, codes):
    assert Counter(counted(by_name(api).key, version, body)) == codes
