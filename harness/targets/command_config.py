"""The file that says how to log in to clusters that somebody else runs, wherever it is given."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

from touchstone.harness.targets import reach

VARIABLE = "TOUCHSTONE_COMMAND_CONFIG"  # of every command, and of pytest runs


_given: list[str] = []


def words() -> tuple[str, ...]:
    """Return the words that give the file again, in a command that is shown."""
    return tuple(_given)


def obey(path: Path | None) -> list[str]:
    """Have targets that somebody else runs be logged in to as this file says, or that which the
    environment names, if any. Return a line for what nobody obeys in it. Raise BadLogin.
    """
    _given[:] = [reach.COMMAND_CONFIG, str(path)] if path else []
    named = path or os.environ.get(VARIABLE)
    if not named:
        reach.ask(None)
        return []
    login = importlib.import_module("touchstone.harness.targets.login")  # costs what a client does
    found = login.of_file(Path(named))
    reach.ask(found)
    return list(found.unused())
