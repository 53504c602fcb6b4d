"""What a defect is, and how one is written down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Plant = Callable[[Any], None]


class Defect(NamedTuple):
    """`sentence` says what the client does wrong; `plant` makes a core do it."""

    name: str
    sentence: str
    plant: Plant


def defect(table: list[Defect], name: str, sentence: str) -> Callable[[Plant], Plant]:
    """Puts the function that plants a defect into a table."""

    def keep(plant: Plant) -> Plant:
        table.append(Defect(name, sentence, plant))
        return plant

    return keep
