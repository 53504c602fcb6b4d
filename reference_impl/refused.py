"""Something that is answered with an error code: a value that is raised.

Coordinators, sessions and controllers refuse in the same words, so that whoever answers need not
know who did. What an answer makes of a refusal is its handler's.
"""

from __future__ import annotations


class Refused(Exception):
    """`code` and `message` go into the answer as they are; a null message is None."""

    def __init__(self, code: int, message: str | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = int(code)
        self.message = message
