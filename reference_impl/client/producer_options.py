"""What a producer is told: times in ms, sizes in bytes.

`configs.producer_config` makes these of Java's names. Defaults are those of Kafka 4.3.1 but for
`linger_ms`, which is 0 where nobody configures it, as it was before 4.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from touchstone.reference_impl.wire.records import NONE

from .flow import Backoff, ClientError
from .intake import Rules
from .sender import Sending

_INT_MAX = (1 << 31) - 1
_MOST_IN_FLIGHT = 5  # of an idempotent producer: brokers remember so many batches (KIP-98)


@dataclass(frozen=True, slots=True)
class ProducerOptions:
    """Raises ClientError for an idempotent producer that could not be one (PROD-08)."""

    acks: int = -1
    idempotence: bool | None = None  # None: where nothing contradicts it
    compression: int = NONE
    batch_size: int = 16_384
    linger_ms: int = 0
    buffer_memory: int = 32 << 20
    max_block_ms: int = 60_000
    max_in_flight: int = 5
    max_request_size: int = 1 << 20
    retries: int = _INT_MAX
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    reconnect_backoff_ms: int = 50
    reconnect_backoff_max_ms: int = 1_000
    request_timeout_ms: int = 30_000
    delivery_timeout_ms: int = 120_000
    metadata_max_age_ms: int = 300_000
    metadata_max_idle_ms: int = 300_000
    key_serializer: Any = None
    value_serializer: Any = None
    partitioner: Any = None
    ignore_keys: bool = False
    adaptive: bool = True
    availability_timeout_ms: int = 0
    interceptors: Any = ()
    configs: Mapping[str, Any] | None = None  # what serializers and interceptors are told

    def __post_init__(self) -> None:
        if self.idempotence and not self._may_be_idempotent:
            why = "idempotence needs acks=all, retries and at most 5 requests in flight (PROD-08)"
            raise ClientError(why)

    @property
    def _may_be_idempotent(self) -> bool:
        return self.acks == -1 and self.retries > 0 and self.max_in_flight <= _MOST_IN_FLIGHT

    @property
    def idempotent(self) -> bool:
        return self._may_be_idempotent if self.idempotence is None else self.idempotence

    def sending(self) -> Sending:
        return Sending(
            self.acks,
            self.compression,
            self.retries,
            self.request_timeout_ms,
            self.max_request_size,
            self.max_in_flight,
            Backoff(self.reconnect_backoff_ms, self.reconnect_backoff_max_ms),
        )

    def rules(self) -> Rules:
        return Rules(
            self.max_request_size,
            self.key_serializer,
            self.value_serializer,
            self.partitioner,
            self.ignore_keys,
            self.adaptive,
            self.availability_timeout_ms,
            self.configs,
        )
