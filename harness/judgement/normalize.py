"""Names what may legally differ between two runs of one scenario, and replaces it by symbols.

Two targets that behave alike still answer with their own ports, ids and instants. Each such freedom
is a Reason with a name and a sentence; nothing else is touched. A value becomes a symbol, numbered
by first appearance, so that *relations* survive: an id that should be echoed and is not gets
another symbol. For every reason the tests hold a doctored transcript that it must not hide.

What comes out is a list of Readings, one per step that was attempted: how it ended, and the decoded
answer with record bytes opened up. Pure: no target, no time, no scenario.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from touchstone.harness.judgement import epochs, internal_logs, lived, rewrites, sasl_rewrites
from touchstone.harness.judgement.unordered import UNORDERED
from touchstone.harness.model import record_view
from touchstone.harness.model.transcript import RoundTrip, Transcript
from touchstone.reference_impl.wire.schema import Struct

Rewrite = Callable[["Symbols", Any, Struct], Any]
WINDOW_MS = (-60_000, 600_000)  # around the run's clock: instants a broker may have assigned
LOG_APPEND_TIME, CONTROL, DELETE_HORIZON = 0x08, 0x20, 0x40
_DRAWN_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$|^[\w-]{22}$"
                       r"|(?<=-)[0-9a-f]{32}$", re.ASCII)  # fmt: skip
NO_ID = bytes(16)
TELEMETRY = frozenset({"GetTelemetrySubscriptions"})
CORRELATION_ID = 4  # bytes, with which every answer begins
_BARE = frozenset({int, bool, float, type(None)})  # most fields; only a reason rewrites them

# Config values that say where a broker runs, not how it behaves.
DEPLOYMENT = frozenset(
    {
        "listeners", "advertised.listeners", "listener.security.protocol.map", "log.dir",
        "log.dirs", "port", "host.name", "advertised.port", "advertised.host.name",
        "zookeeper.connect",
        "controller.quorum.voters", "controller.quorum.bootstrap.servers", "broker.id", "node.id",
        "broker.rack", "metadata.log.dir", "process.roles", "controller.listener.names",
        "inter.broker.listener.name",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reading:
    """One step as it may be compared: how it ended and what was answered."""

    step: int
    label: str
    api: str | None
    version: int | None
    connection: str
    outcome: str  # answered | none | closed | hung | refused | garbled | gone | unresolved | unmet
    answer: Any = None  # the normalised body; None when there is none or it does not decode
    undecodable: str | None = None
    frames: int = 0  # answers that came; more than one is one too many
    at: int = 0  # its place among the steps, which is that of its end


@dataclass(slots=True)
class Symbols:
    """What has been given a symbol in one transcript, and which reasons were used."""

    words: list[tuple[str, str]]
    times: dict[int, str]
    clock_ms: int
    brokers: int
    ours: frozenset[str] = frozenset()
    addresses: dict[tuple[str, int], int] = field(default_factory=dict)  # of brokers, by their ids
    assigned: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)  # that requests have named
    tables: dict[str, dict[Any, str]] = field(default_factory=dict)
    bases: dict[tuple[str, Any], int] = field(default_factory=dict)  # of counters (`lived`)
    sent_epochs: set[tuple[int, int]] = field(default_factory=set)  # producer, coordinator epoch
    used: Counter[str] = field(default_factory=Counter)

    def symbol(self, table: str, value: Any) -> str:
        known = self.tables.setdefault(table, {})
        return known.setdefault(value, f"${table}-{len(known) + 1}")

    def since(self, counter: str, of: Any, value: int) -> str:
        """Return how far a counter has come since the case first met it."""
        return f"${counter}{value - self.bases.setdefault((counter, of), value):+d}"

    def moment(self, value: Any) -> Any:
        """An instant the run knows by name, else one in its window, else the number itself."""
        if not isinstance(value, int) or value < 0:
            return value
        if value in self.times:
            return self.times[value]
        least, most = WINDOW_MS
        return "$appended" if least <= value - self.clock_ms <= most else value


@dataclass(frozen=True, slots=True)
class Reason:
    """A legal difference: its name, why it is legal, where it applies, what it does.

    `fields`: the values it rewrites; "" is the struct. See docs/howto/legal-difference.md.
    """

    name: str
    sentence: str
    fields: tuple[str, ...]
    rewrite: Rewrite
    apis: frozenset[str] | None = None


def normalise(transcript: Transcript) -> list[Reading]:
    """The transcript as Readings, in the order of its steps."""
    return readings(transcript)[0]


def readings(transcript: Transcript) -> tuple[list[Reading], Counter[str]]:
    """The Readings and how often each reason was used."""
    header = transcript.header
    words = sorted(((text, f"${key}") for key, text in header.names.items()), key=_longest_first)
    symbols = Symbols(
        words=words,
        times={value: symbol for symbol, value in header.times.items()},
        clock_ms=header.clock_ms,
        brokers=header.brokers,
        ours=frozenset(f"${key}" for key in header.names),
        addresses=rewrites.addresses(transcript) if header.brokers > 1 else {},
    )
    found = [_reading(trip, symbols) for trip in transcript.round_trips]
    return epochs.freed(transcript, found, symbols.used), symbols.used


def _longest_first(pair: tuple[str, str]) -> tuple[int, str]:
    return -len(pair[0]), pair[0]


def _reading(trip: RoundTrip, symbols: Symbols) -> Reading:
    event = trip.event
    api = event.api_name
    if trip.request is not None and api is not None:
        _learn(trip.request.body, api, symbols)
    answer = None
    if trip.answer is not None and api is not None:
        answer = trip.answer
        if internal_logs.concerns_internal_topic(api, answer):
            names = [text for text, _ in symbols.words]  # others' ids must not take a number
            answer = internal_logs.own(api, internal_logs.opened(api, answer), names)
            symbols.used["internal-logs"] += 1
        answer = _struct(answer, api, "", symbols)
        if api == "Metadata" and _asked_for_all(trip):
            answer = rewrites.only_ours(answer, symbols)
        if api in internal_logs.APIS:
            answer = internal_logs.own(api, answer, symbols.ours)
        if api == "ListGroups":
            answer = rewrites.only_ours(answer, symbols, "groups", "group_id")
        if api == "ListConfigResources":
            answer = rewrites.only_named(answer, symbols)
        if api == "DescribeLogDirs":  # 2.8 shows every topic, whatever was asked
            answer |= {"results": [rewrites.only_ours(one, symbols) for one in answer["results"]]}
    ending = trip.ending.direction if trip.ending else None
    return Reading(
        step=trip.step,
        label=trip.label,
        api=api,
        version=trip.received.version if trip.received else event.version,
        connection=event.connection,
        outcome=_OUTCOME.get(ending or "", ending or ("answered" if trip.received else "none")),
        answer=answer,
        undecodable=trip.undecodable if api else _unknown(trip),
        frames=bool(trip.received) + len(trip.extra),
        at=trip.at,
    )


# reset-or-closed: a socket closed with unread bytes in its buffer is reset by the kernel, so which
# of the two a peer sees depends on how much the broker had read. Results keep the distinction.
_OUTCOME = {"reset": "closed", "timeout": "hung", "silent": "none"}


def _unknown(trip: RoundTrip) -> str | None:
    """Bytes whose message nobody named are compared as they are, without their correlation id;
    a frame that is too short for one is compared whole.
    """
    if trip.received is None:
        return None
    raw = trip.received.raw
    return raw[CORRELATION_ID:].hex() if len(raw) >= CORRELATION_ID else f"only {raw.hex()}"


def _learn(body: Any, api: str, symbols: Symbols) -> None:
    """Symbols for ids in a request: an echo of it must get the same one."""
    if api == "CreateTopics":
        placed = (topic["name"] for topic in body["topics"] or () if topic["assignments"])
        symbols.assigned.update(_renamed(name, symbols) for name in placed)
    if api == "WriteTxnMarkers":
        lived.learn(body, symbols)
    if api == "SaslAuthenticate":
        sasl_rewrites.learn(body, symbols.tables)
    _learn_ids(body, symbols)


def _learn_ids(value: Any, symbols: Symbols) -> None:
    if isinstance(value, dict):
        found = value.get("topic_id")
        if found and found != NO_ID:
            symbols.symbol("topic-id", found)
        if isinstance(value.get("member_id"), str):
            symbols.members.add(_renamed(value["member_id"], symbols))
        for inner in value.values():
            _learn_ids(inner, symbols)
    elif isinstance(value, list):
        for inner in value:
            _learn_ids(inner, symbols)


def _struct(value: Struct, api: str, at: str, symbols: Symbols) -> Struct:
    stem = f"{at}." if at else ""
    out: Struct = {
        name: inner if type(inner) in _BARE else _field(inner, api, stem + name, symbols)
        for name, inner in value.items()
        if name != "_tags"
    }
    symbols.used["tags"] += "_tags" in value
    whole, by_field = _reasons(api)
    for reason in whole:
        out = _apply(reason, out, out, symbols)
    for name, reason in [(key, one) for key in out for one in by_field.get(key, ())]:
        out[name] = _apply(reason, out[name], out, symbols)
    return out


def _apply(reason: Reason, value: Any, struct: Struct, symbols: Symbols) -> Any:
    rewritten = reason.rewrite(symbols, value, struct)
    if rewritten != value:
        symbols.used[reason.name] += 1
    return rewritten


def _field(value: Any, api: str, at: str, symbols: Symbols) -> Any:
    if at.endswith("records") and isinstance(value, bytes | bytearray | memoryview):
        opened = record_view.view(bytes(value)) or []
        return [_entry(entry, symbols) for entry in opened]
    if isinstance(value, dict):
        return _struct(value, api, at, symbols)
    if isinstance(value, list):
        keys = UNORDERED.get((api, at))
        if keys is None or len(value) < 2:
            return [_field(inner, api, at, symbols) for inner in value]
        if not keys:  # plain values
            return sorted(_field(inner, api, at, symbols) for inner in value)
        by_name = sorted(value, key=lambda element: _known_words(element, keys, symbols))
        elements = [_field(inner, api, at, symbols) for inner in by_name]
        ordered = sorted(elements, key=lambda one: (_sort_key(one, keys), str(one)))
        symbols.used["order"] += by_name != value or ordered != elements
        return ordered
    if isinstance(value, str | bytes) and value:
        return _renamed(value, symbols)
    return value


def _sort_key(element: Any, keys: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Equal types compare as they are; None and others as text, so that sorting never fails."""
    found = [element.get(key) for key in keys]
    return tuple(
        ("0", f"{value:020d}") if isinstance(value, int) else ("1", str(value)) for value in found
    )


