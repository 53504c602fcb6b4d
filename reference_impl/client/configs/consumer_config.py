"""ConsumerConfig: what a consumer checks across names, and which names ours obeys.

Sources: ConsumerConfig.postProcessParsedConfig at 4.3.1, KafkaConsumer at 2.8.2 and 1.0.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

from .client_config import ClientConfig, Option, check_bootstrap, options, parsed
from .definitions import NEWEST
from .parsing import ConfigException, loaded

_ISOLATION = {"read_uncommitted": 0, "read_committed": 1}
_SHARE = ("share.acknowledgement.mode", "share.acquire.mode")
_REFUSED = {  # what the other group protocol alone has a use for (KIP-848)
    "classic": ("group.remote.assignor", *_SHARE),
    "consumer": (
        "partition.assignment.strategy",
        "heartbeat.interval.ms",
        "session.timeout.ms",
        *_SHARE,
    ),
}
_ASSIGNORS = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}
_PACKAGE = "org.apache.kafka.clients.consumer."
_BY_CLIENT = (
    "bootstrap.servers",
    "client.id",
    "enable.auto.commit",  # whether auto.commit.interval.ms is an option at all
    "group.id",
    "group.protocol",
)
_numbers = count(1)  # of consumers without a client.id


def _assignors(names: list[Any]) -> list[str]:
    """The protocol names of assignors given by class name, or by protocol name."""
    known = {_PACKAGE + name: short for name, short in _ASSIGNORS.items()}
    return [known.get(name, name) for name in names]


ALONE = {
    "auto.offset.reset": Option("reset"),
    "check.crcs": Option("check_crcs"),
    "client.rack": Option("rack"),
    "fetch.max.bytes": Option("max_bytes"),
    "fetch.max.wait.ms": Option("max_wait_ms"),
    "fetch.min.bytes": Option("min_bytes"),
    "interceptor.classes": Option(
        "interceptors", lambda names: tuple(loaded(each) for each in names or ())
    ),
    "isolation.level": Option("isolation", _ISOLATION.__getitem__),
    "key.deserializer": Option("key_deserializer"),
    "max.partition.fetch.bytes": Option("partition_max_bytes"),
    "max.poll.records": Option("max_poll_records"),
    "metadata.max.age.ms": Option("metadata_max_age_ms"),
    "request.timeout.ms": Option("request_timeout_ms"),
    "value.deserializer": Option("value_deserializer"),
}
_IN_A_GROUP = {
    "group.instance.id": Option("instance_id"),
    "max.poll.interval.ms": Option("max_poll_interval_ms"),
}
MEMBERS = {
    "classic": {
        "heartbeat.interval.ms": Option("heartbeat_interval_ms"),
        "partition.assignment.strategy": Option("assignors", _assignors),
        "session.timeout.ms": Option("session_timeout_ms"),
    },
    "consumer": {"group.remote.assignor": Option("assignor")},
}


def consumer_config(given: Mapping[str, Any], release: str = NEWEST) -> ClientConfig:
    """A consumer's configuration as Java makes it of these values. Raises ConfigException."""
    config = parsed("consumer", given, release)
    if not config["client.id"]:
        config.values["client.id"] = _client_id(config)
    if config["group.id"] is None:
        if not config.given("enable.auto.commit"):
            config.values["enable.auto.commit"] = False
        elif config["enable.auto.commit"]:
            raise ConfigException(
                "enable.auto.commit cannot be set to true when default group id (null) is used."
            )
    protocol = (config["group.protocol"] or "").lower()
    if protocol == "consumer" and config.release != NEWEST:
        protocol = ""  # 3.9 takes them all
    refused = [name for name in _REFUSED.get(protocol, ()) if str(given.get(name) or "").strip()]
    if refused:
        raise ConfigException(
            f"{', '.join(refused)} cannot be set when group.protocol={protocol.upper()}"
        )
    check_bootstrap(config)
    if config.release == "1.0":
        _outlast_what_waits(config)
    return config


def _outlast_what_waits(config: ClientConfig) -> None:
    """KafkaConsumer's constructor at 1.0.2 (CONS-02); KAFKA-7050 ended that in 2.0."""
    waits = ("session.timeout.ms", "fetch.max.wait.ms")
    if any(config["request.timeout.ms"] <= config[name] for name in waits):
        raise ConfigException(f"request.timeout.ms should be greater than {' and '.join(waits)}")


def consumer_options(config: ClientConfig) -> dict[str, Any]:
    """The keyword arguments of `Consumer` or of the member of a group for this configuration."""
    if not config["group.id"]:
        return options(config, ALONE, elsewhere=_BY_CLIENT)
    protocol = (config["group.protocol"] or "classic").lower()
    found = options(
        config,
        ALONE | _IN_A_GROUP | MEMBERS[protocol],
        elsewhere=(*_BY_CLIENT, "auto.commit.interval.ms"),
    )
    own = config["auto.commit.interval.ms"]
    return found | {"auto_commit_ms": own if config["enable.auto.commit"] else None}


def _client_id(config: ClientConfig) -> str:
    if config.release in ("1.0", "2.2"):
        return f"consumer-{next(_numbers)}"
    if config["group.instance.id"] == "":  # JoinGroupRequest.validateGroupInstanceId
        raise ConfigException("Group instance id must be non-empty string")
    own = config["group.instance.id"] or next(_numbers)
    group = "null" if config["group.id"] is None else config["group.id"]
    return f"consumer-{group}-{own}"
