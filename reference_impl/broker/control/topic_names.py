"""A topic name is legal or not, and each release says so in its own words.

A name is one to 249 of ASCII letters, digits, ".", "_" and "-", and neither "." nor "..". Which
names collide is the cluster's knowledge (`Cluster.colliding`).

Source: org.apache.kafka.common.internals.Topic@1.0.2, 2.8.2 and 4.3.1; messages observed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

LONGEST = 249
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")

# quirk "topics.name-refusals" -> what is wrong -> what is said
REFUSALS: dict[str, dict[str, str]] = {
    "illegal": {
        "empty": "Topic name is illegal, it can't be empty",
        "dots": 'Topic name cannot be "." or ".."',
        "long": "Topic name is illegal, it can't be longer than {max} characters, "
        "topic name: {name}",
        "characters": 'Topic name "{name}" is illegal, it contains a character other than '
        "ASCII alphanumerics, '.', '_' and '-'",
    },
    "invalid": {
        "empty": "Topic name is invalid: the empty string is not allowed",
        "dots": "Topic name is invalid: '{name}' is not allowed",
        "long": "Topic name is invalid: the length of '{name}' is longer than the max allowed "
        "length {max}",
        "characters": "Topic name is invalid: '{name}' contains one or more characters other "
        "than ASCII alphanumerics, '.', '_' and '-'",
    },
}


def fault(name: str) -> str | None:
    """The fault of a name as a key of REFUSALS, by the order in which Kafka looks."""
    if not name:
        return "empty"
    if name in (".", ".."):
        return "dots"
    if len(name) > LONGEST:
        return "long"
    return None if _LEGAL.fullmatch(name) else "characters"


def refusal(name: str, words: str) -> str | None:
    """The message for an illegal name in these words, None for a legal one."""
    wrong = fault(name)
    return REFUSALS[words][wrong].format(name=name, max=LONGEST) if wrong else None


class TopicNames:
    """The names that a broker's controller takes for new topics."""

    def __init__(self, broker: Broker) -> None:
        self._words = "invalid" if broker.persona.kraft else "illegal"

    def check(self, name: str) -> None:
        """Raises ApiError for an illegal name."""
        message = refusal(name, self._words)
        if message:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)
