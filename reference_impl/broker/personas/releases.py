"""The releases that the reference broker can be, in their order, and how what changes is written.

A new release is a name here, a file `vX_Y.py` beside this one, and an entry `"X.Y": value` in each
row that changes with it; whatever says nothing of it stays as it was in the release before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RELEASES = ("1.0", "2.2", "2.8", "3.9", "4.3")

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
