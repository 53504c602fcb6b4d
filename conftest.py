"""For pytest in this checkout: a test file is imported once, by the name that others import it by.

pytest takes `suites/topics/test_create.py` for the module `suites.topics.test_create`. Everything
else here, and everything installed, says `touchstone.suites.topics.test_create`; under two names
the file would run twice, and its classes and claims would be two of each.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent
FOLDERS = ("harness", "suites", "fuzz", "reference_impl")


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> None:
    """Import the file as `touchstone....`; pytest then finds it under its own name, too."""
    if not module_path.is_relative_to(ROOT):
        return
    parts = module_path.relative_to(ROOT).with_suffix("").parts
    name = ".".join(parts)
    if parts[0] in FOLDERS and name not in sys.modules:
        try:
            sys.modules[name] = importlib.import_module(f"touchstone.{name}")
        except (Exception, pytest.skip.Exception):
            return  # pytest imports it again, and shows why that fails
