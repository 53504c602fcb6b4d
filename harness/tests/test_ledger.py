"""The ledger: nothing is forgotten, and what it says is true."""

from __future__ import annotations

import dataclasses

import pytest

from touchstone.harness.cli.coverage import all_claims
from touchstone.harness.model import ledger
from touchstone.harness.model.claim import claim, claim_of, every, only
from touchstone.harness.model.ledger import BadLedger, Entry, Ledger

NOW = ("TOPIC", "WIRE", "APPEND", "FETCH", "META")  # areas whose clauses are judged one by one


def a_claim(id="topics.some-claim", evidence=("TOPIC-11",), where="test_it", **how):
    def test_it(case):
        """A sentence."""

    test_it.__qualname__ = where
    return claim_of(claim(id, evidence=evidence, **how)(test_it))


def test_all_clauses_and_cells_are_classified():
    claims = all_claims()
    assert [one.id for one in ledger.clauses(claims) if one.status is None] == []
    assert [one.id for one in ledger.cells(claims) if one.status is None] == []


def test_reasons_are_sentences_of_their_own_kind():
    for entry in ledger.load().clauses.values():
        if entry.status is not None:
            assert len(entry.reason) > 12, entry


@pytest.mark.parametrize("status", ["untestable", "out-of-scope", "implicit"])
def test_areas_of_today_are_not_dismissed_in_one_stroke(status):
    clauses = [one for one in ledger.clauses([]) if one.area in NOW]
    mine = [one for one in clauses if one.status == status]
    assert 0 < len(mine) < len(clauses) // 5


def test_every_clause_has_its_sentence_and_where_it_comes_from():
    for entry in ledger.load().clauses.values():
        assert entry.text.endswith((".", '."')) and len(entry.text) > 30, entry
        assert entry.source, entry


def test_what_the_ledger_names_is_in_the_tree():
    assert ledger.missing(ledger.SUITES.parent) == []


@pytest.mark.parametrize(
    "entry",
    [
        Entry("TOPIC-11", None, "", "text", "reference_impl/tests/gone.py"),
        Entry("TOPIC-11", "untestable", "see harness/gone and weep"),
        Entry("TOPIC-11", "implicit", tests=["harness/tests/test_ledger.py::test_that_is_gone"]),
        Entry("TOPIC-11", "implicit", tests=["harness/tests/test_gone.py::test_that_is_gone"]),
    ],
)
def test_what_is_not_in_the_tree_is_found(entry):
    (found,) = ledger.missing(ledger.SUITES.parent, Ledger({"TOPIC-11": entry}, {}))
    assert found.startswith("TOPIC-11: ") and "gone" in found


def test_kips_that_nobody_cites_or_nobody_knows_are_mistakes():
    kip = ledger.Kip("KIP-98", "Exactly once", ["Data Flow"])
    clause = Entry("TOPIC-11", None, source="AdminUtils; KIP-36")
    small = Ledger({"TOPIC-11": clause}, {}, {"KIP-98": kip})
    found = ledger.mistakes([a_claim()], whole=True, ledger=small)
    assert "KIP-98: neither a claim nor a clause cites it" in found
    assert "TOPIC-11: kips.toml does not have KIP-36" in found
    (mistake,) = ledger.mistakes([a_claim(evidence=("KIP-7",))], whole=False, ledger=small)
    assert "kips.toml does not have KIP-7" in mistake
    assert ledger.mistakes([a_claim(evidence=("KIP-98",))], whole=False, ledger=small) == []


def test_a_word_of_evidence_says_what_it_stands_for():
    assert "INVALID_PARTITIONS" in ledger.cited("TOPIC-11").text
    assert ledger.cited("TOPIC-11").source == "AdminUtils.assignReplicasToBrokers, 1.0.2"
    assert ledger.cited("WIRE-20.18").text == ledger.cited("WIRE-20").text
    assert ledger.cited("KIP-98").link.endswith("Exactly+Once+Delivery+and+Transactional+Messaging")
    assert ledger.cited("KIP-79").link == ledger.KIPS
    assert ledger.cited("observed on 2.8.2") == ledger.Citation("observed on 2.8.2")


