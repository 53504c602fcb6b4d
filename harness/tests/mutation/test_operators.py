"""What each operator changes, and what is left alone."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from touchstone.harness.mutation.operators import OPERATORS, Source


def changes(text: str) -> set[str]:
    source = Source("room", dedent(text))
    return {f"{one.operator}: {one.was} -> {one.now}" for one in source.mutants}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("return a < b", {"comparison: a < b -> a <= b", "comparison: a < b -> a >= b"}),
        ("return a == b", {"comparison: a == b -> a != b"}),
        ("return a is not b", {"comparison: a is not b -> a is b"}),
        ("return 0", {"constant: 0 -> 1"}),
        ("return 7", {"constant: 7 -> 8", "constant: 7 -> 6"}),
        ("return True", {"constant: True -> False"}),
        ("return 'word'", set()),
        ("return not a", {"negation: not a -> a"}),
        ("return a and b", {"both: a and b -> a or b", "both: a and b -> a", "both: a and b -> b"}),
        ("return a + b", {"arithmetic: a + b -> a - b"}),
        ("return min(a)", {"call: min(a) -> max(a)"}),
        ("return f(a, b)", {"call: f(a, b) -> f(b, a)"}),
        ("a.b = c", {"statement: a.b = c -> pass"}),
        ("a += b", {"statement: a += b -> pass"}),
        ("f(a)", {"statement: f(a) -> pass"}),
        ("del a[b]", {"statement: del a[b] -> pass"}),
        ("a = b", set()),
        ("return b if a else c", {"condition: b if a else c -> b if True else c",
                                  "condition: b if a else c -> b if False else c"}),
        ("return ErrorCode.NOT_COORDINATOR", {
            "code: ErrorCode.NOT_COORDINATOR -> ErrorCode.INVALID_TOPIC_EXCEPTION"}),
        ("LOG.info(a, 1)", set()),
        ("assert a < 1", set()),
        ("raise ValueError(1)", set()),
    ],
)  # fmt: skip
def test_what_stands_in_its_place(line, found):
    assert changes(f"def f(a, b, c):\n    {line}\n") == found


def test_every_operator_has_a_row_above():
    rows = test_what_stands_in_its_place.pytestmark[0].args[1]
    tried = {one.partition(":")[0] for _, found in rows for one in found}
    assert tried | {"loop"} == {operator.__name__ for _, operator in OPERATORS}


def test_a_loop_ends_where_it_went_on():
    text = "def f():\n    for x in y:\n        continue\n"
    assert changes(text) == {"loop: continue -> break"}


def test_a_function_is_named_by_its_outermost():
    source = Source("room", "class A:\n    def f(self):\n        def g(): return 1 < 2\n")
    assert {one.function for one in source.mutants} == {"A.f"}


def test_text_that_no_peer_sees_and_what_was_computed_before_are_left():
    assert (
        changes('''
        def f(a: int = 1) -> "x":
            """Not a < b."""
        class A:
            def __repr__(self): return 1 < 2
        ''')
        == set()
    )


def test_a_changed_module_has_one_change():
    source = Source("room", "def f(a):\n    return a < 1\n")
    found = {ast.unparse(source.changed(one.number)) for one in source.mutants}
    lines = ("return a <= 1", "return a >= 1", "return a < 2")
    assert found == {f"def f(a):\n    {line}" for line in lines}
