"""What holds of every case of a client, whatever it is about: its bytes, and its word. Pure.

    adapter-line        every line of the adapter is an event
    request-parses      every request decodes, without bytes left over
    request-served      its version is one that the broker advertised to this connection
    correlation         a connection's correlation ids are not used twice while an answer is due
    batch-crc           every batch that is produced has the checksum of its bytes
    acknowledged        a record is called delivered only if the broker answered its Produce so
    consumed            a record that the application gets came in an answer to Fetch

The last two hold the adapter's word against the wire: who fails them lies, or its adapter does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from touchstone.harness.model import client_exchanges, record_view
from touchstone.harness.model.client_exchanges import Exchanged, decoded_answer
from touchstone.harness.model.finding import Finding
from touchstone.harness.model.transcript import Event, Transcript
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.schema import Struct


def check_all(transcript: Transcript) -> list[Finding]:
    """Everything that does not hold; one finding of each kind for each step is enough."""
    found: dict[tuple[str, str, str], Finding] = {}
    for check in CHECKS:
        for one in check(transcript):
            found.setdefault((one.checker, one.step, one.path), one)
    return list(found.values())


def adapter_line(seen: Transcript) -> Iterator[Finding]:
    for event in seen.events:
        if event.direction == "babbled":
            yield _finding("adapter-line", seen, event, "adapter", event.note)


def request_parses(seen: Transcript) -> Iterator[Finding]:
    """A client asks ApiVersions in the newest version that it knows, which may be none of ours; a
    broker answers in version 0 that it does not know it, and the client asks again (KIP-511).
    """
    for event in seen.events:
        if event.direction != "asked" or _from_the_future(event):
            continue
        if event.api is not None and event.api not in API:
            yield _finding("request-parses", seen, event, "request", f"API key {event.api}")
            continue
        try:
            request = headers.decode_request(event.raw)
        except ValueError as error:
            yield _finding("request-parses", seen, event, "request", str(error))
            continue
        if request.end < len(event.raw):
            text = f"{len(event.raw) - request.end} bytes behind its end"
            yield _finding("request-parses", seen, event, "request", text)


def _from_the_future(event: Event) -> bool:
    newest = API[headers.API_VERSIONS].latest
    return event.api == headers.API_VERSIONS and (event.version or 0) > newest


def request_served(seen: Transcript) -> Iterator[Finding]:
    """ApiVersions itself may be asked in any version: that is how a client finds out."""
    offered: dict[str, dict[int, tuple[int, int]]] = {}
    for event in seen.events:
        if event.direction == "answered" and event.api == headers.API_VERSIONS:
            body = decoded_answer(event)
            rows = [] if body is None or body["error_code"] else body["api_keys"]
            if rows:
                offered[event.connection] = {
                    row["api_key"]: (row["min_version"], row["max_version"]) for row in rows
                }
        elif event.direction == "asked" and event.api != headers.API_VERSIONS:
            table = offered.get(event.connection)
            if table is None or event.api is None or event.version is None:
                continue
            low, high = table.get(event.api, (0, -1))
            if not low <= event.version <= high:
                text = f"{event.api_name} v{event.version}, where {low} to {high} are offered"
                yield _finding("request-served", seen, event, "version", text)


def correlation(seen: Transcript) -> Iterator[Finding]:
    due: set[tuple[str, int | None]] = set()
    for event in seen.events:
        at = event.connection, event.correlation_id
        if event.direction == "answered":
            due.discard(at)
        elif event.direction == "asked":
            if at in due:
                text = f"{event.correlation_id} is used again while its answer is due"
                yield _finding("correlation", seen, event, "correlation_id", text)
            if not _is_silent(event):
                due.add(at)


def _is_silent(event: Event) -> bool:
    """Whether it is a Produce that wants no answer (acks=0)."""
    if event.api_name != "Produce":
        return False
    try:
        return bool(headers.decode_request(event.raw).body["acks"] == 0)
    except ValueError:
        return False


def batch_crc(seen: Transcript) -> Iterator[Finding]:
    for one in client_exchanges.exchanged(seen):
        if one.api != "Produce":
            continue
        for topic in one.body["topic_data"]:
            for part in topic["partition_data"]:
                for batch in record_view.view(part["records"]) or ():
                    if batch.get("crc") != batch.get("crc_computed") or "fault" in batch:
                        text = str(batch.get("fault") or "another checksum than its bytes have")
                        yield _finding("batch-crc", seen, one.event, "records", text)


def acknowledged(seen: Transcript) -> Iterator[Finding]:
    """Who asked for no answer, or was told that the batch is there already, knows no offset."""
    requests = client_exchanges.exchanged(seen)
    silent = any(one.api == "Produce" and one.body["acks"] == 0 for one in requests)
    silent |= _wants_no_answer(seen)
    stored, known_already = _stored(seen, requests)
    for said in client_exchanges.said(seen):
        if said.name != "producer_send_success":
            continue
        row = said.row
        place = row["topic"], row["partition"], row["value"]
        if place not in stored or row["offset"] not in (*stored[place], -1):
            if place in known_already or (silent and row["offset"] == -1):
                continue
            text = f"{row['value']!r} at {row['topic']}-{row['partition']}@{row['offset']}: " + (
                f"the broker said {sorted(stored[place])}" if place in stored else
                "the broker never said so"
            )  # fmt: skip
            yield _finding("acknowledged", seen, said.event, "producer_send_success", text)


def _wants_no_answer(seen: Transcript) -> bool:
    """Whether a producer was opened with acks=0; its requests may come after the case's end."""
    told = [json.loads(event.note) for event in seen.events if event.direction == "told"]
    return any(row.get("config", {}).get("acks") == "0" for row in told)