def _known_words(element: Any, keys: tuple[str, ...], symbols: Symbols) -> tuple[Any, ...]:
    """What to sort by before ids get their symbols, which are numbered as they are met."""
    found = [element.get(key) for key in keys]
    words = [_renamed(one, symbols) if isinstance(one, str) else one for one in found]
    kept = [None if isinstance(one, bytes) else one for one in words]
    return _sort_key(dict(zip(keys, kept, strict=True)), keys)


def _renamed(value: Any, symbols: Symbols) -> Any:
    """Text or bytes with every name of this run replaced by its placeholder."""
    for text, symbol in symbols.words:
        word: Any = text if isinstance(value, str) else text.encode()
        if word in value:
            value = value.replace(word, symbol if isinstance(value, str) else symbol.encode())
            symbols.used["names"] += 1
    return value


def _entry(entry: Struct, symbols: Symbols) -> Struct:
    """One batch or message. Its CRC follows from what is compared anyway, so only its truth stays.

    The length of a compressed batch depends on the codec's implementation, not on Kafka.
    """
    if "records" not in entry:
        return entry
    out = dict(entry)
    right = out.pop("crc_computed")
    out["crc"] = "right" if out["crc"] == right else f"wrong: {out['crc']}, not {right}"
    symbols.used["crc"] += 1
    if out["attributes"] & 7:
        for word in ("batch_length", "size"):
            if word in out:
                out[word] = "$compressed"
                symbols.used["compressed-size"] += 1
    if out.get("producer_id", -1) >= 0:
        if out["attributes"] & CONTROL:
            out["records"] = lived.markers(symbols, out["producer_id"], out["records"])
        out["producer_id"] = symbols.symbol("producer-id", out["producer_id"])
    by_broker = bool(out["attributes"] & (LOG_APPEND_TIME | CONTROL))
    if out["attributes"] & DELETE_HORIZON and out.get("base_timestamp", -1) >= symbols.clock_ms:
        out["base_timestamp"] = out["batch_length"] = "$horizon"  # to a record's time: a varint
        symbols.used["delete-horizons"] += 1
    for word in ("base_timestamp", "max_timestamp", "timestamp"):
        if word in out:
            out[word] = _stamp(out[word], symbols, by_broker)
    out["records"] = [
        {name: _field(value, "", name, symbols) for name, value in record.items()}
        | {"timestamp": _stamp(record["timestamp"], symbols, by_broker)}
        for record in out["records"]
    ]
    return out


