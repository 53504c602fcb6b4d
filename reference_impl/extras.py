"""How to get the packages that an extra of this distribution brings.

A hint names the packages, in the ranges that the installed version asks for, and not the
distribution with its extra: that works wherever Touchstone came from, a checkout, a wheel or an
index. The ranges are read from the installed metadata, so `pyproject.toml` alone holds them.
"""

from __future__ import annotations

import importlib
import re
import shlex

DISTRIBUTION = "kafka-touchstone"
_OF_AN_EXTRA = re.compile(r"""(?P<package>[^;]+?)\s*;.*\bextra\s*==\s*["'](?P<extra>[\w-]+)["']""")


class MissingExtra(ValueError):
    """A setting asks for what an extra brings that is not installed; the message says how."""

    def __init__(self, wanted: str, extra: str) -> None:
        super().__init__(f"{wanted} {hint(extra)}")
        self.extra = extra


def hint(extra: str) -> str:
    """Return which extra it is and how to get it, as the end of a sentence that says what lacks."""
    return f"(the extra {extra}): {install_command(extra)}"


def install_command(extra: str) -> str:
    """Return the command that installs the packages of an extra, quoted for a shell."""
    return " ".join(["pip install", *map(shlex.quote, requirements(extra))])


def requirements(extra: str) -> list[str]:
    """Return what an extra requires, each as pip takes it; the extra itself where this is run from
    a folder that was never installed.
    """
    metadata = importlib.import_module(
        "importlib.metadata"
    )  # costs 10 ms, which no start waits for
    try:
        every = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        every = []
    found = [_OF_AN_EXTRA.match(each) for each in every]
    return [one["package"] for one in found if one and one["extra"] == extra] or [
        f"{DISTRIBUTION}[{extra}]"
    ]
