"""ShareConsumerConfig: what a member of a share group may not set, and which names ours obeys.

Source: ShareConsumerConfig at 4.3.1; its definitions are those of ConsumerConfig.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .client_config import ClientConfig, Option, check_bootstrap, options, parsed
from .consumer_config import ALONE
from .definitions import NEWEST
from .parsing import ConfigException

_REFUSED = (
    "auto.offset.reset",
    "enable.auto.commit",
    "auto.commit.interval.ms",
    "group.instance.id",
    "isolation.level",
    "partition.assignment.strategy",
    "interceptor.classes",
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "group.protocol",
    "group.remote.assignor",
)
_AS_ALONE = (
    "check.crcs",
    "client.rack",
    "fetch.max.bytes",
    "fetch.max.wait.ms",
    "fetch.min.bytes",
    "key.deserializer",
    "max.poll.records",
    "request.timeout.ms",
    "value.deserializer",
)
OBEYED = {name: ALONE[name] for name in _AS_ALONE} | {
    "max.poll.interval.ms": Option("max_poll_interval_ms"),
    "share.acknowledgement.mode": Option("acknowledgement"),
    "share.acquire.mode": Option("acquire_mode", str.lower),
}


def share_consumer_config(given: Mapping[str, Any], release: str = NEWEST) -> ClientConfig:
    """A share consumer's configuration as Java makes it. Raises ConfigException."""
    refused = [name for name in _REFUSED if name in given]
    if refused:
        raise ConfigException(f"{', '.join(refused)} cannot be set when using a share group.")
    config = parsed("consumer", given, release)
    check_bootstrap(config)
    return config


def share_consumer_options(config: ClientConfig) -> dict[str, Any]:
    """The keyword arguments of `ShareConsumer` for this configuration."""
    return options(config, OBEYED, elsewhere=("bootstrap.servers", "client.id", "group.id"))
