"""Clauses about clients are shown by the reference client's tests, which the ledger names."""

import re

import pytest

from touchstone.harness.model import ledger


@pytest.mark.parametrize(("area", "least"), [("PROD", 30), ("CONS", 30), ("META", 2), ("MISC", 3)])
def test_clauses_about_clients_name_tests(area, least):
    named = [entry for entry in ledger.load().clauses.values() if entry.tests]
    assert len([entry for entry in named if entry.id.startswith(area)]) >= least


def test_what_is_implicit_about_clients_names_a_test():
    for entry in ledger.load().clauses.values():
        if re.match("(PROD|CONS)", entry.id) and entry.status == "implicit":
            assert entry.tests, entry