def _stamp(value: int, symbols: Symbols, by_broker: bool) -> Any:
    """A time of the run by its name; one that the broker assigned, as that."""
    named = symbols.moment(value)
    if named == "$appended" and not by_broker:
        return value
    symbols.used["times"] += named != value
    return named


# the reasons


def _address(symbols: Symbols, _: Any, struct: Struct) -> Struct:
    if not {"host", "port"} <= struct.keys() or not struct["host"] or struct["port"] <= 0:
        return struct
    address = (struct["host"], struct["port"])
    if symbols.brokers > 1 and "error_code" in struct:  # a coordinator's, which is anybody
        symbol = rewrites.coordinator_address(symbols, address, struct)
    elif address in symbols.addresses:
        symbol = f"$address-of-{symbols.addresses[address]}"
    else:
        symbol = symbols.symbol("address", address)
    return struct | {"host": symbol, "port": symbol}


def _id(table: str, nothing: Any) -> Rewrite:
    def rewrite(symbols: Symbols, value: Any, _: Struct) -> Any:
        return value if value in (None, nothing) else symbols.symbol(table, value)

    return rewrite


def _member(symbols: Symbols, value: Any, _: Struct) -> Any:
    """An id that the coordinator drew, in whatever form; one that a request named stays."""
    if not isinstance(value, str) or not value:
        return value
    drawn = _DRAWN_ID.search(value)
    if drawn is None and value in symbols.members and value not in symbols.tables.get("member", ()):
        return value
    return symbols.symbol("member", drawn.group() if drawn else value)


