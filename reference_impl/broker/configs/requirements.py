"""What settings of a running broker must keep together, and what its parts refuse (KIP-226).

A check is asked when one of its settings is altered. Those of KafkaConfig come first ("requirement
failed"), as Kafka makes the whole configuration anew before it asks any part of the broker; parts
say no as "Invalid dynamic configuration".

Sources: KafkaConfig.validateValues, DynamicThreadPool, LogCleaner.validateReconfiguration,
DynamicLogConfig, ConnectionQuotas, DynamicMetricsReporters at 2.8.2, 3.9.2 and 4.3.1; each message
observed on the three, with every dynamic setting of each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.configs import config_view
from touchstone.reference_impl.broker.configs.config_values import ValueRefused, in_dynamic_update
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

KAFKAS_OWN = "org.apache.kafka."  # how a class is called that every broker has
_REPORTER = f"{KAFKAS_OWN}common.metrics.JmxReporter"
_CLEANER_ROOM = 1 << 20  # bytes of the cleaners' buffer, of which each thread needs more
_POOLS = (
    "background.threads", "num.io.threads", "num.network.threads", "num.replica.fetchers",
    "num.recovery.threads.per.data.dir", "remote.log.manager.copier.thread.pool.size",
    "remote.log.manager.expiration.thread.pool.size",
    "remote.log.manager.follower.thread.pool.size", "remote.log.reader.threads",
)  # fmt: skip
OF_ONE = ("cordoned.log.dirs",)  # of what is altered, what belongs to one broker alone
_GROUPS = ("consumer", "share", "streams")


class Altered:
    """What is to be set for a broker (or for all), and with it each value that it would have."""

    def __init__(self, broker: Broker, configs: Mapping[str, str]) -> None:
        self.broker, self.configs = broker, configs

    def text(self, name: str) -> str:
        """The value that would be; "" where there is none."""
        return (self.configs.get(name) or self.before(name)).strip()

    def before(self, name: str) -> str:
        return config_view.setting(self.broker, name) or ""

    def number(self, name: str) -> int | None:
        """The value that would be, from a coarser setting where it has none of its own."""
        for each, factor in ((name, 1), *config_view.COARSER.get(name, ())):
            if text := self.text(each):
                return int(text) * factor
        return None


def check(broker: Broker, configs: Mapping[str, str]) -> None:
    """Raise ValueRefused where `configs`, each of which is a value, cannot be set together."""
    altered = Altered(broker, configs)
    for names, hold in _CHECKS:
        for name in names:
            if name in configs:
                hold(altered, name)


def _unmet(why: str) -> ValueRefused:
    return ValueRefused(f"requirement failed: {why}")


# --- KafkaConfig


def _pairs(altered: Altered, name: str) -> None:
    for entry in filter(None, map(str.strip, altered.text(name).split(","))):
        if ":" not in entry:
            raise ValueRefused(
                f"Error parsing configuration property '{name}': begin 0, end -1,"
                f" length {len(entry)}"
            )


def _at_least(least: int) -> Callable[[Altered, str], None]:
    def hold(altered: Altered, name: str) -> None:
        if int(altered.text(name)) < least:
            raise _unmet(f"{name} must be greater than or equal to {least}")

    return hold


def _retention(altered: Altered, name: str) -> None:
    """Any negative number is unlimited."""
    if int(altered.text(name)) == 0:
        raise _unmet(f"{name} must be unlimited (-1) or, greater than or equal to 1")


def _cleaner_room(altered: Altered, name: str) -> None:
    threads = altered.number("log.cleaner.threads") or 0
    if threads == 0:  # it is divided by
        if altered.broker.persona.kraft:
            raise ValueRefused("/ by zero")
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, None)
    room = altered.number("log.cleaner.dedupe.buffer.size") or 0
    if room // threads <= _CLEANER_ROOM:
        raise _unmet("log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.")


def _compression(altered: Altered, name: str) -> None:
    codecs = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
    if altered.configs[name].lower() not in codecs:
        raise _unmet(
            f"{name} : {altered.configs[name]} is not valid. Valid options are {','.join(codecs)}"
        )


def _no_address(altered: Altered, name: str) -> None:
    if int(altered.text(name)) == 0 and not altered.text(f"{name}.overrides"):
        raise _unmet(f"{name} can be set to zero only if {name}.overrides property is set.")


def _cordoned(altered: Altered, name: str) -> None:
    wanted = [each for each in map(str.strip, altered.text(name).split(",")) if each]
    has = (altered.text("log.dirs") or altered.text("log.dir")).split(",")
    missing = [each for each in wanted if each not in {*map(str.strip, has)}]
    if missing and wanted != ["*"]:
        raise _unmet(
            f"All entries in {name} must be present in log.dirs or log.dir. Missing entries :"
            f" {', '.join(missing)}"
        )


def _assignment_interval(altered: Altered, name: str) -> None:
    most = name.replace(".assignment", ".max.assignment")
    if int(altered.text(name)) > (altered.number(most) or 0):
        raise ValueRefused(f"{name} must be less than or equal to {most}")


# --- parts of the broker


def _pool(altered: Altered, name: str) -> None:
    """A pool of threads may at most double or halve."""
    wanted, has = int(altered.text(name)), int(altered.before(name) or altered.text(name))
    said = f"Dynamic thread count update validation failed for {name}={wanted}, value should"
    if wanted < 1:
        raise in_dynamic_update(f"{said} be at least 1")
    if wanted < has // 2:
        raise in_dynamic_update(f"{said} be at least half the current value {has}")
    if wanted > has * 2:
        raise in_dynamic_update(f"{said} not be greater than double the current value {has}")


def _cleaner_threads(altered: Altered, name: str) -> None:
    wanted, has = int(altered.text(name)), int(altered.before(name))
    said = "Log cleaner threads cannot be"
    if wanted < has // 2:
        raise in_dynamic_update(f"{said} reduced to less than half the current value {has}")
    if wanted > has * 2:
        raise in_dynamic_update(f"{said} increased to more than double the current value {has}")


def _local_retention(altered: Altered, name: str) -> None:
    """What stays on the broker is part of what is kept; -2 is all of it."""
    whole = name.replace("log.local.", "log.")
    local, kept = int(altered.text(name)), altered.number(whole)
    if kept is None or kept < 0 or local == -2:
        return
    why = ""
    if local == -1:
        why = f"Value must not be -1 as {whole} value is set as {kept}."
    elif local > kept:
        why = f"Value must not be more than {whole} property value: {kept}"
    if why:
        raise in_dynamic_update(f"Invalid value {local} for configuration {name}: {why}")


def _connections(altered: Altered, name: str) -> None:
    if int(altered.text(name)) == 0:
        raise in_dynamic_update(f"Invalid {name} 0")


def _reporters(altered: Altered, name: str) -> None:
    classes = filter(None, map(str.strip, altered.text(name).split(",")))
    if any(each != _REPORTER for each in classes):
        raise in_dynamic_update(
            f"Validation of dynamic config update of Set({name}) failed with class"
            " class kafka.server.DynamicMetricsReporters"
        )


# In Kafka's order: which settings a check is about, and what it holds them to.
_CHECKS: tuple[tuple[tuple[str, ...], Callable[[Altered, str], None]], ...] = (
    (("listener.security.protocol.map", "max.connections.per.ip.overrides"), _pairs),
    (("log.roll.ms",), _at_least(1)),
    (("log.roll.jitter.ms",), _at_least(0)),
    (("log.retention.ms",), _retention),
    (("log.cleaner.threads", "log.cleaner.dedupe.buffer.size"), _cleaner_room),
    (("compression.type",), _compression),
    (("max.connections.per.ip",), _no_address),
    (OF_ONE, _cordoned),
    (tuple(f"group.{each}.assignment.interval.ms" for each in _GROUPS), _assignment_interval),
    (_POOLS, _pool),
    (("log.cleaner.threads",), _cleaner_threads),
    (("log.local.retention.ms", "log.local.retention.bytes"), _local_retention),
    (("max.connections", "max.connection.creation.rate"), _connections),
    (("metric.reporters",), _reporters),
)
