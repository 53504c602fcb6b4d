"""A claim that got a better id is found under its former one, in all that was kept."""

from __future__ import annotations

import datetime
from types import SimpleNamespace

import pytest

from touchstone import plugin
from touchstone.harness import known
from touchstone.harness.cli.coverage import all_claims
from touchstone.harness.known import How, Pin
from touchstone.harness.model import former_ids, ledger
from touchstone.harness.model.recordings import load, write
from touchstone.harness.model.transcript import dumps
from touchstone.harness.results import jsonl, rows, run_folder
from touchstone.harness.run import detection
from touchstone.harness.tests.doctor import golden
from touchstone.harness.tests.test_known import a_row, difference
from touchstone.harness.tests.test_ledger import a_claim

OLD = "transactions.groups-with-pending-offsets-stay"
NEW = former_ids.current(OLD)
TODAY = datetime.date(2026, 11, 21)


@pytest.mark.slow
def test_every_former_id_leads_to_a_claim_and_is_nobodys():
    ids = {claim.id: claim for claim in all_claims()}
    for old, new in former_ids.table().items():
        assert old not in ids and old in ids[new].aliases


def test_a_former_id_that_leads_nowhere_is_a_mistake(monkeypatch):
    monkeypatch.setattr(former_ids, "table", lambda: {"topics.old": "topics.nowhere"})
    found = ledger.mistakes([a_claim()], whole=True)
    assert "former_ids.toml: topics.old leads to topics.nowhere, which is no claim" in found


def test_names_of_cases_keep_their_parameters():
    assert NEW != OLD
    assert former_ids.current(f"{OLD}[v2,a=1]") == f"{NEW}[v2,a=1]"
    assert former_ids.current("topics.some-claim[v2]") == "topics.some-claim[v2]"
    assert OLD in former_ids.former(NEW) and former_ids.former(OLD) == ()


def test_recordings_under_a_former_id_are_found(tmp_path):
    seen = golden("2.8")
    path = tmp_path / "transactions.jsonl.xz"
    write(path, "2.8", "transactions", {f"{OLD}[v1]": dumps(seen)})
    assert list(load(path).cases) == [f"{NEW}[v1]"]


PIN = {"id": "one", "target": "reference@*", "reason": "so", "issue": "4",
       "expires": datetime.date(2027, 1, 1)}  # fmt: skip


@pytest.mark.parametrize("pinned", [OLD, NEW, OLD[:-3] + "*"])
@pytest.mark.parametrize("name", [OLD, NEW])
def test_a_pin_of_a_claim_holds_under_either_id(pinned, name):
    pin = Pin(**PIN, claim=pinned, signature="DIVERGES kept create: topics[0].error_code")
    assert known.explain(a_row(f"{name}[v4]"), [pin], TODAY) == "one"


@pytest.mark.parametrize("pinned", [OLD, NEW])
@pytest.mark.parametrize("name", [OLD, NEW])
def test_a_pin_of_a_cause_holds_under_either_id(pinned, name, tmp_path):
    places = known.places(a_row(differences=[difference()]))
    made = Pin(**PIN, cause="so", how=(How(places, frozenset({f"{pinned}[v4]"})),))
    file = tmp_path / "known.toml"
    file.write_text(known.dumps([made]), encoding="utf-8")
    (pin,) = known.load([file])
    assert known.explain(a_row(f"{name}[v4]"), [pin], TODAY) == "one"
    assert NEW in known.dumps([pin]) and OLD not in known.dumps([pin])


def test_results_of_earlier_runs_have_the_ids_of_today(tmp_path):
    case = dict.fromkeys(rows.REQUIRED, "x") | dict.fromkeys(rows.LISTED, [])
    case |= {"row": "case", "claim": OLD, "case": f"{OLD}[v1]", "verdict": "CONFORMS"}
    with jsonl.Writer(tmp_path / "x.jsonl", {"row": "header", "schema": rows.SCHEMA, "target": "x"}
                      | dict.fromkeys(set(rows.HEADED) - {"target"}, "x")) as out:  # fmt: skip
        out.case(case)
        out.finish(finished="2026-11-21T00:00:00Z", exit_code=0)
    (report,) = run_folder.named([tmp_path / "x.jsonl"])
    assert [(row["claim"], row["case"]) for row in report.rows] == [(NEW, f"{NEW}[v1]")]
    (row,) = jsonl.read(tmp_path / "x.jsonl").cases  # as it was written: it is held against others
    assert (row["claim"], row["case"]) == (OLD, f"{OLD}[v1]")


def test_a_word_of_pytest_chooses_a_claim_by_either_id():
    function = detection.functions()[NEW][1]
    item = SimpleNamespace(function=function, extra_keyword_matches=set())
    plugin.pytest_itemcollected(item)
    plain = SimpleNamespace(function=print, extra_keyword_matches=set())
    plugin.pytest_itemcollected(plain)
    assert item.extra_keyword_matches == {OLD, NEW} and plain.extra_keyword_matches == set()
