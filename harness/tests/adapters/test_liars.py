"""Each claim of a client catches the planted defects that it names (harness/adapters/liars.py)."""

from __future__ import annotations

import importlib

import pytest

from touchstone.harness.adapters.liars import DEFECTS
from touchstone.harness.cli.coverage import all_claims
from touchstone.harness.model import advertised
from touchstone.harness.model.case import Case, run_case
from touchstone.harness.model.claim import CLIENT_ROLE, module_of
from touchstone.harness.model.expect import fits

CLAIMS = [claim for claim in all_claims() if claim.role == CLIENT_ROLE]
BY_DAY = {
    "producer.acks-are-those-of-the-configuration", "producer.keys-are-divided-by-murmur2",
    "producer.fatal-errors-are-reported", "producer.sequences-count-records",
    "consumer.records-come-once-and-in-order", "admin.a-topic-that-exists-is-reported",
    "consumer.the-offset-of-the-next-record-is-committed",
}  # fmt: skip


def lied(claim, defect, judge):
    module, _, name = claim.where.rpartition(".")
    function = getattr(importlib.import_module(module_of(module)), name)
    served = [each for each in advertised.tables() if fits(each, claim.releases or "1.0+")]
    one = judge(f"touchstone+{defect}", 5.0, served[-1])
    return [run_case(function, Case(case, one)).verdict.kind for case in one.cases(claim)]


def test_every_defect_is_named_by_a_claim_and_every_claim_names_one():
    assert {name for claim in CLAIMS for name in claim.switches} == set(DEFECTS)
    assert [claim.id for claim in CLAIMS if not claim.switches] == []


@pytest.mark.slow
@pytest.mark.parametrize("id", sorted(BY_DAY))
def test_a_claim_catches_its_liars(id, judge):
    (claim,) = (claim for claim in CLAIMS if claim.id == id)
    assert all("DIVERGES" in lied(claim, defect, judge) for defect in claim.switches)


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.timeout(600)
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_catches_its_liars(claim, judge):
    assert all("DIVERGES" in lied(claim, defect, judge) for defect in claim.switches)
