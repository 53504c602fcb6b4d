"""Topics of coordinators are made as the broker's settings say."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.tests.broker.one_broker import OneBroker

GROUP, TRANSACTION = 0, 1
SETTINGS = {
    "offsets.topic.segment.bytes": "2000000",
    "transaction.state.log.segment.bytes": "3000000",
    "transaction.state.log.min.isr": "1",
}


@pytest.mark.parametrize("release", ["1.0", "4.3"])
@pytest.mark.parametrize(
    ("kind", "topic", "told", "otherwise"),
    [
        (GROUP, "__consumer_offsets", {"segment.bytes": "2000000"}, {"segment.bytes": "104857600"}),
        (
            TRANSACTION,
            "__transaction_state",
            {"segment.bytes": "3000000", "min.insync.replicas": "1"},
            {"segment.bytes": "104857600", "min.insync.replicas": "1"},
        ),
    ],
)
def test_segments_are_as_large_as_is_told(release, kind, topic, told, otherwise):
    for settings, wanted in ((SETTINGS, told), ({}, otherwise)):
        one = OneBroker(release, **settings)
        one.ask("FindCoordinator", 1, {"key": "a", "key_type": kind})
        configs = one.cluster.topics[topic].configs
        assert configs.items() >= wanted.items()