Place = tuple[str, int, str | None]


def _stored(
    seen: Transcript, requests: list[Exchanged]
) -> tuple[dict[Place, set[int]], set[Place]]:
    """(record -> offsets of good answers, records that an answer called duplicates)."""
    names = client_exchanges.topic_names(seen, requests)
    stored: dict[Place, set[int]] = {}
    known: set[Place] = set()
    for one in requests:
        if one.api != "Produce" or one.answer is None:
            continue
        sent = {
            (_name(row, names), part["index"]): part["records"]
            for row in one.body["topic_data"] for part in row["partition_data"]
        }  # fmt: skip
        for row in one.answer["responses"]:
            for part in row["partition_responses"]:
                place = _name(row, names), part["index"]
                at = part["base_offset"]
                if part["error_code"] == DUPLICATE:
                    known |= {(*place, value) for value in _values(sent.get(place))}
                elif not part["error_code"]:
                    for plus, value in enumerate(_values(sent.get(place))):
                        stored.setdefault((*place, value), set()).add(at + plus)
    return stored, known


DUPLICATE = 46  # DUPLICATE_SEQUENCE_NUMBER


def consumed(seen: Transcript) -> Iterator[Finding]:
    requests = client_exchanges.exchanged(seen)
    names = client_exchanges.topic_names(seen, requests)
    fetched: set[tuple[str, int, int, str | None]] = set()
    for one in requests:
        if one.api not in ("Fetch", "ShareFetch") or one.answer is None:
            continue
        for row in one.answer["responses"]:
            name = str(row.get("topic") or names.get(row.get("topic_id", b""), "?"))
            for part in row["partitions"]:
                for batch in record_view.view(part["records"]) or ():
                    for record in batch.get("records") or ():
                        place = name, part["partition_index"], record["offset"]
                        fetched.add((*place, _text(record["value"])))
    for said in client_exchanges.said(seen):
        if said.name != "records_consumed":
            continue
        for row in said.row["records"]:
            given = row["topic"], row["partition"], row["offset"], row["value"]
            if given not in fetched:
                text = f"{row['value']!r} at {row['topic']}-{row['partition']}@{row['offset']}"
                yield _finding(
                    "consumed", seen, said.event, "records_consumed", f"{text} was never fetched"
                )


def _name(row: Struct, names: dict[bytes, str]) -> str:
    return str(row.get("name") or names.get(row.get("topic_id", b""), "?"))


def _values(data: bytes | None) -> list[str | None]:
    return [
        _text(record["value"])
        for batch in record_view.view(data) or ()
        for record in batch.get("records") or ()
    ]


def _text(value: bytes | None) -> str | None:
    return None if value is None else bytes(value).decode("utf-8", "backslashreplace")


def _finding(checker: str, seen: Transcript, event: Event, path: str, text: str) -> Finding:
    return Finding(
        checker, seen.label(event.step), path, text, api=event.api_name, version=event.version,
        at=event.step,
    )  # fmt: skip


CHECKS: tuple[Callable[[Transcript], Iterator[Finding]], ...] = (
    adapter_line, request_parses, request_served, correlation, batch_crc, acknowledged, consumed,
)  # fmt: skip