def _moment(symbols: Symbols, value: Any, _: Struct) -> Any:
    return symbols.moment(value)


def _known_moment(symbols: Symbols, value: Any, _: Struct) -> Any:
    named = symbols.moment(value)
    return value if named == "$appended" else named


def _deployment(symbols: Symbols, value: Any, struct: Struct) -> Any:
    return "$deployment" if struct.get("name") in DEPLOYMENT and value else value


def _asked_for_all(trip: RoundTrip) -> bool:
    if trip.request is None:
        return False
    topics, version = trip.request.body["topics"], trip.sent.version if trip.sent else 1
    return topics is None or (version == 0 and not topics)


REASONS: tuple[Reason, ...] = (
    Reason("addresses", "A broker advertises the host and port it was given; who shares one must "
           "still share it.", ("",), _address),
    Reason("member-ids", "A group's coordinator draws the ids of its members in its own form.",
           ("member_id", "leader"), _member),
    Reason("client-hosts", "Where a member connects from is its client's address.",
           ("client_host",), rewrites.client_host),
    Reason("cluster-id", "A cluster's id is drawn when it is formatted.", ("cluster_id",),
           _id("cluster-id", "")),
    Reason("scouts", "A scout joins a group of its own until its coordinator has heard of a topic.",
           ("member_epoch",), rewrites.scouted, frozenset({"ConsumerGroupHeartbeat"})),
    Reason("unread-leaders", "Without an error Kafka leaves a share partition's leader at 0.",
           ("",), rewrites.unread_leader, frozenset({"ShareFetch", "ShareAcknowledge"})),
    Reason("topic-ids", "A topic's id is drawn when it is created; all zeros stay zeros.",
           ("topic_id",), _id("topic-id", NO_ID)),
    Reason("producer-ids", "Producer ids go on counting through a cluster's life; beside an error "
           "none was given.", ("producer_id",), rewrites.producer),
    Reason("sessions", "A fetch session's id is drawn; 0 means none and stays.",
           ("session_id",), rewrites.session, frozenset({"Fetch"})),
    Reason("client-instances", "A client instance's id is drawn where it has none.",
           ("client_instance_id",), _id("client-instance", NO_ID), TELEMETRY),
    Reason("subscription-ids", "A subscription's id is made of its client's, which is drawn.",
           ("subscription_id",), _id("subscription", 0), TELEMETRY),
    Reason("append-times", "The instant of an append is the broker's clock; -1 stays.",
           ("log_append_time_ms",), _moment),
    Reason("run-times", "A timestamp that the scenario made from its clock goes by its name.",
           ("timestamp",), _known_moment, frozenset({"ListOffsets"})),
    Reason("transaction-times", "When a producer last wrote, or a transaction began, is the clock.",
           ("last_timestamp", "transaction_start_time_ms"), _moment),
    Reason("commit-times", "When an offset was committed, or a group changed, is the clock.",
           internal_logs.TIMES, _moment),
    Reason("metadata-hashes", "A hash over a group's topics holds their ids; 0 is of none.",
           ("metadata_hash",), _id("metadata-hash", 0)),
    Reason("deployment", "Where a broker listens and keeps its files is its owner's choice.",
           ("value",), _deployment, frozenset({"DescribeConfigs"})),
    Reason("documentation", "What a config is for, each broker says in its own words.",
           ("documentation",), rewrites.prose, frozenset({"DescribeConfigs"})),
    Reason("log-dirs", "Where a broker keeps its files is its owner's choice.",
           ("log_dir",), _id("log-dir", ""), frozenset({"DescribeLogDirs"})),
    Reason("disks", "How large a disk is, and how full, is the machine's affair; -1 stays.",
           ("total_bytes", "usable_bytes"), rewrites.disk, frozenset({"DescribeLogDirs"})),
    Reason("placement", "Unassigned replicas start at a random broker; roles are compared instead.",
           ("",), rewrites.placement, frozenset({"Metadata"})),
    Reason("controller", "KRaft brokers name any living broker as controller, anew in each answer.",
           ("controller_id",), rewrites.chosen, frozenset({"Metadata", "DescribeCluster"})),
    Reason("quoted-times", "A message may quote instants; those of the run go by their names.",
           ("batch_index_error_message", "error_message"), rewrites.quoted),
    Reason("quoted-cluster-ids", "A message may quote the cluster's id, which is drawn.",
           ("error_message",), rewrites.quoted_cluster,
           frozenset({"AddRaftVoter", "RemoveRaftVoter"})),
    Reason("missing-topics", "Kafka lists missing topics by the hashes of their drawn names.",
           ("status_detail",), rewrites.missing_topics, frozenset({"StreamsGroupHeartbeat"})),
    Reason("quorum-times", "When a voter or observer last fetched is the clock.",
           ("last_fetch_timestamp", "last_caught_up_timestamp"), _moment,
           frozenset({"DescribeQuorum"})),
    Reason("throttle-times", "How long somebody is to wait follows from rates by the clock; that "
           "somebody is stays.", ("throttle_time_ms",), rewrites.span),
    Reason("node-ids", "The number of an only broker is its owner's choice; it has only one.",
           ("node_id", "broker_id", "controller_id", "leader_id", "replica_nodes", "isr_nodes",
            "offline_replicas"), rewrites.only_node),
    Reason("coordinator", "A key's coordinator follows from the placement of an internal topic.",
           ("node_id",), rewrites.coordinator, frozenset({"FindCoordinator"})),
    *(Reason(*row) for row in lived.ROWS),
    *(Reason(*row) for row in sasl_rewrites.ROWS),
)  # fmt: skip

