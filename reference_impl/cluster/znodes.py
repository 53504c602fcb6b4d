"""Kafka keeps these paths in ZooKeeper, each with its text and whether a session owns it.

One place per node. `picture` says what the tree of a cluster has to hold, `steps` how to get from
one picture to the next; neither knows ZooKeeper, which is behind `io/zookeeper.py`. Texts equal
Kafka's to the byte: keys come in the order of the hash map Kafka wrote them from (`hash_order`).
How releases differ comes in as a `Form`.

Sources: ZkUtils@1.0.2, ZkData@2.2.1, 2.8.2; BRK-16..29, CTL-01, DYN-03; all texts were read from
ZooKeeper after 1.0.2, 2.2.1 and 2.8.2 had written them.
"""

from __future__ import annotations

import contextlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import quote, unquote

from touchstone.reference_impl.cluster import hash_order
from touchstone.reference_impl.cluster.announcements import ISR_CHANGES, LOG_DIR_EVENTS
from touchstone.reference_impl.cluster.client_settings import QUOTAS, ClientSettings, Entity, entity
from touchstone.reference_impl.cluster.endpoints import PLAINTEXT
from touchstone.reference_impl.cluster.hash_order import partition_hash
from touchstone.reference_impl.cluster.scram_credentials import NAMES, NUMBERS, ScramCredential
from touchstone.reference_impl.cluster.topology import NO_LEADER, Cluster, Node, Partition, Topic

EMPTY_CONFIG = '{"version":1,"config":{}}'
DEFAULT = "<default>"
BLOCK = 1000  # producer ids that a broker takes at once (BRK-26)
CHANGE = "/config/changes/config_change_"
DELETED_TOPICS, TOPICS, IDS = "/admin/delete_topics", "/brokers/topics", "/brokers/ids"
SEQUENCE, CONTROLLER, CLUSTER_ID = "/brokers/seqid", "/controller", "/cluster/id"
PRODUCER_IDS = "/latest_producer_id_block"
PREFER, REASSIGN = "/admin/preferred_replica_election", "/admin/reassign_partitions"
ROOTS = (
    "/admin", DELETED_TOPICS, "/brokers", IDS, SEQUENCE, TOPICS, "/cluster", "/config",
    "/config/changes", "/consumers", ISR_CHANGES, PRODUCER_IDS, LOG_DIR_EVENTS,
)  # fmt: skip
_KINDS = {"user": "users", "client-id": "clients", "ip": "ips"}
_BROKER_KEYS = (
    "features", "listener_security_protocol_map", "endpoints", "rack", "jmx_port", "host",
    "timestamp", "port", "version",
)  # fmt: skip


T = TypeVar("T")


class RegistryError(Exception):
    """The registry does not take a broker, in Kafka's words where Kafka has some."""


class Znode(NamedTuple):
    text: str | None = None  # None: a node without data
    ephemeral: bool = False  # goes with the session of who wrote it


class Form(NamedTuple):
    """In what the registries of releases differ."""

    config_roots: tuple[str, ...] = ("topics", "clients")
    broker_version: int = 4  # 5 has features (KIP-584)
    topic_version: int = 1  # 3 has a topic id and running reassignments
    growth_keeps_order: bool = False  # new partitions of a small topic come after the old ones
    taken_id: str = ""  # what is said of an id that is registered: path, owner, session
    changes_hash_as: Literal["scala", "java"] | None = None  # whose map an ISR change was
    acl_patterns: bool = True  # ACLs know prefixes (KIP-290); their folders are made at once
    acl_changes_shout: bool = False  # TOPIC, not Topic, in what announces a change of ACLs

    @classmethod
    def of(cls, quirk: Callable[[str], Any]) -> Form:
        """The form that a persona's quirks name; ValueError for a release that has no ZooKeeper."""
        form = cls(*(quirk(f"registry.{name.replace('_', '-')}") for name in cls._fields))
        if form.config_roots is None:
            raise ValueError("this release has no ZooKeeper: it is for 1.0, 2.2 and 2.8")
        return form


class Times(NamedTuple):
    """Since when brokers are registered and the controller is elected, in ms since 1970."""

    registered: Mapping[int, int]
    elected: int


class Step(NamedTuple):
    """`create`, `set`, `delete`, or `notify`: a new node with the next number after its path."""

    verb: str
    path: str
    znode: Znode


