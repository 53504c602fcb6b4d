"""ProducerConfig: what a producer checks across names, and which names ours obeys.

Idempotence is on by default from 3.0 on, and is then turned off, not refused, where `retries` or
`acks` contradict it; who asks for it gets the contradiction as an error (PROD-08). Before 3.0
(KafkaProducer.configureInflightRequests and its kin at 2.8.2) idempotence raises what is not set.

Sources: ProducerConfig.postProcessParsedConfig, KafkaProducer.configureDeliveryTimeout at 4.3.1;
KafkaProducer at 1.0.2 and 2.8.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

from touchstone.reference_impl.wire.records.compression import GZIP, LZ4, NONE, SNAPPY, ZSTD

from .client_config import LOG, ClientConfig, Option, check_bootstrap, options, parsed
from .definitions import NEWEST
from .parsing import ConfigException

CODECS = {"none": NONE, "gzip": GZIP, "snappy": SNAPPY, "lz4": LZ4, "zstd": ZSTD}
_IN_FLIGHT = "max.in.flight.requests.per.connection"
_AT_MOST_5 = f"Must set {_IN_FLIGHT} to at most 5 to use the idempotent producer."
_BY_CLIENT = (
    "bootstrap.servers",
    "client.id",
    "key.serializer",
    "transaction.timeout.ms",
    "transactional.id",
    "value.serializer",
)
_INT_MAX = (1 << 31) - 1
_numbers = count(1)  # of producers without a client.id (PROD-03)

OBEYED = {
    "acks": Option("acks", int),
    "batch.size": Option("batch_size"),
    "compression.type": Option("compression", CODECS.__getitem__),
    "delivery.timeout.ms": Option("delivery_timeout_ms"),
    "enable.idempotence": Option("idempotence"),
    "linger.ms": Option("linger_ms"),
    "max.block.ms": Option("max_block_ms"),
    "max.request.size": Option("max_request_size"),
    "metadata.max.age.ms": Option("metadata_max_age_ms"),
    "metadata.max.idle.ms": Option("metadata_max_idle_ms"),
    "request.timeout.ms": Option("request_timeout_ms"),
    "retries": Option("retries"),
}


def producer_config(given: Mapping[str, Any], release: str = NEWEST) -> ClientConfig:
    """A producer's configuration as Java makes it of these values. Raises ConfigException."""
    config = parsed("producer", given, release)
    config.values["acks"] = _acks(config["acks"])
    _name_codec(config)
    if release in ("1.0", "2.2", "2.8"):
        _raise_for_idempotence(config)
    else:
        _settle_idempotence(config)
    _settle_delivery_timeout(config)
    before_2_8 = release in ("1.0", "2.2")
    if not config.given("client.id") or (before_2_8 and not config["client.id"]):
        own = None if before_2_8 else config["transactional.id"]
        config.values["client.id"] = f"producer-{own or next(_numbers)}"
    if config["transaction.two.phase.commit.enable"] and config.given("transaction.timeout.ms"):
        raise ConfigException(
            "Cannot set transaction.timeout.ms when transaction.two.phase.commit.enable is set to"
            " true. Transactions will not expire with two-phase commit enabled."
        )
    check_bootstrap(config)
    return config


def producer_options(config: ClientConfig) -> dict[str, Any]:
    """The keyword arguments of `Producer` for this configuration."""
    return options(config, OBEYED, elsewhere=_BY_CLIENT)


def _acks(text: str) -> str:
    if text.strip().lower() == "all":
        return "-1"
    try:
        return str(int(text))
    except ValueError:
        raise ConfigException(f"Invalid configuration value for 'acks': {text}") from None


def _name_codec(config: ClientConfig) -> None:
    """CompressionType.forName, where no validator has looked before (up to 2.8)."""
    if config["compression.type"] not in CODECS:
        raise ConfigException(f"Unknown compression name: {config['compression.type']}")


def _settle_idempotence(config: ClientConfig) -> None:
    asked = config.given("enable.idempotence")
    on = config["enable.idempotence"]
    contradictions = []
    if on and config["retries"] == 0:
        contradictions.append("retries is set to 0.")
        if asked:
            raise ConfigException(
                "Must set retries to non-zero when using the idempotent producer."
            )
    if on and config["acks"] != "-1":
        contradictions.append(f"acks is set to {config['acks']}, not set to 'all'.")
        if asked:
            raise ConfigException(
                "Must set acks to all in order to use the idempotent producer."
                " Otherwise we cannot guarantee idempotence."
            )
    if on and config[_IN_FLIGHT] > 5:
        raise ConfigException(
            f"To use the idempotent producer, {_IN_FLIGHT} must be set to at most 5."
            f" Current value is {config[_IN_FLIGHT]}."
            if config.release == NEWEST
            else _AT_MOST_5
        )
    for why in contradictions:
        LOG.info("Idempotence will be disabled because %s", why)
        config.values["enable.idempotence"] = False
    if not config["enable.idempotence"] and config.given("transactional.id"):
        raise ConfigException("Cannot set a transactional.id without also enabling idempotence.")


def _raise_for_idempotence(config: ClientConfig) -> None:
    if config.given("transactional.id"):
        if config.given("enable.idempotence") and not config["enable.idempotence"]:
            raise ConfigException(
                "Cannot set a transactional.id without also enabling idempotence."
            )
        config.values["enable.idempotence"] = True
    if not config["enable.idempotence"]:
        return
    if not config.given("retries"):
        config.values["retries"] = _INT_MAX
    elif not config["retries"]:
        raise ConfigException("Must set retries to non-zero when using the idempotent producer.")
    if config[_IN_FLIGHT] > 5:
        raise ConfigException(_AT_MOST_5)
    if not config.given("acks"):
        config.values["acks"] = "-1"
    elif config["acks"] != "-1":
        raise ConfigException(
            "Must set acks to all in order to use the idempotent producer."
            " Otherwise we cannot guarantee idempotence."
        )


def _settle_delivery_timeout(config: ClientConfig) -> None:
    """At least `linger.ms` + `request.timeout.ms` (KIP-91); 1.0 has no such name."""
    least = min(min(config["linger.ms"], _INT_MAX) + config["request.timeout.ms"], _INT_MAX)
    timeout = config["delivery.timeout.ms"]
    if timeout is None or timeout >= least:
        return
    why = "delivery.timeout.ms should be equal to or larger than linger.ms + request.timeout.ms"
    if config.given("delivery.timeout.ms"):
        raise ConfigException(why)
    LOG.warning("%s. Setting it to %s.", why, least)
    config.values["delivery.timeout.ms"] = least
