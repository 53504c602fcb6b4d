"""Client metrics subscriptions are checked, kept and shown; `data/client_telemetry.py` obeys them.

A subscription is a config resource with a name of its own and three settings. It is there while it
has one.

Sources: KIP-714; ClientMetricsConfigs.validate, ConfigurationControlManager at 3.9.2 and 4.3.1;
ConfigCommand tried on both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from touchstone.reference_impl import linear
from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.configs import config_values, config_view
from touchstone.reference_impl.broker.configs.config_values import ValueRefused
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

INTERVAL, MATCH = "interval.ms", "match"
SHORTEST_MS, LONGEST_MS = 100, 3_600_000
MATCHED = frozenset(
    {
        "client_instance_id", "client_id", "client_software_name", "client_software_version",
        "client_source_address", "client_source_port",
    }
)  # fmt: skip


def current(broker: Broker, name: str) -> dict[str, str]:
    return dict(broker.cluster.metrics_configs.get(name, {}))


def change(broker: Broker, name: str, configs: Mapping[str, str], *, validate_only: bool) -> None:
    """Let `configs` be what the subscription says; none at all ends it. Raises ApiError."""
    if not name:
        message = "Subscription name can't be empty"
        raise ApiError(ErrorCode.INVALID_REQUEST, message)
    for key, text in configs.items():
        _check(broker, key, text)
    if validate_only:
        return
    broker.cluster.metrics_configs.pop(name, None)
    if configs:
        broker.cluster.metrics_configs[name] = dict(configs)


def _check(broker: Broker, key: str, text: str) -> None:
    definition = config_view.METRICS.get(key)
    if definition is None:
        message = f"Unknown client metrics configuration: {key}"
        raise ApiError(ErrorCode.INVALID_REQUEST, message)
    try:
        value = config_values.read(definition, text)
    except ValueRefused as refused:
        if broker.persona.quirk("configs.unread-metrics-interval-is-no-known-error"):
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR) from None
        raise ApiError(ErrorCode.INVALID_CONFIG, refused.message) from None
    if key == INTERVAL and not SHORTEST_MS <= value <= LONGEST_MS:
        bounds = f"{SHORTEST_MS} and {LONGEST_MS} (1 hour)"
        message = f"Invalid value {text} for {INTERVAL}, interval must be between {bounds}"
        raise ApiError(ErrorCode.INVALID_REQUEST, message)
    if key == MATCH:
        for pattern in value:
            _check_pattern(pattern)


def _check_pattern(pattern: str) -> None:
    """Raise ApiError for no parameter of a client, or an expression that is not taken.

    Java's look-around, back references and possessive operators are refused here and not by Kafka.
    """
    parts = [part.strip() for part in pattern.split("=")]
    try:
        if len(parts) != 2 or parts[0] not in MATCHED:
            raise ValueError("no such parameter")
        linear.matcher(parts[1])
    except ValueError:
        message = f"Illegal client matching pattern: {pattern}"
        raise ApiError(ErrorCode.INVALID_CONFIG, message) from None
