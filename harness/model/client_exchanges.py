"""The exchanges and words of one case of a client, decoded from its transcript. Pure.

The looks of `client_view` and its neighbours are made of these.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from touchstone.harness.model.transcript import Event, Transcript
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.schema import Struct


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
        answer = None if reply is None else decoded_answer(reply)
        at = None if reply is None else reply.at_us
        found.append(Exchanged(event, request.header.client_id, request.body, answer, at))
    return found


def decoded_answer(event: Event) -> Struct | None:
    """The body that a client was answered; None where it cannot be read."""
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


def of_api(
    transcript: Transcript, api: str, client: str | None = None, since: str | None = None
) -> list[Exchanged]:
    """The requests of an API, of one client and since the beginning of a step where these are
    named.
    """
    by_name(api)
    first = 0 if since is None else transcript.header.labels.index(since)
    return [
        one
        for one in exchanged(transcript)
        if one.api == api and client in (None, one.client) and one.event.step >= first
    ]


def plain(value: Any) -> Any:
    """Bytes as text where they are text."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "backslashreplace")
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value
