"""Rewrites of single values of answers: legal differences of one line each.

`normalize` names the reasons and says where they apply; these functions only do what is said there.

Sources: schemas DescribeQuorum, AddRaftVoter, ListConfigResources; KIP-124 (throttle times).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.harness.judgement.normalize import Symbols
    from touchstone.harness.model.transcript import Transcript

TOPIC = 2  # of a config resource's kinds
MOVED = frozenset({6, 74})  # NOT_LEADER_OR_FOLLOWER, FENCED_LEADER_EPOCH
PROBE_MEMBER = "scout"  # the member of suites/kit/consumer_groups.py that only looks
_INSTANT = re.compile(r"(?<!\d)1\d{12}(?!\d)")  # milliseconds, from 2001 to 2033
_MISSING = "Internal topics are missing: "
_CLUSTER_ID = re.compile(r'(the cluster id )"[^"]+"')


def addresses(transcript: Transcript) -> dict[tuple[str, int], int]:
    """The address of each broker as lists of brokers tell it; the first that is told counts."""
    found: dict[int, tuple[str, int]] = {}
    for trip in transcript.round_trips:
        answer = trip.answer if isinstance(trip.answer, dict) else {}
        for row in answer.get("brokers") or ():
            if isinstance(row, dict) and {"host", "port"} <= row.keys():
                node = row["node_id"] if "node_id" in row else row["broker_id"]
                found.setdefault(node, (row["host"], row["port"]))
    return {address: node for node, address in found.items()}


def no_broker(symbols: Symbols, node: int) -> bool:
    """Whether this is nobody's id: negative, or of no broker in a list of them, where one came."""
    return node < 0 or (bool(symbols.addresses) and node not in symbols.addresses.values())


def coordinator_address(symbols: Symbols, address: tuple[str, int], struct: Struct) -> str:
    """The address of a coordinator, which is anybody; not that of another one than it names."""
    known = symbols.addresses.get(address)
    if symbols.addresses and known != struct.get("node_id"):
        return f"$address-of-{'nobody' if known is None else 'another'}"
    return symbols.symbol("coordinator-address", address)


def session(symbols: Symbols, value: Any, _: Struct) -> Any:
    return symbols.symbol("session", value) if isinstance(value, int) and value > 0 else value


def quoted(symbols: Symbols, value: Any, _: Struct) -> Any:
    def named(found: re.Match[str]) -> str:
        moment = symbols.moment(int(found[0]))
        return moment if isinstance(moment, str) else "$instant"

    return _INSTANT.sub(named, value) if isinstance(value, str) else value


def unread_leader(symbols: Symbols, value: Any, struct: Struct) -> Struct:
    """Read only with an error that sends a client to another leader (ShareFetchResponse.json)."""
    codes = {struct.get("error_code"), struct.get("acknowledge_error_code")}
    unread = "current_leader" in struct and not codes & MOVED
    return struct | {"current_leader": "$unread"} if unread else struct


def producer(symbols: Symbols, value: Any, struct: Struct) -> Any:
    """A 0 beside an error is nobody's id: the first of a new cluster would go by its name."""
    given = isinstance(value, int) and value >= 0 and not struct.get("error_code")
    return symbols.symbol("producer-id", value) if given else value


def quoted_cluster(symbols: Symbols, value: Any, _: Struct) -> Any:
    return _CLUSTER_ID.sub(r"\1$cluster-id", value) if isinstance(value, str) else value


def only_node(symbols: Symbols, value: Any, _: Struct) -> Any:
    if symbols.brokers > 1:
        return value
    if isinstance(value, list):
        return [only_node(symbols, one, {}) for one in value]
    return symbols.symbol("node", value) if isinstance(value, int) and value >= 0 else value


def disk(symbols: Symbols, value: Any, _: Struct) -> Any:
    return "$disk" if isinstance(value, int) and value > 0 else value


def client_host(symbols: Symbols, value: Any, _: Struct) -> Any:
    """Some brokers tell the port as well, so that it differs between members of one client."""
    return "$client-host" if isinstance(value, str) and value else value


def prose(symbols: Symbols, value: Any, _: Struct) -> Any:
    return "$prose" if isinstance(value, str) and value else value


def missing_topics(symbols: Symbols, value: Any, _: Struct) -> Any:
    """The names stand in the order of a hash map, and names are drawn."""
    head, found, names = value.partition(_MISSING) if isinstance(value, str) else ("", "", "")
    return f"{head}{found}{', '.join(sorted(names.split(', ')))}" if found else value


def span(symbols: Symbols, value: Any, _: Struct) -> Any:
    return "$throttled" if isinstance(value, int) and value > 0 else value


def scouted(symbols: Symbols, value: Any, struct: Struct) -> Any:
    """Each look may be an epoch, and how many there are before the news comes is chance."""
    known = struct.get("member_id") == PROBE_MEMBER and isinstance(value, int) and value > 0
    return "$scouted" if known else value


def only_ours(answer: Struct, symbols: Symbols, rows: str = "topics", word: str = "name") -> Struct:
    kept = [row for row in answer[rows] or () if row.get(word) in symbols.ours]
    symbols.used["other-topics"] += len(kept) != len(answer[rows] or ())
    return answer | {rows: kept}


def only_named(answer: Struct, symbols: Symbols) -> Struct:
    """Topics of other cases are theirs; brokers are everybody's."""
    rows = answer["config_resources"]
    kept = [
        row
        for row in rows
        if row.get("resource_type") != TOPIC or row.get("resource_name") in symbols.ours
    ]
    symbols.used["other-topics"] += len(kept) != len(rows)
    return answer | {"config_resources": kept}


def placement(symbols: Symbols, _: Any, struct: Struct) -> Struct:
    """Roles in place of broker ids, where several brokers were free to be chosen."""
    if symbols.brokers == 1 or "partitions" not in struct or struct.get("name") in symbols.assigned:
        return struct
    return struct | {"partitions": [_roles(partition) for partition in struct["partitions"]]}


def _roles(partition: Struct) -> Struct:
    replicas = partition.get("replica_nodes")
    if not isinstance(replicas, list):
        return partition
    role = {broker: f"$replica-{index}" for index, broker in enumerate(replicas)}
    out = dict(partition)
    out["replica_nodes"] = [role[broker] for broker in replicas]
    out["leader_id"] = role.get(partition["leader_id"], partition["leader_id"])
    for word in ("isr_nodes", "offline_replicas"):
        if isinstance(out.get(word), list):
            out[word] = sorted((role.get(broker, broker) for broker in out[word]), key=str)
    return out


def chosen(symbols: Symbols, value: Any, struct: Struct) -> Any:
    if symbols.brokers == 1:
        return value
    ids = {broker.get("node_id", broker.get("broker_id")) for broker in struct["brokers"] or ()}
    return "$one-of-the-brokers" if value in ids else value


def coordinator(symbols: Symbols, value: Any, struct: Struct) -> Any:
    if symbols.brokers == 1 or no_broker(symbols, value):
        return value
    return symbols.symbol("coordinator", value)
