"""What ran for the first time is told once; both ways of watching agree about lines."""

from __future__ import annotations

import sys

import pytest

from touchstone.fuzz import novelty as watching
from touchstone.fuzz.novelty import BORED, Traced, novelty


@pytest.fixture
def code(tmp_path):
    """A function of a file in the watched folder."""
    path = tmp_path / "subject.py"
    path.write_text(
        "def subject(n):\n    if n > 0:\n        return 'positive'\n"
        "    while n < 0:\n        n += 1\n    return 'other'\n"
    )
    names: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names["subject"]


@pytest.fixture(params=["this Python's", "traced"])
def seen(request, tmp_path, code):
    made = Traced(str(tmp_path)) if request.param == "traced" else novelty(str(tmp_path))
    yield made
    made.stop()


def lines(news) -> set[int]:
    return {one[1] for one in news if len(one) == 2}


def test_a_line_is_told_once(seen, code):
    code(1)
    first = lines(seen.new_places())
    code(1)
    assert (first, lines(seen.new_places())) == ({2, 3}, set())


def test_a_line_that_is_reached_later_is_told_then(seen, code):
    code(1)
    seen.new_places()
    code(-2)
    assert lines(seen.new_places()) == {4, 5, 6}


def test_a_line_is_told_however_long_nothing_was_new(seen, code):
    for _ in range(BORED - 1):
        code(1)
    seen.new_places()
    code(0)
    assert lines(seen.new_places()) == {4, 6}


def test_after_forgetting_everything_is_new(seen, code):
    code(1)
    seen.forget()
    code(1)
    assert lines(seen.new_places()) == {2, 3}


def test_other_folders_are_not_watched(seen, code):
    watching.FOLDER.startswith("x")
    assert seen.new_places() == frozenset()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="branches are told from Python 3.12 on")
def test_both_ways_of_a_branch_are_told(seen, code):
    if isinstance(seen, Traced):
        return
    code(1)
    seen.new_places()
    code(0)
    assert any(len(one) == 3 for one in seen.new_places())
