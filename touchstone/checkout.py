"""Whether this package runs from a checkout, where its folders stand beside it, or is installed."""

from __future__ import annotations

import os


def _root() -> str | None:
    here = os.path.dirname(os.path.abspath(__file__))
    linked = os.path.join(here, "harness")  # a folder where installed
    if os.path.isdir(linked) and not os.path.islink(linked):
        return None
    root = os.path.dirname(here)
    return root if os.path.isfile(os.path.join(root, "pyproject.toml")) else None


ROOT = _root()
"""The repository's folder; None where installed."""
ONLY_HERE = "writes files of the suites, which only a checkout has; this Touchstone is installed"
