"""The wheel, built once, and environments that hold it and nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from touchstone.checkout import ROOT
from touchstone.harness.tests.installed.environments import Environment, pip

SOURCE = ("touchstone", "harness", "suites", "fuzz", "reference_impl", "ci")
PAGES = ("pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    for name in SOURCE:
        left_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(ROOT, name), folder / "source" / name, symlinks=True, ignore=left_out)
    for name in PAGES:
        shutil.copy(Path(ROOT, name), folder / "source")
    pip(sys.executable, "wheel", "--no-deps", "-w", folder, folder / "source")
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def environment(wheel, tmp_path_factory) -> Environment:
    """Make an environment of the wheel with an extra and `more` requirements, by a Python; return
    the folder of its programs.
    """

    def made(extra: str = "", more: Iterable[str] = (), python: str = sys.executable) -> Path:
        folder = tmp_path_factory.mktemp("environment")
        subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
        programs = folder / "bin"
        # Python compiles what is imported; of all that is installed pip would compile each module.
        what = f"{wheel}[{extra}]" if extra else wheel
        pip(programs / "python", "install", "--no-compile", what, *more)
        return programs

    return made
