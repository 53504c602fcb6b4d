"""`touchstone.containers`: the class for testcontainers, or one line that says what it needs."""

from __future__ import annotations

import importlib
import sys

import pytest

OURS = ("touchstone.containers", "touchstone.harness.targets.touchstone_container")


def test_without_its_extra_it_says_which(monkeypatch):
    for name in OURS:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "testcontainers.core.container", None)
    with pytest.raises(ModuleNotFoundError, match=r"the extra docker"):
        importlib.import_module(OURS[0])


def test_it_gives_the_class():
    found = pytest.importorskip(
        OURS[0], reason="not run: no Python package of the docker extra", exc_type=ImportError
    )
    assert found.TouchstoneContainer.get_bootstrap_server
