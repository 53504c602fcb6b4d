"""What a share consumer does on a broker that has share groups; the reference broker and real Kafka
are both asked (`harness/tests/clients`).
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from touchstone.reference_impl.client.admin.configs import (
    AlterConfigOp,
    ConfigResource,
    ConfigType,
)
from touchstone.reference_impl.client.flow import ClientError
from touchstone.reference_impl.client.share_consumer import Unacknowledged
from touchstone.reference_impl.client.share_session import AcknowledgeType
from touchstone.reference_impl.io.client import Client

Until = Callable[[Callable[[], bool]], None]


def filled(client: Client, name: str, records: int) -> None:
    """A topic of two partitions, read from its beginning by the group of its name."""
    client.admin.create_topic(name, partitions=2)
    first = [AlterConfigOp("share.auto.offset.reset", "earliest")]
    client.admin.incremental_alter_configs({ConfigResource(ConfigType.GROUP, name): first}).all()
    producer = client.producer()
    for number in range(records):
        producer.send(name, b"%d" % number, partition=number % 2)
    producer.flush()


def implicit(client: Client, name: str, until: Until) -> None:
    """What one member was given it accepts with its next call; nobody is given it again."""
    filled(client, name, 10)
    heard: list = []
    with client.share_consumer(
        name, [name], max_wait_ms=50, on_acknowledged=lambda offsets, error: heard.append(error)
    ) as consumer:
        got: list = []
        until(lambda: got.extend(consumer.poll()) or len(got) == 10)
        assert {row.delivery_count for row in got} == {1}
        with pytest.raises(ClientError, match="implicit"):
            consumer.acknowledge(got[-1])
        assert set(consumer.commit_sync().values()) <= {None}
        assert len(heard) >= 2 and set(heard) == {None}
    with client.share_consumer(name, [name], max_wait_ms=50) as another:
        for _ in range(5):
            assert another.poll() == []


def explicit(client: Client, name: str, until: Until) -> None:
    """Accepted and rejected records are gone, released ones come again, once more counted."""
    filled(client, name, 6)
    with client.share_consumer(
        name, [name], acknowledgement="explicit", max_wait_ms=50
    ) as consumer:
        got: list = []
        kinds = (AcknowledgeType.ACCEPT, AcknowledgeType.REJECT, AcknowledgeType.RELEASE)

        def gather() -> bool:
            for row in consumer.poll():
                got.append(row)
                again = row.delivery_count > 1
                kind = AcknowledgeType.ACCEPT if again else kinds[int(row.value) % 3]
                consumer.acknowledge(row, kind)
            return len(got) >= 8

        until(gather)
        assert sorted((int(row.value), row.delivery_count) for row in got) == [
            (0, 1), (1, 1), (2, 1), (2, 2), (3, 1), (4, 1), (5, 1), (5, 2),
        ]  # fmt: skip
        assert set(consumer.commit_sync().values()) <= {None}


def forgotten(client: Client, name: str, until: Until) -> None:
    """With explicit acknowledgement no record may be forgotten; a renewed one may wait."""
    filled(client, name, 1)
    with client.share_consumer(
        name, [name], acknowledgement="explicit", max_wait_ms=50
    ) as consumer:
        got: list = []
        until(lambda: got.extend(consumer.poll()) or len(got) == 1)
        with pytest.raises(Unacknowledged):
            consumer.poll()
        consumer.acknowledge(got[0], AcknowledgeType.RENEW)
        assert consumer.commit_sync() == {(name, 0): None}
        assert consumer.core.acquisition_lock_timeout_ms > 0
        assert consumer.poll() == []
        consumer.acknowledge(got[0])
        assert consumer.commit_sync() == {(name, 0): None}
        with pytest.raises(ClientError, match="not waiting"):
            consumer.acknowledge(got[0])


def closing(client: Client, name: str, until: Until) -> None:
    """Who closes without an acknowledgement releases; another member has the records at once."""
    filled(client, name, 4)
    with client.share_consumer(name, [name], acknowledgement="explicit", max_wait_ms=50) as first:
        got: list = []
        until(lambda: bool(got.extend(first.poll()) or got))
    with client.share_consumer(name, [name], max_wait_ms=50) as second:
        again: list = []
        until(lambda: again.extend(second.poll()) or len(again) == 4)
        known = {row.value: row.delivery_count for row in again}
        assert all(known[row.value] >= 2 for row in got)


WALKS = (implicit, explicit, forgotten, closing)
