"""A set of topic configs is accepted or refused as a whole, in Kafka's words.

Each name must be known to the release and each value readable (`config_values`); on top come the
few rules that hold between two configs or between a config and the broker.

Sources: LogConfig.validate@1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1; observed on all five.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from touchstone.reference_impl.broker.configs import config_values
from touchstone.reference_impl.broker.configs.config_values import ValueRefused
from touchstone.reference_impl.broker.personas import config_rows, topic_configs
from touchstone.reference_impl.broker.personas.config_rows import ConfigDefinition

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

FORMAT = "message.format.version"


@cache
def definitions(release: str) -> Mapping[str, ConfigDefinition]:
    return config_rows.read(topic_configs.TABLE, release)


class TopicSettings:
    """The rules of topic configs that clients give."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def check(self, configs: Mapping[str, str]) -> None:
        """Raise ValueRefused for the first thing that is wrong: names, then values, then pairs."""
        known = definitions(self._broker.persona.release)
        for name in configs:
            if name not in known:
                raise ValueRefused(f"Unknown topic config name: {name}")
        values: dict[str, Any] = {}
        for name, definition in _in_kafkas_order(known.values()):
            if name in configs:
                values[name] = config_values.read(definition, configs[name])
        self._check_lags(values)
        if values.get("remote.storage.enable"):
            raise ValueRefused(
                "Tiered Storage functionality is disabled in the broker. "
                "Topic cannot be configured with remote log storage."
            )

    def left_out(self, configs: Mapping[str, str]) -> frozenset[str]:
        """Configs that are kept and do not hold: a format newer than the protocol (DYN-11).

        Only a change leaves it out; a topic that is created with it has it.
        """
        protocol = self._broker.config.get("inter.broker.protocol.version")
        wanted = configs.get(FORMAT)
        if (
            protocol is None
            or wanted is None
            or not self._broker.persona.quirk("configs.newer-formats-wait")
        ):
            return frozenset()
        newer = config_values.format_order(wanted) > config_values.format_order(protocol)
        return frozenset({FORMAT}) if newer else frozenset()

    def _check_lags(self, values: Mapping[str, Any]) -> None:
        known = definitions(self._broker.persona.release)
        if "max.compaction.lag.ms" not in known:
            return
        low = values.get("min.compaction.lag.ms", 0)
        high = values.get("max.compaction.lag.ms", 2**63 - 1)
        if low > high:
            raise ValueRefused(
                f"conflict topic config setting min.compaction.lag.ms ({low}) > "
                f"max.compaction.lag.ms ({high})"
            )


def _in_kafkas_order(known: Iterable[ConfigDefinition]) -> list[tuple[str, ConfigDefinition]]:
    """ConfigDef reads values in the order in which they were defined; ours is by first letter.

    With two bad values the order decides which one is named. Kafka defines the segment and
    retention settings first and the cleaner's and message settings later.
    """
    early = ("segment.", "flush.", "retention.", "local.retention.", "max.message.bytes")
    return sorted(((d.name, d) for d in known), key=lambda pair: not pair[0].startswith(early))
