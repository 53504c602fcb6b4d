"""Clauses about clients are shown by the reference client's tests: those that are named exist."""

import ast
import re

import pytest

from touchstone.harness import ledger

TESTS = ledger.SUITES.parent / "reference_impl" / "tests" / "client"
WORDS = "the reference client's; tests/client: "


def named() -> list[tuple[str, str, str]]:
    """(clause, module, test) of every reason that names tests."""
    return [
        (entry.id, *name.split("::"))
        for entry in ledger.load().clauses.values()
        if entry.reason.startswith(WORDS)
        for name in entry.reason.removeprefix(WORDS).split(", ")
    ]


@pytest.mark.parametrize(("area", "least"), [("PROD", 30), ("CONS", 30), ("META", 2), ("MISC", 3)])
def test_tests_that_show_a_clause_exist(area, least):
    rows = [row for row in named() if row[0].startswith(area)]
    assert len(rows) >= least
    missing = []
    for clause, module, test in rows:
        tree = ast.parse((TESTS / f"{module}.py").read_text(encoding="utf-8"))
        if test not in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}:
            missing.append((clause, module, test))
    assert not missing


def test_reasons_that_name_tests_all_say_so_in_the_same_words():
    for entry in ledger.load().clauses.values():
        if re.match("(PROD|CONS)", entry.id) and entry.status == "implicit":
            assert entry.reason.startswith(WORDS), entry