def test_citing_covers_and_a_row_covers_its_table():
    claims = [a_claim(evidence=("TOPIC-11", "WIRE-20.18"))]
    standing = {one.id: one for one in ledger.clauses(claims)}
    assert standing["TOPIC-11"].claims == ("topics.some-claim",)
    assert standing["WIRE-20"].status == standing["TOPIC-11"].status == ledger.COVERED
    assert standing["TOPIC-12"].status != ledger.COVERED


def test_versions_cover_cells():
    claims = [a_claim(api="Fetch", versions=only("Fetch", 7))]
    covered = [one.id for one in ledger.cells(claims) if one.status == ledger.COVERED]
    assert covered == ["Fetch v7"]
    claims = [a_claim(api="ApiVersions", versions=every("ApiVersions"))]
    assert sum(one.status == ledger.COVERED for one in ledger.cells(claims)) == 5


def test_an_unclassified_clause_or_cell_is_a_mistake_of_the_whole():
    small = Ledger({"TOPIC-11": Entry("TOPIC-11", None)}, {})
    nothing, one = (ledger.mistakes(c, whole=True, ledger=small) for c in ([], [a_claim()]))
    assert "TOPIC-11: neither covered nor classified" in nothing
    assert "TOPIC-11: neither covered nor classified" not in one
    assert "Produce v0: neither covered nor classified" in one
    assert ledger.mistakes([a_claim()], whole=False, ledger=small) == []


def test_what_claims_cite_is_not_untestable():
    small = Ledger({"TOPIC-11": Entry("TOPIC-11", "untestable", "nobody sees it")}, {})
    found = ledger.mistakes([a_claim()], whole=True, ledger=small)
    assert any("take one of them away" in mistake for mistake in found)


@pytest.mark.parametrize("evidence", ["TOPIC-99", "NOPE-01"])
def test_evidence_nobody_knows_is_a_mistake(evidence):
    (mistake,) = ledger.mistakes([a_claim(evidence=(evidence,))], whole=False)
    assert f"nobody knows the clause {evidence}" in mistake


@pytest.mark.parametrize("evidence", ["KIP-98", "observed on 2.8.2", "schema Fetch.session_id"])
def test_other_evidence_needs_no_clause(evidence):
    assert ledger.mistakes([a_claim(evidence=(evidence,))], whole=False) == []


def test_an_id_has_one_owner_aliases_included():
    one, two = a_claim(), a_claim(where="other")
    (mistake,) = ledger.mistakes([one, two], whole=False)
    assert "the id topics.some-claim is" in mistake
    renamed = a_claim("topics.new-name", where="other")
    renamed = dataclasses.replace(renamed, aliases=("topics.some-claim",))
    assert ledger.mistakes([one, renamed], whole=False) != []
    assert ledger.mistakes([renamed], whole=False) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('[clause]\nTOPIC-1 = { status = "lost" }', "status is one of"),
        ('[clause]\nTOPIC-1 = { status = "planned" }', "without a reason"),
        ('[clause]\nTOPIC-1 = { status = "implicit" }', "without a reason"),
        ("[clause]\nTOPIC-1 = {}", "without text"),
        ('[clause]\nTOPIC-1 = { text = "It is so." }', "without source"),
        ('[kip]\nKIP-1 = { title = "Remove ZooKeeper" }', "sections"),
        ('[kip]\nKIP-1 = { title = "", sections = ["Motivation"] }', "a KIP has"),
        ('[clause]\nTOPIC-1 = { colour = "red" }', "colour"),
        ("[clause]\nsomething = {}", "no clause id"),
        ("[clause", "toml"),
    ],
)
def test_a_badly_written_ledger_is_refused(tmp_path, text, complaint):
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(BadLedger, match=complaint):
        ledger.load(tmp_path)


def test_a_clause_stands_in_one_file(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.toml").write_text('[clause]\nTOPIC-1 = { text = "x", source = "y" }')
    with pytest.raises(BadLedger, match="stands elsewhere"):
        ledger.load(tmp_path)


def test_a_run_is_whole_when_every_module_takes_part(tmp_path):
    suites = tmp_path / "suites"
    for name in ("topics/test_a.py", "fetch/test_b.py"):
        (suites / name).parent.mkdir(parents=True)
        (suites / name).write_text("")
    places = ["suites.topics.test_a.test_1", "suites.fetch.test_b.test_2"]
    assert ledger.is_whole(places, suites)
    assert not ledger.is_whole(places[:1], suites)
    assert ledger.whole_suites(places[:1], suites) == {"topics"}
