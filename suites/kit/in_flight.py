"""Requests whose answer is not awaited at once, and how a scenario sees that a connection ends."""

from typing import Any

from touchstone.harness.model.scenario import Ask, Raw, Send
from touchstone.suites.kit.fetching import part, question

AGES_MS = 600_000
NOTHING = {"topics": [], "allow_auto_topic_creation": False}  # Metadata of no topic


def sent(asked: Ask, name: str | None = None, *, to: str | None = None) -> Send:
    """The same request without waiting for its answer: Await it by its name. `to`: a connection."""
    return Send(
        asked.api,
        asked.version,
        asked.body,
        name or str(asked.name),
        to or asked.connection,
        asked.broker,
        asked.client_id,
    )


def waiting(topic: Any, name: str = "waits", to: str = "b") -> Send:
    """A fetch at the end of an empty partition that only an append completes."""
    body = question(4, [(topic, [part()])], max_wait_ms=AGES_MS)
    return Send("Fetch", 4, body, name=name, connection=to)


def the_end(to: str, name: str = "end") -> Raw:
    """Look until the broker closes this connection, however long a busy one takes."""
    return Raw(b"", name=name, connection=to, framed=False, expect="close")
