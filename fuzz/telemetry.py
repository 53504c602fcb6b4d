"""A payload of PushTelemetry: OTLP metrics, which are protocol buffers (KIP-714).

Written by hand, because a message is only fields of a number, a wire type and a value, and a fuzzer
wants to know where each length stands. The nesting is MetricsData > ResourceMetrics > ScopeMetrics
> Metric > Gauge > NumberDataPoint of opentelemetry-proto's metrics.proto.
"""

from __future__ import annotations

import struct

from touchstone.reference_impl.wire.interpreter import unsigned_varint

VARINT, FIXED64, LENGTH = 0, 1, 2
NAME = b"org.apache.kafka.producer.connection.creation.total"


def field(number: int, content: bytes) -> bytes:
    """A field that holds bytes: another message, or text."""
    return unsigned_varint(number << 3 | LENGTH) + unsigned_varint(len(content)) + content


def fixed64(number: int, content: bytes) -> bytes:
    return unsigned_varint(number << 3 | FIXED64) + content


def metrics_payload(value: float, name: bytes = NAME) -> bytes:
    """One gauge with one point."""
    time = fixed64(3, struct.pack("<Q", 1_700_000_000_000_000_000))
    point = time + fixed64(4, struct.pack("<d", value))
    metric = field(1, name) + field(5, field(1, point))
    return field(1, field(2, field(2, metric)))
