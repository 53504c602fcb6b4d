"""Requests whose answer is not awaited at once, and how a scenario sees that a connection ends.

Nothing here judges.
"""

from typing import Any

from touchstone.harness.model.scenario import Ask, Raw, Send
from touchstone.suites.scene import part, question

AGES_MS = 600_000
NOTHING = {"topics": [], "allow_auto_topic_creation": False}


def waiting(topic: Any, name: str = "waits", to: str = "b") -> Send:
    """A fetch at the end of an empty partition that only an append completes."""
    body = question(4, [(topic, [part()])], max_wait_ms=AGES_MS)
    return Send("Fetch", 4, body, name=name, connection=to)


def sent_later(step: Ask, name: str, to: str = "b") -> Send:
    """A built request that is sent without awaiting its answer."""
    return Send(step.api, step.version, step.body, name=name, connection=to)


def the_end(to: str, name: str = "end") -> Raw:
    """Look until the broker closes this connection, however long a busy one takes."""
    return Raw(b"", name=name, connection=to, framed=False, expect="close")
