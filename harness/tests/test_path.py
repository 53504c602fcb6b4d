"""Paths lead where they say, and say where they stopped."""

from __future__ import annotations

import pytest

from touchstone.harness.model import path

VALUE = {"topics": [{"name": "a", "partitions": [{"id": 1}, {"id": 2}]}, {"name": "b"}]}


@pytest.mark.parametrize(
    "where, found",
    [
        ("topics[0].name", "a"),
        ("topics[-1].name", "b"),
        ("topics[0].partitions[*].id", [1, 2]),
        ("topics[*].name", ["a", "b"]),
        ("", VALUE),
    ],
)
def test_a_path_leads_to_its_value(where, found):
    assert path.get(VALUE, where) == found


@pytest.mark.parametrize(
    "where, stopped",
    [
        ("topics[2].name", "topics"),
        ("topics[0].nam", "topics[0]"),
        ("topics[*].partitions", "topics[1]"),
        ("topics.name", "topics"),
        ("topics[0].name[0]", "topics[0].name"),
    ],
)
def test_a_path_that_leads_nowhere_says_where_it_stopped(where, stopped):
    with pytest.raises(path.PathError) as caught:
        path.get(VALUE, where)
    assert caught.value.at == stopped


@pytest.mark.parametrize("text", ["a..b", "a[", ".a", "a[x]", "a b"])
def test_what_is_no_path_is_refused(text):
    with pytest.raises(ValueError, match="not a path"):
        path.parse(text)


@pytest.mark.parametrize("text", ["a", "a[0].b", "a[*].b[-1]", "[2].x"])
def test_spelling_is_the_inverse_of_parsing(text):
    assert path.spell(path.parse(text)) == text


@pytest.mark.parametrize(
    "where, op, wanted, true",
    [
        ("topics[0].partitions[*].id", "each >=", 1, True),
        ("topics[0].partitions[*].id", "each >=", 2, False),
        ("topics[0].partitions[*].id", "each ==", 1, False),
        ("topics", "len ==", 2, True),
        ("topics", "len >=", 3, False),
        ("topics", "len <=", 2, True),
        ("topics", "len <=", 1, False),
        ("topics[0].name", "in", ["a", "c"], True),
        ("topics[7].name", "!=", "a", False),
    ],
)
def test_conditions(where, op, wanted, true):
    assert path.holds(VALUE, where, op, wanted) is true


def test_an_empty_list_meets_no_condition_on_each():
    assert not path.holds({"a": []}, "a[*]", "each >=", 0)
