"""What a client did in one case, read from its transcript: requests, answers, events. Pure.

An expectation names a look of `LOOKS` with arguments (`expect.client`), so that it stays data. A
look gives plain values (numbers, texts, lists), in the order in which things happened. Topics are
called by name, also where a request has their ids.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from touchstone.harness.model import path as paths
from touchstone.harness.model import record_view
from touchstone.harness.model.transcript import Event, Transcript
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.errors import name_of
from touchstone.reference_impl.wire.schema import Struct

CODECS = {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
TRANSACTIONAL = 0x10
LENGTH_FROM = 12  # bytes of a batch that its length does not count


@dataclass(frozen=True, slots=True)
class Exchanged:
    """One request of a client, decoded, with the answer that it was sent; None where none was."""

    event: Event
    client: str | None
    body: Struct
    answer: Struct | None
    answered_us: int | None

    @property
    def api(self) -> str:
        return str(self.event.api_name)


@dataclass(frozen=True, slots=True)
class Said:
    """One event of the adapter."""

    event: Event
    client: str
    row: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.row.get("name"))


def said(transcript: Transcript) -> Iterator[Said]:
    for event in transcript.events:
        if event.direction == "said":
            yield Said(event, event.connection, json.loads(event.note))


def exchanged(transcript: Transcript) -> list[Exchanged]:
    """Every request of the client that decodes, in the order of their sending."""
    answers: dict[tuple[str, int | None], Event] = {}
    for event in transcript.events:
        if event.direction == "answered":
            answers.setdefault((event.connection, event.correlation_id), event)
    found = []
    for event in transcript.events:
        if event.direction != "asked":
            continue
        try:
            request = headers.decode_request(event.raw)
        except ValueError:
            continue
        reply = answers.get((event.connection, event.correlation_id))
        answer = None if reply is None else _answer(reply)
        at = None if reply is None else reply.at_us
        found.append(Exchanged(event, request.header.client_id, request.body, answer, at))
    return found


def _answer(event: Event) -> Struct | None:
    if event.api is None or event.version is None:
        return None
    try:
        return headers.decode_response(event.api, event.version, event.raw).body
    except ValueError:
        return None


def topic_names(transcript: Transcript, requests: list[Exchanged]) -> dict[bytes, str]:
    """Topic id -> name, as Metadata told it to the client or to the scenario."""
    bodies = [one.answer for one in requests if one.api == "Metadata"]
    bodies += [one.answer for one in transcript.round_trips if one.event.api_name == "Metadata"]
    return {
        row["topic_id"]: row["name"]
        for body in bodies
        if body is not None
        for row in body["topics"] or ()
        if row.get("topic_id") and row.get("name")
    }


# looks


def _of(transcript: Transcript, api: str, client: str | None) -> list[Exchanged]:
    by_name(api)
    return [
        one
        for one in exchanged(transcript)
        if one.api == api and (client is None or one.client == client)
    ]


def asked(transcript: Transcript, api: str, path: str, client: str | None = None) -> list[Any]:
    """A field of each request of an API."""
    return [_plain(paths.get(one.body, path)) for one in _of(transcript, api, client)]


def answers(transcript: Transcript, api: str, path: str, client: str | None = None) -> list[Any]:
    """A field of each answer of an API as the client was sent it."""
    found = [one.answer for one in _of(transcript, api, client) if one.answer is not None]
    return [_plain(paths.get(one, path)) for one in found]


def count(
    transcript: Transcript, api: str, client: str | None = None, since: str | None = None
) -> int:
    """How many requests of an API there were, since the beginning of a step where one is named."""
    first = 0 if since is None else transcript.header.labels.index(since)
    return sum(one.event.step >= first for one in _of(transcript, api, client))


def versions(transcript: Transcript, api: str, client: str | None = None) -> list[int]:
    """The versions in which an API was asked, each once, in the order of their first use."""
    found = [one.event.version for one in _of(transcript, api, client)]
    return list(dict.fromkeys(version for version in found if version is not None))


def batches(
    transcript: Transcript, field: str, topic: str | None = None, partition: int | None = None,
    client: str | None = None,
) -> list[Any]:  # fmt: skip
    """A field of each batch that was sent in Produce; see `_of_batch`."""
    return [
        _of_batch(field, batch, index)
        for one in _of(transcript, "Produce", client)
        for name, index, batch in _batches_in(transcript, one)
        if topic in (None, name) and partition in (None, index)
    ]


def values(transcript: Transcript, topic: str, client: str | None = None) -> list[Any]:
    """The value of each record that was sent in Produce, whatever the batches."""
    found = batches(transcript, "values", topic, client=client)
    return [value for batch in found for value in batch]


def batches_per_request(
    transcript: Transcript, topic: str, client: str | None = None
) -> list[list[int]]:
    """Of each Produce request the partitions of its batches."""
    found = []
    for one in _of(transcript, "Produce", client):
        found.append(sorted(i for name, i, _ in _batches_in(transcript, one) if name == topic))
    return found


def _batches_in(transcript: Transcript, one: Exchanged) -> Iterator[tuple[str, int, Struct]]:
    names = topic_names(transcript, exchanged(transcript))
    for topic in one.body["topic_data"]:
        name = topic.get("name") or names.get(topic.get("topic_id", b""), "?")
        for part in topic["partition_data"]:
            for batch in record_view.view(part["records"]) or ():
                yield name, part["index"], batch


def _of_batch(field: str, batch: Struct, partition: int) -> Any:
    """`records`, `values`, `keys`, `partition`, `codec`, `sequence` (producer epoch, base sequence,
    number of records), `transactional`, `crc` (right or wrong), or a field of the batch's header.
    """
    rows = batch.get("records") or []
    match field:
        case "records":
            return len(rows)
        case "values" | "keys" | "headers" | "timestamps":
            return [_plain(row[field.removesuffix("s")] if field != "headers" else row["headers"])
                    for row in rows]  # fmt: skip
        case "partition":
            return partition
        case "codec":
            return CODECS.get(batch["attributes"] & 7, batch["attributes"] & 7)
        case "transactional":
            return bool(batch["attributes"] & TRANSACTIONAL)
        case "sequence":
            return [batch["producer_epoch"], batch["base_sequence"], len(rows)]
        case "crc":
            return "right" if batch["crc"] == batch["crc_computed"] else "wrong"
    return _plain(batch[field])


def overfull(transcript: Transcript, topic: str, size: int) -> list[int]:
    """The bytes of each batch that is larger than this and has more than one record."""
    return [
        batch["batch_length"] + LENGTH_FROM
        for one in _of(transcript, "Produce", None)
        for name, _, batch in _batches_in(transcript, one)
        if name == topic and len(batch["records"]) > 1
        and batch["batch_length"] + LENGTH_FROM > size
    ]  # fmt: skip


def partitions(transcript: Transcript, topic: str, client: str | None = None) -> dict[str, int]:
    """The partition to which each record was sent, by its key (or value, without a key)."""
    found = {}
    for one in _of(transcript, "Produce", client):
        for name, index, batch in _batches_in(transcript, one):
            for row in batch.get("records") or () if name == topic else ():
                found[str(_plain(row["key"] if row["key"] is not None else row["value"]))] = index
    return found


def sequences_grow(transcript: Transcript, topic: str, partition: int = 0) -> str:
    """ "yes" where each first sending of a batch has the sequence behind the one before, or begins
    a new epoch or producer id at 0; else the first place where it does not.
    """
    wanted: dict[tuple[int, int], int] = {}
    seen: set[tuple[int, int, int]] = set()
    for one in _of(transcript, "Produce", None):
        for name, index, batch in _batches_in(transcript, one):
            if (name, index) != (topic, partition):
                continue
            who = batch["producer_id"], batch["producer_epoch"]
            first, number = batch["base_sequence"], len(batch["records"])
            if who[0] < 0 or first < 0:
                return f"a batch without a sequence: producer {who}, sequence {first}"
            if (*who, first) in seen:
                continue
            seen.add((*who, first))
            if first != wanted.get(who, 0):
                return f"sequence {first} where {wanted.get(who, 0)} was due"
            wanted[who] = first + number
    return "yes" if seen else "no batch"


def repeats(transcript: Transcript, topic: str) -> list[list[Any]]:
    """Of each value that was sent more than once: the value, and its producer id, epoch and
    sequence each time, once where they are equal.
    """
    found: dict[str, list[list[int]]] = {}
    for one in _of(transcript, "Produce", None):
        for name, _, batch in _batches_in(transcript, one):
            for at, row in enumerate(batch.get("records") or ()) if name == topic else ():
                sequence = batch["base_sequence"] + at if batch["base_sequence"] >= 0 else -1
                who = [batch["producer_id"], batch["producer_epoch"], sequence]
                found.setdefault(str(_plain(row["value"])), []).append(who)
    return [
        [value, len(times), len({tuple(one) for one in times})]
        for value, times in found.items()
        if len(times) > 1
    ]


def events(
    transcript: Transcript, name: str, path: str = "name", client: str | None = None
) -> list[Any]:
    """A field of each event of a name; null where it has none."""
    found = []
    for one in said(transcript):
        if one.name == name and client in (None, one.client):
            try:
                found.append(paths.get(dict(one.row), path))
            except paths.PathError:
                found.append(None)
    return found


def codes(transcript: Transcript, name: str, client: str | None = None) -> list[str]:
    """The names of the errors that events of a name report; "" where there is none."""
    found = events(transcript, name, "code", client)
    return [name_of(one) if isinstance(one, int) and one else "" for one in found]


def reported(transcript: Transcript, client: str | None = None) -> list[str]:
    """The names of all errors that events report, whatever they are about, each once."""
    found = [one.row.get("code") for one in said(transcript) if client in (None, one.client)]
    return list(dict.fromkeys(name_of(one) for one in found if isinstance(one, int) and one))


def consumed(
    transcript: Transcript, client: str, field: str = "value", partition: int | None = None
) -> list[Any]:
    """A field of each record that a consumer gave to its application."""
    rows = [
        row
        for one in said(transcript)
        if one.name == "records_consumed" and one.client == client
        for row in one.row.get("records") or ()
    ]
    return [row.get(field) for row in rows if partition in (None, row.get("partition"))]


def order(transcript: Transcript, names: list[str], client: str | None = None) -> list[str]:
    """Which of these happened, one after the other: names of APIs that were asked, of APIs that
    were answered ("Produce answered"), and of events. One that is about no partition is left out.
    """
    found: list[tuple[int, str]] = []
    for place, event in enumerate(transcript.events):
        if event.direction == "asked" and event.api_name in names:
            header, _ = headers.decode_request_header(event.raw)
            if client in (None, header.client_id):
                found.append((place, str(event.api_name)))
        elif event.direction == "answered" and f"{event.api_name} answered" in names:
            found.append((place, f"{event.api_name} answered"))
        elif event.direction == "said" and client in (None, event.connection):
            row = json.loads(event.note)
            about = row["name"] in names and row.get("partitions") != []
            found += [(place, row["name"])] if about else []
    return [word for _, word in found]


def first_and_last(
    transcript: Transcript, names: list[str], client: str | None = None
) -> list[str]:
    """`order` without repetitions that follow one another."""
    found = order(transcript, names, client)
    return [one for at, one in enumerate(found) if at == 0 or found[at - 1] != one]


def commits(
    transcript: Transcript, topic: str, partition: int = 0, client: str | None = None
) -> list[int]:
    """The offsets that OffsetCommit and TxnOffsetCommit named for a partition."""
    requests = exchanged(transcript)
    names = topic_names(transcript, requests)
    return [
        part["committed_offset"]
        for one in requests
        if one.api in ("OffsetCommit", "TxnOffsetCommit") and client in (None, one.client)
        for row in one.body["topics"]
        if (row.get("name") or names.get(row.get("topic_id", b""))) == topic
        for part in row["partitions"]
        if part["partition_index"] == partition
    ]


def pause_ms(transcript: Transcript, api: str, nth: int = 1, client: str | None = None) -> int:
    """Milliseconds between the `nth` answer of an API and the next request of any API but
    ApiVersions on the same connection; a large number where there was none.
    """
    done = [one for one in _of(transcript, api, client) if one.answered_us is not None]
    if len(done) < nth:
        raise paths.PathError(api, api, f"{len(done)} answers")
    one = done[nth - 1]
    later = [
        event.at_us
        for event in transcript.events
        if event.direction == "asked"
        and event.connection == one.event.connection
        and event.at_us > (one.answered_us or 0)
    ]
    return (min(later) - (one.answered_us or 0)) // 1000 if later else 1 << 30


def first_asked(transcript: Transcript, client: str | None = None) -> list[str]:
    """The first API that was asked on each connection that asked anything."""
    found: dict[str, str] = {}
    for one in exchanged(transcript):
        if client in (None, one.client):
            found.setdefault(one.event.connection, one.api)
    return list(found.values())


def generations(transcript: Transcript, client: str | None = None) -> str:
    """Of which generation heartbeats are, held against the last answer to a JoinGroup before."""
    current, beats = None, 0
    for one in exchanged(transcript):
        if client not in (None, one.client):
            continue
        if one.api == "JoinGroup" and one.answer and not one.answer["error_code"]:
            current = one.answer["generation_id"]
        elif one.api == "Heartbeat":
            beats += 1
            if one.body["generation_id"] != current:
                return f"{one.body['generation_id']} where {current} was joined"
    return "as joined" if beats else "no heartbeat"


def left(transcript: Transcript, client: str | None = None) -> str:
    """Under whose id the last LeaveGroup was, held against the ids of the JoinGroups."""
    bodies = [one.body for one in _of(transcript, "LeaveGroup", client)]
    if not bodies:
        return "not at all"
    told = {one.answer["member_id"] for one in _of(transcript, "JoinGroup", client) if one.answer}
    named = {row["member_id"] for row in bodies[-1].get("members") or ()} or {
        bodies[-1]["member_id"]
    }
    return "as who had joined" if named <= told else "as somebody else"


def rejoined(transcript: Transcript, since: str, client: str | None = None) -> str:
    """Under which id a member joined since a step began, held against those it had before."""
    mine = [one for one in exchanged(transcript) if client in (None, one.client)]
    first = transcript.header.labels.index(since)
    synced = next((at for at, one in enumerate(mine) if one.event.step >= first), len(mine))
    later = [one.body["member_id"] for one in mine[synced:] if one.api == "JoinGroup"]
    if not later:
        return "not at all"
    known = {one.body["member_id"] for one in mine[: synced + 1] if one.api == "SyncGroup"}
    if later[0] in known:
        return "under its member id"
    return "under another id" if later[0] else "without a member id"


def listed(transcript: Transcript) -> list[str]:
    """The topics that the last list_topics gave."""
    found = [one.row for one in said(transcript) if one.name == "admin_result"]
    rows = [row["result"] for row in found if row["operation"] == "list_topics"]
    return list(rows[-1] or ()) if rows else []


def brokers(transcript: Transcript, api: str, client: str | None = None) -> list[int | None]:
    """The broker to which each request of an API went."""
    return [one.event.broker for one in _of(transcript, api, client)]


def lacks(transcript: Transcript) -> list[str]:
    """What the adapter says that its client has not."""
    return [event.note for event in transcript.events if event.direction == "lacking"]


def unheard(transcript: Transcript) -> list[str]:
    """What was waited for in vain."""
    return [event.note for event in transcript.events if event.direction == "unheard"]


LOOKS: Mapping[str, Callable[..., Any]] = {
    look.__name__.replace("_", " "): look
    for look in (
        answers, asked, batches, batches_per_request, brokers, codes, commits, consumed, count,
        events, first_and_last, first_asked, generations, lacks, left, listed, order, overfull,
        partitions, pause_ms, rejoined, repeats, reported, sequences_grow, unheard, values,
        versions,
    )
}  # fmt: skip


def check(what: str, of: Mapping[str, Any]) -> None:
    """Raises ValueError for a look that there is not, and for arguments that it does not take."""
    if what not in LOOKS:
        raise ValueError(f"there is no {what!r} to look at; there are {', '.join(LOOKS)}")
    try:
        inspect.signature(LOOKS[what]).bind(None, **of)
    except TypeError as error:
        raise ValueError(f"{what}: {error}") from None


def look(transcript: Transcript, what: str, of: Mapping[str, Any]) -> Any:
    """What is there to see. Raises PathError."""
    return LOOKS[what](transcript, **of)


def words(what: str, of: tuple[tuple[str, Any], ...]) -> str:
    """How reports call a look."""
    plain = [str(value) for _, value in of if isinstance(value, str | int | list)]
    return " ".join((what, *plain))


def _plain(value: Any) -> Any:
    """Bytes as text where they are text."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "backslashreplace")
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value
