"""Every test of a log runs over memory and over files."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.log.memory_store import MemoryStore
from touchstone.reference_impl.tests.log import stores


@pytest.fixture(autouse=True, params=["memory", "disk"])
def store(request, tmp_path):
    chosen = MemoryStore if request.param == "memory" else stores.on_disk(tmp_path)
    stores.chosen.append(chosen)
    yield request.param
    stores.chosen.pop()
