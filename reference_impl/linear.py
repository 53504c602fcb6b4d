"""Expressions that a peer sent, matched in a time linear in the text: the one door to RE2.

Whoever may send a request chooses such an expression, and the broker has one thread. Python's `re`
takes `(a+)+b` a time exponential in the text, so nothing that a peer wrote is handed to it
(`ci/tidy.py` looks). RE2 has no look-around, no back references and no possessive operators; what
needs them is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import re2


def matcher(text: str) -> Callable[[str], bool]:
    """Return whether a whole text matches. Raise ValueError for what RE2 does not take.

    Bytes that are no UTF-8 count as U+FFFD, as Java decodes them.
    """
    try:
        found = re2.compile(_readable(text), _options())
    except re2.error as refused:
        raise ValueError(str(refused)) from None
    return lambda name: found.fullmatch(_readable(name)) is not None


def _readable(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _options() -> Any:
    options = re2.Options()
    options.log_errors = False  # it would write to stderr by itself
    return options