def picture(
    cluster: Cluster,
    form: Form,
    times: Times,
    standing: Mapping[str, Znode],
    deleting: Iterable[str] = (),
) -> dict[str, Znode]:
    """The whole tree, parents before children; `standing` is the tree as it was."""
    tree = dict.fromkeys(ROOTS, Znode())
    tree |= {f"/config/{root}": Znode() for root in form.config_roots}
    tree[CLUSTER_ID] = Znode(_json({"version": "1", "id": cluster.cluster_id}))
    tree["/controller_epoch"] = Znode(str(cluster.controller_epoch))
    if form.broker_version >= 5:
        tree["/feature"] = Znode(_json({"features": {}, "version": 1, "status": 1}))
    if cluster.next_producer_id:
        tree[PRODUCER_IDS] = Znode(producer_ids(cluster))
    for node in cluster.alive:
        since = times.registered.get(node.id, 0)
        tree[f"{IDS}/{node.id}"] = Znode(broker(node, form, since), ephemeral=True)
    controller = cluster.brokers.get(cluster.controller_id)
    if controller is not None and controller.alive:
        rows = {"version": 1, "brokerid": controller.id, "timestamp": str(times.elected)}
        tree[CONTROLLER] = Znode(_json(rows), ephemeral=True)
    for name in deleting:
        tree[f"{DELETED_TOPICS}/{name}"] = Znode()
        tree |= {path: node for path, node in standing.items() if _belongs(path, name)}
    for each in cluster.topics.values():
        tree.update(_topic_nodes(each, form, standing))
    for path, configs in _entities(cluster):
        tree.update(_with_parents(path, tree))
        tree[path] = Znode(config(configs))
    for path in standing:  # Kafka empties such a node, and never removes it
        if path not in tree and _is_entity(path):
            tree.update(_with_parents(path, tree))
            tree[path] = Znode(EMPTY_CONFIG if standing[path].text else None)
    return tree


def steps(old: Mapping[str, Znode], new: Mapping[str, Znode]) -> list[Step]:
    """The steps from one tree to another: children go before their parents and come after them."""
    done = [Step("delete", path, old[path]) for path in sorted(old, reverse=True)
            if path not in new]  # fmt: skip
    told = []
    for path, znode in new.items():
        before = old.get(path)
        if before is None:
            done.append(Step("create", path, znode))
        elif _same(before, znode):
            continue
        elif znode.ephemeral:
            done += [Step("delete", path, before), Step("create", path, znode)]
        else:
            done.append(Step("set", path, znode))
        if znode.text and path.startswith("/config/") and (before or _is_entity(path)):
            told.append(Step("notify", CHANGE, Znode(change(path.removeprefix("/config/")))))
    return done + told


# --- one node each -----------------------------------------------------------------------------


def broker(node: Node, form: Form, since: int) -> str:
    """/brokers/ids/N (BRK-27, BRK-28); host and port are those of a PLAINTEXT listener."""
    plain = next((each for each in node.advertised if each.protocol == PLAINTEXT), None)
    cells: dict[str, object] = {
        "listener_security_protocol_map": {e.listener: e.protocol for e in node.advertised},
        "endpoints": [str(each) for each in node.advertised],
        "jmx_port": -1,
        "host": plain.host if plain else None,
        "timestamp": str(since),
        "port": plain.port if plain else -1,
        "version": form.broker_version,
    }
    if node.rack is not None:
        cells["rack"] = node.rack
    keys: Iterable[str] = _BROKER_KEYS
    if form.broker_version >= 5:
        cells["features"] = {}
        keys = hash_order.mutable_213(cells)
    return _json({key: cells[key] for key in keys if key in cells})


def topic(each: Topic, form: Form, before: str | None = None) -> str:
    """/brokers/topics/T; `before` is its text until now."""
    replicas = {partition.index: partition.replicas for partition in each.partitions}
    if form.topic_version == 1:
        rows = {str(index): replicas[index] for index in _indexes(replicas, form, before)}
        ordered = {key: rows[key] for key in hash_order.immutable_212(rows)}
        return _json({"version": 1, "partitions": ordered})
    adding = {p.index: list(p.adding) for p in each.partitions if p.adding}
    removing = {p.index: list(p.removing) for p in each.partitions if p.removing}
    return _json(
        {
            "partitions": _numbered(replicas),
            "topic_id": urlsafe_b64encode(each.id).decode().rstrip("="),
            "adding_replicas": _numbered(adding),
            "removing_replicas": _numbered(removing),
            "version": form.topic_version,
        }
    )


