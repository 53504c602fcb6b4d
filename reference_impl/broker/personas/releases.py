"""The releases that the reference broker can be, in their order, and how what changes is written.

The folder is the list: a file `vX_Y.py` is the release X.Y. A new release is such a file, and in it
stands what changed (`persona.after`); whatever it does not name stays as it was in the release
before. Rows say how behaviours changed up to 4.3, where most of them changed more than once.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

_NUMBERS = sorted(
    tuple(map(int, path.stem[1:].split("_")))
    for path in Path(__file__).parent.glob("v[0-9]*_[0-9]*.py")
)
RELEASES = tuple(f"{major}.{minor}" for major, minor in _NUMBERS)

# name -> (the sentence, {release from which on: value}, where it was seen)
Rows = Mapping[str, tuple[str, Mapping[str, Any], str]]


def value_in(changes: Mapping[str, Any], release: str) -> Any:
    """The value of the newest change that is not newer than `release`.

    Raises KeyError for a change at a release that does not exist, and where none applies.
    """
    order = {name: at for at, name in enumerate(RELEASES)}
    known = [name for name in changes if order[name] <= order[release]]
    if not known:
        raise KeyError(f"nothing is said of {release}: {changes}")
    return changes[max(known, key=order.__getitem__)]