# Reasons that are applied while walking; named here so that the list of legal differences is whole.
WALKED: dict[str, str] = {
    "tags": "Readers skip tagged fields that they do not know, and those with defaults (KIP-482).",
    "names": "Topics and groups have names of their own in every run, of equal length.",
    "order": "Kafka leaves the order of these arrays to a hash map; see UNORDERED.",
    "crc": "A batch's CRC follows from bytes compared field by field; whether it is right stays.",
    "compressed-size": "A compressed batch's length depends on the codec's implementation.",
    "times": "Instants of the run, and those a broker stamped (also on markers), go by name.",
    "delete-horizons": "When the cleaner may drop tombstones: its clock and delete.retention.ms.",
    "internal-logs": "Where a record stands in an internal topic's log, and beside which others.",
    "other-topics": "A question for all topics or groups also shows those of other cases.",
    epochs.REASON: "In 1.0 and 2.2 a follower's orderly stop is one leader epoch or two.",
    "reset-or-closed": "Unread bytes turn a close into a reset; the moment of reading decides.",
}


@cache
def _reasons(api: str) -> tuple[tuple[Reason, ...], dict[str, tuple[Reason, ...]]]:
    """Those that apply to an API's answers: to its structs, and to fields by their names."""
    found = [reason for reason in REASONS if reason.apis is None or api in reason.apis]
    names = {name: tuple(one for one in found if name in one.fields)
             for reason in found for name in reason.fields}  # fmt: skip
    return names.pop("", ()), names
