"""DescribeConfigs: the configs of topics, of this broker, of its loggers, of groups and metrics.

A broker answers only for its own id, and where the release has dynamic configs for the empty name,
which stands for all brokers. Synonyms come when asked for (v1), types from v3, and documentation
when asked for: where Kafka repeats its prose, ours says where that prose is to be read.

Sources: DYN-17, KIP-133, KIP-226 (v1), KIP-569 (v3); observed on all five releases.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.broker import Broker
from touchstone.reference_impl.broker.configs import config_view
from touchstone.reference_impl.broker.configs.config_view import Entry
from touchstone.reference_impl.broker.control import topic_names
from touchstone.reference_impl.broker.effects import MALFORMED_REQUEST, Request
from touchstone.reference_impl.wire.errors import ErrorCode

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
MANUAL = "https://kafka.apache.org/documentation/"
CHAPTERS = {TOPIC: "topicconfigs", BROKER: "brokerconfigs", GROUP: "groupconfigs"}


def handle(request: Request, broker: Broker, now: int) -> dict[str, Any]:
    rows = request.body["resources"]
    if "described-configs-empty" in broker.switches:
        return {"results": [{**_empty(broker, row), "error_code": ErrorCode.NONE} for row in rows]}
    if not broker.persona.quirk("configs.repeated-resource-is-answered-twice"):
        rows = list({(r["resource_type"], r["resource_name"]): r for r in rows}.values())
    strange = next((row for row in rows if not _has_configs(broker, row["resource_type"])), None)
    if strange is not None:  # thrown before any resource is looked at: all share the refusal
        refusal = _unexpected(broker, strange["resource_type"], strange["resource_name"])
        return {"results": [_refused(_empty(broker, row), refusal) for row in rows]}
    return {"results": [_result(request, broker, row) for row in rows]}


def fail(request: Request, code: int) -> dict[str, Any]:
    return {
        "results": [
            {
                "error_code": code,
                "error_message": None,
                "resource_type": row["resource_type"],
                "resource_name": row["resource_name"],
            }
            for row in request.body["resources"]
        ]
    }


def _has_configs(broker: Broker, kind: int) -> bool:
    known = broker.persona.quirk("configs.resource-types")
    return kind in (TOPIC, BROKER) or (kind in (LOGGER, METRICS, GROUP) and kind in known)


def _unexpected(broker: Broker, kind: int, name: str) -> ApiError:
    persona = broker.persona
    if persona.quirk("configs.unknown-type-is-echoed"):
        return ApiError(ErrorCode.INVALID_REQUEST, MALFORMED_REQUEST)
    types = persona.quirk("configs.resource-types")
    message = f"Unexpected resource type {types.get(kind, 'UNKNOWN')} for resource {name}"
    return ApiError(ErrorCode.INVALID_REQUEST, message)


def _empty(broker: Broker, row: dict[str, Any]) -> dict[str, Any]:
    """A resource's answer without configs; a release that does not know the type says 0."""
    persona, kind = broker.persona, row["resource_type"]
    known = persona.quirk("configs.resource-types")
    return {
        "error_code": ErrorCode.NONE,
        "error_message": "" if persona.quirk("configs.success-has-empty-message") else None,
        "resource_type": kind
        if kind in known or persona.quirk("configs.unknown-type-is-echoed")
        else 0,
        "resource_name": row["resource_name"],
        "configs": [],
    }


def _refused(result: dict[str, Any], refused: ApiError) -> dict[str, Any]:
    kept = result["error_message"] if refused.message is None else refused.message
    return result | {"error_code": refused.code, "error_message": kept}


def _result(request: Request, broker: Broker, row: dict[str, Any]) -> dict[str, Any]:
    persona = broker.persona
    kind, name = row["resource_type"], row["resource_name"]
    result = _empty(broker, row)
    try:
        entries = _entries(broker, kind, name)
    except ApiError as refused:
        return _refused(result, refused)
    keys = row["configuration_keys"]
    if keys == [] and persona.quirk("configs.no-keys-means-all"):
        keys = None
    default_sources: tuple[int, ...] = (config_view.DEFAULT,)
    if persona.quirk("configs.v0-never-says-default"):
        default_sources = ()
    elif kind == TOPIC and persona.quirk("configs.topic-default-means-no-override"):
        default_sources = (config_view.STATIC, config_view.DEFAULT)
    synonyms = bool(request.body["include_synonyms"])
    result["configs"] = [
        _config(entry, synonyms=synonyms, default_sources=default_sources)
        for entry in config_view.chosen(entries, keys)
    ]
    for config in result["configs"]:
        config["documentation"] = _documentation(request, broker, kind, config["name"])
    return result


def _documentation(request: Request, broker: Broker, kind: int, name: str) -> str | None:
    """What a config is for; some kinds have none and say so even when nobody asks."""
    whole = broker.persona.quirk("configs.metrics-have-defaults")
    if kind == LOGGER or (kind == METRICS and not whole):
        return ""
    if not request.body["include_documentation"] or kind not in CHAPTERS:
        return None
    return f"See {MANUAL}#{CHAPTERS[kind]}_{name}"


def _config(entry: Entry, *, synonyms: bool, default_sources: tuple[int, ...]) -> dict[str, Any]:
    return {
        "name": entry.name,
        "value": entry.value,
        "read_only": entry.read_only,
        "config_source": entry.source,
        "is_default": entry.source in default_sources,
        "is_sensitive": entry.sensitive,
        "synonyms": [
            {"name": s.name, "value": s.value, "source": s.source}
            for s in (entry.synonyms if synonyms else ())
        ],
        "config_type": entry.type_code,
    }


def _entries(broker: Broker, kind: int, name: str) -> Iterable[Entry]:
    """The configs of one resource, or the error."""
    if kind == TOPIC:
        return _topic(broker, name)
    if kind == BROKER:
        return _broker(broker, name)
    if kind == LOGGER:
        if name != str(broker.id):
            message = f"Unexpected broker id, expected {broker.id} but received {name}"
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
        return config_view.logger_entries()
    if kind == METRICS:
        if not name:
            message = "Client metrics subscription name must not be empty"
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
        return config_view.metrics_entries(broker, name)
    return config_view.group_entries(broker, name)


def _topic(broker: Broker, name: str) -> list[Entry]:
    persona = broker.persona
    message = topic_names.refusal(name, "invalid" if persona.kraft else "illegal")
    if message:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)
    cluster = broker.cluster
    if name not in cluster.topics and persona.quirk("configs.unknown-topic-is-refused"):
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return config_view.topic_entries(broker, cluster.overrides_of(name, broker.id))


def _broker(broker: Broker, name: str) -> list[Entry]:
    persona = broker.persona
    for_all = persona.quirk("configs.all-brokers-have-a-name")
    if name == "" and for_all:
        return config_view.dynamic_entries(broker)
    if not name.lstrip("+-").isdigit():
        message = f"Broker id must be an integer, but it is: {name}"
        raise ApiError(ErrorCode.INVALID_REQUEST, message)
    if int(name) != broker.id:
        shown = persona.quirk("configs.wrong-id-prints-as").format(name)
        expected = f"{broker.id} or empty string" if for_all else str(broker.id)
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"Unexpected broker id, expected {expected}, but received {shown}",
        )
    return config_view.broker_entries(broker)
