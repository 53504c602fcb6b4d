"""A path names one place in a decoded message: `topics[0].partitions[2].error_code`.

The same words are used by placeholders (Ref), conditions (Until), differences, findings and
expectations, so that a reader learns one notation. `[*]` stands for every element and turns the
answer into a list; `[-1]` counts from the end. Nothing here knows Kafka.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

Step = str | int
Test = Callable[[Any, Any], bool]  # of what was found and what is wanted

EVERY = "*"
_STEP = re.compile(r"(?:^|\.)([A-Za-z_$][\w$]*)|\[(-?\d+|\*)\]")


class PathError(LookupError):
    """The path does not lead anywhere in this value; says where it stopped and what was there."""

    def __init__(self, path: str, at: str, found: str) -> None:
        super().__init__(f"{path}: stopped at {at or 'the top'}: {found}")
        self.path, self.at, self.found = path, at, found


def parse(path: str) -> list[Step]:
    """The steps of a path. ValueError when it is not one."""
    steps: list[Step] = []
    at = 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None or (match.group(1) and at == 0 and path.startswith(".")):
            raise ValueError(f"not a path: {path!r} (from character {at})")
        name, index = match.groups()
        steps.append(name if name else index if index == EVERY else int(index))
        at = match.end()
    return steps


def spell(steps: list[Step] | tuple[Step, ...]) -> str:
    """The path of these steps; the inverse of `parse`."""
    words = [f"[{s}]" if isinstance(s, int) or s == EVERY else f".{s}" for s in steps]
    return "".join(words).removeprefix(".")


def get(value: Any, path: str) -> Any:
    """What stands at the path. PathError when nothing does."""
    return _get(value, parse(path), path, [])


def _get(value: Any, steps: list[Step], path: str, done: list[Step]) -> Any:
    for position, step in enumerate(steps):
        here = spell(done)
        if step == EVERY:
            if not isinstance(value, list):
                raise PathError(path, here, f"{type(value).__name__} has no elements")
            rest = steps[position + 1 :]
            return [_get(v, rest, path, [*done, i]) for i, v in enumerate(value)]
        if isinstance(step, int):
            if not isinstance(value, list) or not -len(value) <= step < len(value):
                size = len(value) if isinstance(value, list) else type(value).__name__
                raise PathError(path, here, f"no element {step} in {size}")
        elif not isinstance(value, dict) or step not in value:
            fields = ", ".join(value) if isinstance(value, dict) else type(value).__name__
            raise PathError(path, here, f"no field {step!r} in {fields}")
        value = value[step]
        done = [*done, step]
    return value


def holds(value: Any, path: str, op: str, wanted: Any) -> bool:
    """Whether the condition `path op wanted` is true; a path that leads nowhere makes it false."""
    try:
        found = get(value, path)
    except PathError:
        return False
    return OPERATORS[op](found, wanted)


def _every(test: Test) -> Test:
    """`[*]` nests lists; the condition must hold for each leaf, and an empty list has none."""

    def check(found: Any, wanted: Any) -> bool:
        leaves = list(_leaves(found))
        return bool(leaves) and all(test(leaf, wanted) for leaf in leaves)

    return check


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for element in value:
            yield from _leaves(element)
    else:
        yield value


OPERATORS: dict[str, Test] = {
    "==": lambda found, wanted: found == wanted,
    "!=": lambda found, wanted: found != wanted,
    ">=": lambda found, wanted: found is not None and found >= wanted,
    "<=": lambda found, wanted: found is not None and found <= wanted,
    "contains": lambda found, wanted: found is not None and wanted in found,
    "in": lambda found, wanted: found in wanted,
    "len ==": lambda found, wanted: found is not None and len(found) == wanted,
    "len >=": lambda found, wanted: found is not None and len(found) >= wanted,
    "len <=": lambda found, wanted: found is not None and len(found) <= wanted,
    "each ==": _every(lambda found, wanted: found == wanted),
    "each !=": _every(lambda found, wanted: found != wanted),
    "each >=": _every(lambda found, wanted: found >= wanted),
    "each in": _every(lambda found, wanted: found in wanted),
}
