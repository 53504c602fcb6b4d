"""What a property has to say: one sentence about a few operations of a history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from touchstone.harness.model.history import Operation


@dataclass(slots=True)
class Anomaly:
    """Something that should not be. `excuse` is why nobody had promised otherwise, if nobody had.

    `name`, the property's, is set by whoever asked it. One that is `firm` is not excused by an
    unclean election either.
    """

    place: str
    sentence: str
    operations: Sequence[Operation]
    excuse: str = ""
    name: str = ""
    firm: bool = False

    def __str__(self) -> str:
        head = f"{self.name}: {self.place}: {self.sentence}"
        return "\n".join([head, *(f"    line {each.began}: {each}" for each in self.operations)])
