"""What a name that does not exist may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, names: Iterable[str], most: int = 1) -> str:
    """The end of a sentence: "; did you mean ...?", or nothing where no name is near."""
    near = difflib.get_close_matches(name, list(names), most)
    return f"; did you mean {', '.join(near)}?" if near else ""
