"""A total table (state, input) -> cell: what coordinators' lives are written down as.

A table is made whole or not at all: every pair of a state and an input has its cell, so no request
meets a group or a transaction that nobody thought of. `walked` lists the cells that decided
something since it was set to a dict, which is how the harness knows what Kafka's own recordings
have tried; `peek` looks without deciding.

Sources: GROUP-02; group/states.py and txn/states.py fill it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from itertools import product
from typing import Generic, TypeVar

S = TypeVar("S", bound=Enum)
I = TypeVar("I", bound=Enum)  # noqa: E741
C = TypeVar("C")


class Table(Mapping[tuple[S, I], C], Generic[S, I, C]):
    """Raises ValueError when a cell is missing or one too many."""

    def __init__(
        self, states: Iterable[S], inputs: Iterable[I], cells: Mapping[tuple[S, I], C]
    ) -> None:
        wrong = set(product(states, inputs)) ^ cells.keys()
        if wrong:
            raise ValueError(f"cells that are missing or too many: {sorted(map(str, wrong))}")
        self._cells = dict(cells)
        self.walked: dict[tuple[S, I], int] | None = None

    def __getitem__(self, key: tuple[S, I]) -> C:
        if self.walked is not None:
            self.walked[key] = self.walked.get(key, 0) + 1
        return self._cells[key]

    def peek(self, state: S, given: I) -> C:
        return self._cells[state, given]

    def __iter__(self) -> Iterator[tuple[S, I]]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)
