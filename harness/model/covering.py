"""Covering arrays: few cases in which every pair of axis values meets at least once.

A fault that needs two parameters at once is found by pairs; one that needs three is rare (every
fault that TLS-Anvil found needed at most two). So a claim with versions, codecs and acks runs not
over their product but over rows in which each pair of values stands somewhere. `where` forbids rows
that make no sense (zstd before the version that knows it); a pair that only stands in forbidden
rows is no pair. Deterministic: the same axes give the same rows in the same order, since rows are
case ids.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Row = dict[str, Any]
Pair = tuple[tuple[int, int], tuple[int, int]]  # ((axis, value), (axis, value)), by index
Where = Callable[[Row], bool]

MOST = 200_000  # rows of the product that are looked at; a claim with more has the wrong axes


def always(_: Row) -> bool:
    return True


def pairwise(axes: Mapping[str, Sequence[Any]], where: Where = always) -> list[Row]:
    """Rows that cover every possible pair; with fewer than two axes, the allowed product itself."""
    names, possible = list(axes), _allowed(axes, where)
    if len(axes) < 2:
        return [_row(axes, names, chosen) for chosen in possible]
    missing = {pair for chosen in possible for pair in _pairs(chosen)}
    rows: list[tuple[int, ...]] = []
    candidates = {chosen: set(_pairs(chosen)) for chosen in possible}
    best_possible = len(axes) * (len(axes) - 1) // 2
    while missing:
        best, gain = None, 0
        for chosen, pairs in candidates.items():
            new = len(pairs & missing)
            if new > gain:
                best, gain = chosen, new
                if gain == best_possible:
                    break
        assert best is not None, "a missing pair stands in some allowed row"
        best_possible = gain
        missing -= candidates.pop(best)
        rows.append(best)
    return [_row(axes, names, chosen) for chosen in sorted(rows)]


def product(axes: Mapping[str, Sequence[Any]], where: Where = always) -> list[Row]:
    """Every allowed row."""
    return [_row(axes, list(axes), chosen) for chosen in _allowed(axes, where)]


def _allowed(axes: Mapping[str, Sequence[Any]], where: Where) -> list[tuple[int, ...]]:
    size = 1
    for values in axes.values():
        size *= len(values)
    if size > MOST:
        raise ValueError(f"{size} combinations of {', '.join(axes)}: more than {MOST}")
    names = list(axes)
    every = itertools.product(*(range(len(values)) for values in axes.values()))
    return [chosen for chosen in every if where(_row(axes, names, chosen))]


def _row(axes: Mapping[str, Sequence[Any]], names: list[str], chosen: tuple[int, ...]) -> Row:
    return {name: axes[name][index] for name, index in zip(names, chosen, strict=True)}


def _pairs(chosen: tuple[int, ...]) -> Iterable[Pair]:
    return itertools.combinations(enumerate(chosen), 2)
