"""Settings of topics, brokers, groups and client metrics subscriptions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import NamedTuple

from touchstone.reference_impl.wire.schema import Struct

from ..flow import ANY, Flow, KafkaError
from .driver import AdminCore, Call
from .results import Results, error_in, picked


class ConfigType(IntEnum):
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigResource(NamedTuple):
    """Whose settings; a BROKER's name is its id, or "" for the default of all."""

    type: int
    name: str

    @property
    def node(self) -> int | str:
        """The broker that knows: itself, where it is one (KafkaAdminClient.nodeFor)."""
        ours = self.type in (ConfigType.BROKER, ConfigType.BROKER_LOGGER)
        return int(self.name) if ours and self.name else ANY


class ConfigOp(IntEnum):
    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class AlterConfigOp(NamedTuple):
    """One change of one setting; APPEND and SUBTRACT are for lists, DELETE has no value."""

    name: str
    value: str | None
    operation: ConfigOp = ConfigOp.SET


class ConfigSynonym(NamedTuple):
    name: str
    value: str | None
    source: int


class ConfigEntry(NamedTuple):
    """A sensitive setting has no value. `config_source` is -1 before DescribeConfigs v1."""

    name: str
    value: str | None
    read_only: bool = False
    config_source: int = -1
    is_sensitive: bool = False
    config_type: int = 0
    documentation: str | None = None
    synonyms: tuple[ConfigSynonym, ...] = ()


class ConfigAdmin(AdminCore):
    def describe_configs(
        self,
        resources: Iterable[tuple[int, str]],
        names: Iterable[str] | None = None,
        *,
        synonyms: bool = False,
        documentation: bool = False,
    ) -> Flow[Results[ConfigResource, dict[str, ConfigEntry]]]:
        """Setting name -> entry, of each resource; `names` (None: all) are those wanted."""
        wanted = None if names is None else list(names)

        def body(keys: list[ConfigResource]) -> Struct:
            rows = [
                {"resource_type": key.type, "resource_name": key.name, "configuration_keys": wanted}
                for key in keys
            ]
            return {
                "resources": rows,
                "include_synonyms": synonyms,
                "include_documentation": documentation,
            }

        def read(
            answer: Struct, keys: list[ConfigResource]
        ) -> dict[ConfigResource, dict[str, ConfigEntry] | KafkaError]:
            return {
                _resource(row): error_in(row, row["resource_name"])
                or {each["name"]: _entry(each) for each in row["configs"]}
                for row in answer["results"]
            }

        call = Call("DescribeConfigs", body, read, target=_node)
        return (yield from self._carry_out(call, (ConfigResource(*each) for each in resources)))

    def incremental_alter_configs(
        self,
        changes: Mapping[ConfigResource, Iterable[AlterConfigOp]],
        *,
        validate_only: bool = False,
    ) -> Flow[Results[ConfigResource, None]]:
        """Change what is named and nothing else (KIP-339, from 2.3)."""

        def rows(key: ConfigResource) -> list[Struct]:
            return [
                {"name": op.name, "config_operation": int(op.operation), "value": op.value}
                for op in changes[key]
            ]

        call = _altering("IncrementalAlterConfigs", rows, validate_only)
        return (yield from self._carry_out(call, changes))

    def alter_configs(
        self,
        settings: Mapping[ConfigResource, Mapping[str, str | None]],
        *,
        validate_only: bool = False,
    ) -> Flow[Results[ConfigResource, None]]:
        """Replace all dynamic settings of each resource; what is not named is deleted."""

        def rows(key: ConfigResource) -> list[Struct]:
            return [{"name": name, "value": value} for name, value in settings[key].items()]

        return (
            yield from self._carry_out(_altering("AlterConfigs", rows, validate_only), settings)
        )

    def list_config_resources(self, types: Iterable[int] = ()) -> Flow[list[ConfigResource]]:
        """Who has settings of its own, of these types (none: all). Before version 1 (4.1) brokers
        know client metrics subscriptions only.
        """
        wanted = [int(each) for each in types]

        def read(answer: Struct, keys: list[str]) -> dict[str, list[ConfigResource] | KafkaError]:
            found = [
                ConfigResource(
                    row.get("resource_type", ConfigType.CLIENT_METRICS), row["resource_name"]
                )
                for row in answer["config_resources"]
            ]
            return dict.fromkeys(keys, error_in(answer) or found)

        only_metrics = wanted == [ConfigType.CLIENT_METRICS]
        call = Call(
            "ListConfigResources",
            lambda _: {"resource_types": wanted},
            read,
            versions=(0 if only_metrics else 1, 1),
        )
        return (yield from self._once(call))


def _node(key: ConfigResource) -> int | str:
    return key.node


def _resource(row: Struct) -> ConfigResource:
    return ConfigResource(row["resource_type"], row["resource_name"])


def _entry(row: Struct) -> ConfigEntry:
    same = tuple(picked(ConfigSynonym, each) for each in row.get("synonyms") or ())
    return picked(ConfigEntry, row, synonyms=same)


def _altering(
    api: str, rows: Callable[[ConfigResource], list[Struct]], validate_only: bool
) -> Call[ConfigResource, None]:
    def body(keys: list[ConfigResource]) -> Struct:
        resources = [
            {"resource_type": key.type, "resource_name": key.name, "configs": rows(key)}
            for key in keys
        ]
        return {"resources": resources, "validate_only": validate_only}

    def read(answer: Struct, keys: list[ConfigResource]) -> dict[ConfigResource, None | KafkaError]:
        return {_resource(row): error_in(row, row["resource_name"]) for row in answer["responses"]}

    return Call(api, body, read, target=_node)
