"""The one way in which a file of a log directory is refused: where, and why."""

from __future__ import annotations


class FileFormatError(ValueError):
    """Bytes that Kafka would not read as this format; `where` is a byte offset or a line number."""

    def __init__(self, where: int, reason: str) -> None:
        super().__init__(f"{reason} (at {where})")
        self.where = where
        self.reason = reason