def state(partition: Partition) -> str:
    """/brokers/topics/T/partitions/P/state."""
    return _json(
        {
            "controller_epoch": partition.controller_epoch,
            "leader": partition.leader,
            "version": 1,
            "leader_epoch": partition.leader_epoch,
            "isr": partition.isr,
        }
    )


def config(configs: Mapping[str, str]) -> str:
    """/config/KIND/NAME."""
    ordered = {key: configs[key] for key in hash_order.properties(configs)}
    return _json({"version": 1, "config": ordered})


def change(entity_path: str) -> str:
    """/config/changes/config_change_N: whose settings are to be read again."""
    return _json({"version": 2, "entity_path": entity_path})


def isr_change(places: Iterable[tuple[str, int]], form: Form) -> str:
    """/isr_change_notification/isr_change_N: whose state znode its leader has written."""
    if form.changes_hash_as is None:
        raise ValueError("in this release no leader writes its state znode")
    hashed = {"scala": hash_order.map_hash, "java": hash_order.wrapped_map_hash}
    row_hash = hashed[form.changes_hash_as]
    changed = list(places)
    changed = [changed[at] for at in hash_order.set_212([partition_hash(*p) for p in changed])]
    rows: list[Mapping[str, str | int]] = [{"topic": t, "partition": p} for t, p in changed]
    rows = [rows[at] for at in hash_order.set_212([row_hash(row) for row in rows])]
    return _json({"version": 1, "partitions": rows})


def log_dir_event(broker: int) -> str:
    """/log_dir_event_notification/log_dir_event_N: which broker lost a directory (KIP-112)."""
    return _json({"version": 1, "broker": broker, "event": 1})


def producer_ids(cluster: Cluster) -> str:
    end = cluster.next_producer_id - 1
    start = end // BLOCK * BLOCK
    who = max(cluster.controller_id, 0)
    return _json({"version": 1, "broker": who, "block_start": str(start), "block_end": str(end)})


# --- what others wrote -------------------------------------------------------------------------


def read_topic(name: str, text: str, config_text: str | None, live: Iterable[int]) -> Topic:
    """A topic that somebody else put there; ValueError or KeyError for a text that is none."""
    cells = json.loads(text)
    raw = cells.get("topic_id", "")
    topic_id = urlsafe_b64decode(raw + "==") if raw else bytes(16)
    found = Topic(name, topic_id, configs=read_config(config_text))
    alive = set(live)
    for key in sorted(cells["partitions"], key=int):
        replicas = [int(each) for each in cells["partitions"][key]]
        isr = [each for each in replicas if each in alive]
        leader = isr[0] if isr else NO_LEADER
        found.partitions.append(Partition(name, int(key), replicas, isr, leader))
    return found


def goes_on(partition: Partition, text: str | None) -> None:
    """A partition whose state stood there: it is led in a new epoch, as after any restart."""
    if text:
        cells = json.loads(text)
        isr = [each for each in cells["isr"] if each in partition.isr]
        partition.isr = isr or partition.isr
        partition.leader = partition.isr[0] if partition.isr else NO_LEADER
        partition.leader_epoch = cells["leader_epoch"] + 1


def read_config(text: str | None) -> dict[str, str]:
    return {str(k): str(v) for k, v in json.loads(text)["config"].items()} if text else {}


def read_entity(path: str) -> Entity | None:
    """The entity whose quotas stand at this path below /config; None where none can."""
    cells, kinds = path.split("/"), {word: kind for kind, word in _KINDS.items()}
    if len(cells) % 2 or any(word not in kinds for word in cells[::2]):
        return None
    named = zip(cells[::2], cells[1::2], strict=True)
    return entity({kinds[word]: None if name == DEFAULT else unquote(name) for word, name in named})


def read_quotas(settings: Mapping[str, str]) -> dict[str, float | None]:
    """The quotas among an entity's settings, which may hold credentials as well."""
    return {key: float(text) for key, text in settings.items() if key in QUOTAS}


def read_credentials(settings: Mapping[str, str]) -> dict[int, ScramCredential]:
    """The SCRAM credentials among a user's settings; one that cannot be read is left out."""
    found = {}
    for name, number in NUMBERS.items():
        with contextlib.suppress(ValueError, KeyError):
            found[number] = ScramCredential.read(settings.get(name, ""))
    return found


