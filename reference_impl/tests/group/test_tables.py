"""A table is whole or not made, and says which of its cells decided something."""

from __future__ import annotations

from enum import Enum
from itertools import product

import pytest

from touchstone.reference_impl.tables import Table


class Light(Enum):
    RED = 1
    GREEN = 2


class Event(Enum):
    WAIT = 1
    GO = 2


CELLS = {pair: f"{pair[0].name} {pair[1].name}" for pair in product(Light, Event)}


def test_a_missing_cell_and_one_too_many_are_refused():
    with pytest.raises(ValueError, match="GO"):
        Table(Light, Event, {key: cell for key, cell in CELLS.items() if key[1] is Event.WAIT})
    with pytest.raises(ValueError, match="too many"):
        Table(Light, Event, {**CELLS, (Light.RED, Light.RED): "?"})


def test_cells_that_decide_are_counted_while_somebody_watches():
    table = Table(Light, Event, CELLS)
    assert table[Light.RED, Event.GO] == "RED GO" and table.walked is None
    table.walked = {}
    assert table.peek(Light.GREEN, Event.GO) == "GREEN GO"
    table[Light.RED, Event.GO]
    table[Light.RED, Event.GO]
    assert table.walked == {(Light.RED, Event.GO): 2}
    assert len(table) == 4 and set(table) == set(CELLS)
