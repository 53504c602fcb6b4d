"""Commands of environments that hold the wheel and nothing of this checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# A version that is not there is a wrong range of ours: pip then lists those that are.
UNREACHED = re.compile(r"\(from versions: none\)|Max retries|Temporary failure")
OURS = ("PYTHONPATH", "PYTEST_", "TOUCHSTONE_", "VIRTUAL_ENV")
Environment = Callable[..., Path]


def pip(python: str | Path, *words: str | Path) -> None:
    """Install into the environment of `python`, which needs no pip of its own. Skips where no
    package registry is reached; any other failure is one of the package.
    """
    argv = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    argv += [*(["--python", str(python)] if str(python) != sys.executable else []), *words]
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    if done.returncode and UNREACHED.search(done.stderr):
        pytest.skip("not run: no package registry")
    assert done.returncode == 0, done.stderr


def clean_environment(programs: Path) -> dict[str, str]:
    """The variables of somebody who has `programs` in front of the path and nothing of ours."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return kept | {"PATH": f"{programs}{os.pathsep}{kept['PATH']}", "NO_COLOR": "1"}
