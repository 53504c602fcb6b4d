"""A target that cannot be prepared, for campaigns that start it again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from touchstone.fuzz.corpus_run import NotPrepared
from touchstone.fuzz.share import Where


@pytest.fixture
def unprepared(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Called with a number: so many times, a target is not prepared."""

    def first(times: int) -> None:
        prepare, left = Where.prepare, [times]

        def prepared(self, link):
            left[0] -= 1
            if left[0] >= 0:
                raise NotPrepared("topics were not deleted")
            return prepare(self, link)

        monkeypatch.setattr(Where, "prepare", prepared)

    return first