def read_client(kept: ClientSettings, who: Entity, settings: Mapping[str, str]) -> None:
    """What stands at an entity's path becomes its quotas, and a user's credentials."""
    kept.replace_quotas(who, read_quotas(settings))
    named = dict(who)
    user = named.get("user")
    if user is not None and len(named) == 1:
        kept.replace_credentials(user, read_credentials(settings))


def read_isr_change(text: str) -> list[tuple[str, int]]:
    return [(row["topic"], row["partition"]) for row in json.loads(text)["partitions"]]


def read_log_dir_event(text: str) -> int:
    return int(json.loads(text)["broker"])


def read_change(text: str) -> str:
    """The entity that a notification means, as a path below /config: old and new form."""
    cells = json.loads(text)
    if cells["version"] == 1:
        return f"{cells['entity_type']}/{cells['entity_name']}"
    return cells["entity_path"]


# --- parts -------------------------------------------------------------------------------------


def _topic_nodes(
    each: Topic, form: Form, standing: Mapping[str, Znode]
) -> Iterator[tuple[str, Znode]]:
    path = f"{TOPICS}/{each.name}"
    yield f"/config/topics/{each.name}", Znode(config(each.configs))
    before = standing.get(path)
    yield path, Znode(topic(each, form, before.text if before else None))
    led = [p for p in each.partitions if p.leader != NO_LEADER or p.leader_epoch]
    if led:  # a partition that never had a leader has no state (CTL-11)
        yield f"{path}/partitions", Znode()
    for partition in led:
        yield f"{path}/partitions/{partition.index}", Znode()
        yield f"{path}/partitions/{partition.index}/state", Znode(state(partition))


def _indexes(replicas: Mapping[int, object], form: Form, before: str | None) -> list[int]:
    """The order in which partitions were put into the map that Kafka writes."""
    if not (form.growth_keeps_order and before):
        return hash_order.mutable_212_numbers(list(replicas))
    kept = [int(key) for key in json.loads(before)["partitions"] if int(key) in replicas]
    return kept + hash_order.mutable_212_numbers([i for i in replicas if i not in kept])


def _numbered(rows: Mapping[int, T]) -> dict[str, T]:
    return {key: rows[int(key)] for key in hash_order.mutable_213([str(i) for i in rows])}


def _entities(cluster: Cluster) -> Iterator[tuple[str, dict[str, str]]]:
    """Brokers with dynamic settings, clients with quotas, users with credentials, by path."""
    for number, configs in cluster.dynamic_configs.items():
        yield f"/config/brokers/{number or DEFAULT}", configs
    settings = cluster.client_settings
    rows = {who: {key: _number(value) for key, value in quotas.items()}
            for who, quotas in settings.quotas()}  # fmt: skip
    for user in settings.users():
        held = settings.credentials(user)
        own = {NAMES[kind]: str(each) for kind, each in held.items()}
        rows[entity({"user": user})] = rows.get(entity({"user": user}), {}) | own
    for who, configs in rows.items():
        named = dict(who)
        parts = [
            f"{_KINDS[kind]}/{_safe(kind, named[kind])}"
            for kind in ("user", "client-id", "ip")
            if kind in named
        ]
        yield "/config/" + "/".join(parts), configs


def _safe(kind: str, name: str | None) -> str:
    """A name as a part of a path, as Kafka's Sanitizer spells it."""
    if name is None:
        return DEFAULT
    return name if kind == "ip" else quote(name, safe="").replace("~", "%7E")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _is_entity(path: str) -> bool:
    root, _, rest = path.removeprefix("/config/").partition("/")
    return path.startswith("/config/") and bool(rest) and root not in ("topics", "changes")


def _belongs(path: str, name: str) -> bool:
    return path == f"/config/topics/{name}" or f"{path}/".startswith(f"{TOPICS}/{name}/")


def _with_parents(path: str, tree: Mapping[str, Znode]) -> dict[str, Znode]:
    parts = path.split("/")
    above = ["/".join(parts[:count]) for count in range(2, len(parts))]
    return {each: Znode() for each in above if each not in tree}


def _same(one: Znode, other: Znode) -> bool:
    """Whether two texts say the same, whatever the order of their keys."""
    if (one.text or None, one.ephemeral) == (other.text or None, other.ephemeral):
        return True
    if one.ephemeral != other.ephemeral or one.text is None or other.text is None:
        return False
    try:
        return json.loads(one.text) == json.loads(other.text)
    except ValueError:
        return False


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
