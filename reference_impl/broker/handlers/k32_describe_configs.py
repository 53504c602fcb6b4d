"""DescribeConfigs: the configs of topics, of this broker, of its loggers, of groups and metrics.

A broker answers only for its own id, and where the release has dynamic configs for the empty name,
which stands for all brokers. Synonyms come when asked for (v1), types from v3, and documentation
when asked for: where Kafka repeats its prose, ours says where that prose is to be read.

Sources: DYN-17, KIP-133, KIP-226 (v1), KIP-569 (v3); observed on all five releases.
"""

from __future__ import annotations

from collections.abc import Iterable

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.configs import config_view
from touchstone.reference_impl.broker.configs.config_view import ConfiguredNode, Entry
from touchstone.reference_impl.broker.configs.node_ids import node_id
from touchstone.reference_impl.broker.control import topic_names
from touchstone.reference_impl.broker.effects import MALFORMED_REQUEST, Hangup, Request
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
MANUAL = "https://kafka.apache.org/documentation/"
CHAPTERS = {TOPIC: "topicconfigs", BROKER: "brokerconfigs", GROUP: "groupconfigs"}


def handle(
    request: Request, cluster: Cluster, node: ConfiguredNode, persona: Persona, now: int
) -> Struct | Hangup:
    rows = request.body["resources"]
    negative = any(row["resource_type"] < 0 for row in rows)
    if negative and persona.quirk("configs.negative-type-hangs-up"):
        return Hangup("a type of resource below zero")
    if not persona.quirk("configs.repeated-resource-is-answered-twice"):
        rows = list({(r["resource_type"], r["resource_name"]): r for r in rows}.values())
    strange = next((row for row in rows if not _has_configs(persona, row["resource_type"])), None)
    if strange is not None:  # thrown before any resource is looked at: all share the refusal
        refusal = _unexpected(persona, strange["resource_type"], strange["resource_name"])
        return {"results": [_refused(_empty(persona, row), refusal) for row in rows]}
    # Named 100,000 times, a resource is answered as often and described once. Kafka describes it
    # each time, and a request of 1 MB takes memory a hundredfold.
    described: dict[tuple[int, str, tuple[str, ...] | None], Struct] = {}
    results = []
    for row in rows:
        keys = row["configuration_keys"]
        asked = row["resource_type"], row["resource_name"], None if keys is None else tuple(keys)
        if asked not in described:
            described[asked] = _result(request, cluster, node, persona, row)
        results.append(described[asked])
    return {"results": results}


def fail(request: Request, code: int) -> Struct:
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


def _has_configs(persona: Persona, kind: int) -> bool:
    known = persona.quirk("configs.resource-types")
    return kind in (TOPIC, BROKER) or (kind in (LOGGER, METRICS, GROUP) and kind in known)


def _unexpected(persona: Persona, kind: int, name: str) -> ApiError:
    if persona.quirk("configs.unknown-type-is-echoed"):
        return ApiError(ErrorCode.INVALID_REQUEST, MALFORMED_REQUEST)
    types = persona.quirk("configs.resource-types")
    message = f"Unexpected resource type {types.get(kind, 'UNKNOWN')} for resource {name}"
    return ApiError(ErrorCode.INVALID_REQUEST, message)


def _empty(persona: Persona, row: Struct) -> Struct:
    """A resource's answer without configs; a release that does not know the type says 0."""
    kind = row["resource_type"]
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


def _refused(result: Struct, refused: ApiError) -> Struct:
    kept = result["error_message"] if refused.message is None else refused.message
    return result | {"error_code": refused.code, "error_message": kept}


def _result(
    request: Request, cluster: Cluster, node: ConfiguredNode, persona: Persona, row: Struct
) -> Struct:
    kind, name = row["resource_type"], row["resource_name"]
    result = _empty(persona, row)
    try:
        entries = _entries(cluster, node, persona, kind, name)
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
        undefined = kind == BROKER and not config["config_type"]
        name = None if undefined else config["name"]
        config["documentation"] = _documentation(request, persona, kind, name)
    return result


def _documentation(request: Request, persona: Persona, kind: int, name: str | None) -> str | None:
    """What a config is for; some kinds have none and say so even when nobody asks. `name`: None for
    one that is not defined.
    """
    whole = persona.quirk("configs.metrics-have-defaults")
    if kind == LOGGER or (kind == METRICS and not whole):
        return ""
    if name is None or not request.body["include_documentation"] or kind not in CHAPTERS:
        return None
    return f"See {MANUAL}#{CHAPTERS[kind]}_{name}"


def _config(entry: Entry, *, synonyms: bool, default_sources: tuple[int, ...]) -> Struct:
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


def _entries(
    cluster: Cluster, node: ConfiguredNode, persona: Persona, kind: int, name: str
) -> Iterable[Entry]:
    """The configs of one resource, or the error."""
    if kind == TOPIC:
        return _topic(cluster, node, persona, name)
    if kind == BROKER:
        return _broker(node, persona, name)
    if kind == LOGGER:
        if not name:
            raise ApiError(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
        if node_id(name) != node.id:
            message = f"Unexpected broker id, expected {node.id} but received {name}"
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
        return config_view.logger_entries()
    if kind == METRICS:
        if not name:
            message = "Client metrics subscription name must not be empty"
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
        return config_view.metrics_entries(node, name)
    return config_view.group_entries(node, name)


def _topic(cluster: Cluster, node: ConfiguredNode, persona: Persona, name: str) -> list[Entry]:
    message = topic_names.refusal(name, "invalid" if persona.kraft else "illegal")
    if message:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)
    if name not in cluster.topics and persona.quirk("configs.unknown-topic-is-refused"):
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return config_view.topic_entries(node, cluster.overrides_of(name, node.id))


def _broker(node: ConfiguredNode, persona: Persona, name: str) -> list[Entry]:
    for_all = persona.quirk("configs.all-brokers-have-a-name")
    if name == "" and for_all:
        return config_view.dynamic_entries(node)
    if node_id(name) != node.id:
        shown = persona.quirk("configs.wrong-id-prints-as").format(name)
        expected = f"{node.id} or empty string" if for_all else str(node.id)
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"Unexpected broker id, expected {expected}, but received {shown}",
        )
    return config_view.broker_entries(node)
