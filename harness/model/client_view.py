"""What a client did in one case, read from its transcript: requests, answers, events. Pure.

An expectation names a look of `LOOKS` with arguments (`expect.client`), so that it stays data. A
look gives plain values (numbers, texts, lists), in the order in which things happened. Topics are
called by name, also where a request has their ids.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from touchstone.harness.model import path as paths
from touchstone.harness.model import record_view
from touchstone.harness.model.client_admin_view import given, item, listed, results, setting
from touchstone.harness.model.client_exchanges import (
    Exchanged,
    exchanged,
    of_api,
    plain,
    said,
    topic_names,
)
from touchstone.harness.model.client_group_view import (
    acknowledged,
    commits,
    generations,
    left,
    moves,
    owned,
    rejoined,
)
from touchstone.harness.model.transcript import Transcript
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.errors import name_of
from touchstone.reference_impl.wire.schema import Struct

CODECS = {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
TRANSACTIONAL = 0x10
LENGTH_FROM = 12  # bytes of a batch that its length does not count


# looks


def asked(
    transcript: Transcript, api: str, path: str, client: str | None = None,
    since: str | None = None,
) -> list[Any]:  # fmt: skip
    """A field of each request of an API, since the beginning of a step where one is named."""
    return [plain(paths.get(one.body, path)) for one in of_api(transcript, api, client, since)]


def answers(transcript: Transcript, api: str, path: str, client: str | None = None) -> list[Any]:
    """A field of each answer of an API as the client was sent it."""
    found = [one.answer for one in of_api(transcript, api, client) if one.answer is not None]
    return [plain(paths.get(one, path)) for one in found]


def count(
    transcript: Transcript, api: str, client: str | None = None, since: str | None = None
) -> int:
    """How many requests of an API there were, since the beginning of a step where one is named."""
    return len(of_api(transcript, api, client, since))


def versions(transcript: Transcript, api: str, client: str | None = None) -> list[int]:
    """The versions in which an API was asked, each once, in the order of their first use."""
    found = [one.event.version for one in of_api(transcript, api, client)]
    return list(dict.fromkeys(version for version in found if version is not None))


def batches(
    transcript: Transcript, field: str, topic: str | None = None, partition: int | None = None,
    client: str | None = None,
) -> list[Any]:  # fmt: skip
    """A field of each batch that was sent in Produce; see `_of_batch`."""
    return [
        _of_batch(field, batch, index)
        for one in of_api(transcript, "Produce", client)
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
    for one in of_api(transcript, "Produce", client):
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
            return [plain(row[field.removesuffix("s")] if field != "headers" else row["headers"])
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
    return plain(batch[field])


def overfull(transcript: Transcript, topic: str, size: int) -> list[int]:
    """The bytes of each batch that is larger than this and has more than one record."""
    return [
        batch["batch_length"] + LENGTH_FROM
        for one in of_api(transcript, "Produce", None)
        for name, _, batch in _batches_in(transcript, one)
        if name == topic and len(batch["records"]) > 1
        and batch["batch_length"] + LENGTH_FROM > size
    ]  # fmt: skip


def partitions(transcript: Transcript, topic: str, client: str | None = None) -> dict[str, int]:
    """The partition to which each record was sent, by its key (or value, without a key)."""
    found = {}
    for one in of_api(transcript, "Produce", client):
        for name, index, batch in _batches_in(transcript, one):
            for row in batch.get("records") or () if name == topic else ():
                found[str(plain(row["key"] if row["key"] is not None else row["value"]))] = index
    return found


def sequences_grow(transcript: Transcript, topic: str, partition: int = 0) -> str:
    """ "yes" where each first sending of a batch has the sequence behind the one before, or begins
    a new epoch or producer id at 0; else the first place where it does not.
    """
    wanted: dict[tuple[int, int], int] = {}
    seen: set[tuple[int, int, int]] = set()
    for one in of_api(transcript, "Produce", None):
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
    for one in of_api(transcript, "Produce", None):
        for name, _, batch in _batches_in(transcript, one):
            for at, row in enumerate(batch.get("records") or ()) if name == topic else ():
                sequence = batch["base_sequence"] + at if batch["base_sequence"] >= 0 else -1
                who = [batch["producer_id"], batch["producer_epoch"], sequence]
                found.setdefault(str(plain(row["value"])), []).append(who)
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


def pause_ms(transcript: Transcript, api: str, nth: int = 1, client: str | None = None) -> int:
    """Milliseconds between the `nth` answer of an API and the next request of any API but
    ApiVersions on the same connection; a large number where there was none.
    """
    done = [one for one in of_api(transcript, api, client) if one.answered_us is not None]
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


def brokers(
    transcript: Transcript, api: str, client: str | None = None, since: str | None = None
) -> list[int | None]:
    """The broker to which each request of an API went, since the beginning of a step where one is
    named.
    """
    return [one.event.broker for one in of_api(transcript, api, client, since)]


def outstanding(transcript: Transcript, api: str, client: str | None = None) -> int:
    """How many requests of an API waited for their answers at once on one connection, at most."""
    waits: dict[str, list[tuple[int, int]]] = {}
    for one in of_api(transcript, api, client):
        over = one.answered_us if one.answered_us is not None else 1 << 62
        waits.setdefault(one.event.connection, []).append((one.event.at_us, over))
    return max(
        (sum(began <= at < over for began, over in rows) for rows in waits.values()
         for at, _ in rows),
        default=0,
    )  # fmt: skip


def lacks(transcript: Transcript) -> list[str]:
    """What the adapter says that its client has not."""
    return [event.note for event in transcript.events if event.direction == "lacking"]


def unheard(transcript: Transcript) -> list[str]:
    """What was waited for in vain."""
    return [event.note for event in transcript.events if event.direction == "unheard"]


LOOKS: Mapping[str, Callable[..., Any]] = {
    look.__name__.replace("_", " "): look
    for look in (
        acknowledged, answers, asked, batches, batches_per_request, brokers, codes,
        commits, consumed, count, events, first_and_last, first_asked, generations, given, item,
        lacks, left, listed, moves, order, outstanding, overfull, owned, partitions,
        pause_ms, rejoined, repeats, reported, results, sequences_grow, setting, unheard,
        values, versions,
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
