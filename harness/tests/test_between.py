"""Releases between those with a persona: which case of a claim is theirs, whose answer it has."""

from __future__ import annotations

import dataclasses
import json

import pytest

from touchstone.harness.judgement import bundle
from touchstone.harness.judgement.bundle import Bundle
from touchstone.harness.judgement.verdict import BROKEN, CONFORMS, DIVERGES, Verdict
from touchstone.harness.model import advertised, between
from touchstone.harness.model.case import Case, Experiment, Judgement
from touchstone.harness.model.claim import Claim, every
from touchstone.harness.model.expect import by_release, nothing_expected
from touchstone.harness.model.provenance import Provenance
from touchstone.harness.model.recordings import Missing, Store, Written, load
from touchstone.harness.model.scenario import Scenario
from touchstone.harness.run.oracles import Live, Recorded
from touchstone.harness.run.recorder import Recorder, written
from touchstone.harness.targets import matrix
from touchstone.harness.targets.release import RECORDED, Release
from touchstone.harness.tests.doctor import golden

SEEN = golden("2.8")
MARK = SEEN.header.fingerprint
JAR = Provenance("2.8", "2.8.2", "kafka.jar", "ab" * 32, "17", date="2026-11-28", commit="c")
OWN = dataclasses.replace(JAR, release="2.5", version="2.5.1", sha256="cd" * 32)


def by(jar, seen=SEEN):
    """An answer of this jar."""
    return dataclasses.replace(
        seen, header=dataclasses.replace(seen.header, origin=jar.to_json(), release=jar.release)
    )


@pytest.fixture
def stores(tmp_path):
    """Kafka 2.8, and 2.5 whose answer to `a` is that of 2.8 and whose answer to `b` is its own."""
    Store("2.8", tmp_path).update("topics", {"a[v1]": by(JAR), "b[v1]": by(JAR)})
    ways = {"a[v1]": Written("2.8", "2.8.2", MARK), "b[v1]": Written("2.8")}
    Store("2.5", tmp_path).update(
        "topics", {"a[v1]": by(OWN), "b[v1]": by(OWN)}, written=ways
    )  # fmt: skip
    return Store("2.8", tmp_path), Store("2.5", tmp_path)


def a_claim(releases=None):
    return Claim(
        "topics.one", "It is.", ("TOPIC-11",), "MUST", "topics", "suites.topics.test_one.test_it",
        api="CreateTopics", versions=every("CreateTopics"), releases=releases,
    )  # fmt: skip


def test_an_answer_that_is_another_releases_is_read_there_and_is_the_releases_own(stores):
    _, store = stores
    assert load(store.path("topics")).cases["a[v1]"] == "", "it is not stored twice"
    found = store.transcript("topics", "a[v1]", MARK)
    assert found.events == SEEN.events and found.header.release == "2.5"
    assert found.header.origin["version"] == "2.5.1"
    assert store.cases("topics")["a[v1]"] and store.took_s("topics", "a[v1]") > 0


def test_an_answer_of_its_own_is_stored(stores):
    _, store = stores
    assert load(store.path("topics")).cases["b[v1]"]
    assert store.transcript("topics", "b[v1]", MARK).events == SEEN.events
    assert store.written("topics") == {
        "a[v1]": Written("2.8", "2.8.2", MARK), "b[v1]": Written("2.8")
    }  # fmt: skip


def test_the_other_release_may_not_have_changed_since(stores):
    other, store = stores
    header = dataclasses.replace(SEEN.header, fingerprint="0" * 16)
    changed = dataclasses.replace(SEEN, header=header)
    other.update("topics", {"a[v1]": by(JAR, changed)})
    with pytest.raises(Missing, match="has changed since Kafka 2.8 was recorded"):
        Store("2.5", store.folder.parent).transcript("topics", "a[v1]", MARK)
    other.update("topics", {"a[v1]": by(dataclasses.replace(JAR, version="2.8.3"))})
    with pytest.raises(Missing, match="as 2.8.2 does, of which there is no recording"):
        Store("2.5", store.folder.parent).transcript("topics", "a[v1]", MARK)
    other.update("topics", {}, known=["b[v1]"])
    with pytest.raises(Missing, match="was not recorded"):
        Store("2.5", store.folder.parent).transcript("topics", "a[v1]", MARK)


def test_recording_one_case_keeps_what_is_said_of_the_others(stores):
    _, store = stores
    store.update("topics", {"b[v1]": by(OWN)}, written={"b[v1]": Written("2.2")})
    assert Store("2.5", store.folder.parent).written("topics") == {
        "a[v1]": Written("2.8", "2.8.2", MARK), "b[v1]": Written("2.2")
    }  # fmt: skip


def test_a_release_that_gets_a_persona_is_recorded_as_all_others_are(stores):
    _, store = stores
    store.update("topics", {"a[v1]": by(OWN)})
    found = load(store.path("topics"))
    assert found.cases["a[v1]"] and found.written.keys() == {"b[v1]"}


def test_a_release_between_is_written_as_for_the_next_one_the_one_before_and_itself():
    assert between.ways("2.5") == ("2.8", "2.2", "2.5")
    assert between.ways("9.0") == ("4.3", "9.0"), "none is newer"


def test_a_claim_has_one_case_of_the_newest_version_between():
    table = {19: (0, 5)}
    (case,) = between.as_for(a_claim(), "2.8", table)
    assert (case.id, case.like) == ("topics.one[v5]", "2.8")
    assert between.as_for(a_claim("1.0-2.2"), "2.8", table) == []
    assert [one.like for one in between.as_for(a_claim("1.0-2.2"), "2.2", table)] == ["2.2"]


def test_the_case_of_a_release_between_is_the_one_that_is_recorded(tmp_path):
    store = Store("2.5", tmp_path)
    store.update("topics", {"topics.one[v5]": SEEN}, written={"topics.one[v5]": Written("2.2")})
    (case,) = between.recorded(a_claim(), store, {19: (0, 5)})
    assert (case.id, case.like) == ("topics.one[v5]", "2.2")
    assert Case(case, Recorder(LIVE, "2.8", "2.8.2", None)).release == "2.2"
    assert between.recorded(a_claim(), store, {19: (0, 6)}) == [], "of another version is no case"


class _Kafka:
    name = "kafka@2.5.1"


LIVE = Live(_Kafka(), "2.5", 1.0, lambda shape: OWN)  # type: ignore[arg-type]
SCENARIO = Scenario(())


class _Asker:
    """What a judge does, as `judgement` does it, which is given the judge."""

    def __init__(self, judgement):
        self.oracle, self.judgement = None, judgement

    def tried(self, case, scenario, expectation, suffix):
        return self.judgement(self)


def recorder(monkeypatch, like="2.8"):
    monkeypatch.setattr(advertised, "is_between", lambda release: release == "2.5")
    return Recorder(LIVE, "2.5", "2.5.1", like)


@pytest.mark.parametrize(
    ("kind", "asked", "way"),
    [
        (CONFORMS, [Recorded], Written("2.8", "2.8.2", MARK)),
        (DIVERGES, [Recorded, Live], Written("2.8")),
    ],
)
def test_what_another_release_answers_is_asked_once(monkeypatch, kind, asked, way):
    (case,) = between.as_for(a_claim(), "2.8", {19: (0, 5)})
    held = []

    def tried(judge):
        held.append(type(judge.oracle))
        recorded = isinstance(judge.oracle, Recorded)
        header = dataclasses.replace(SEEN.header, kind="recorded" if recorded else "live")
        kafkas = dataclasses.replace(SEEN, header=header)
        verdict = Verdict(kind if recorded else CONFORMS)
        return Judgement(verdict, SCENARIO, nothing_expected(), SEEN, kafkas)

    found = recorder(monkeypatch).judgement(_Asker(tried), case, SCENARIO, nothing_expected())
    assert held == asked and found.verdict.kind == CONFORMS
    if asked == [Recorded]:
        assert found.oracle.header.origin == OWN.to_json(), "it is this release that was asked"
    monkeypatch.setattr(Store, "origin", lambda self, suite, name: JAR)
    assert written(case, found.oracle) == way


def test_a_case_of_its_own_release_is_asked_twice(monkeypatch):
    (case,) = between.as_for(a_claim(), "2.5", {19: (0, 5)})
    held = []
    asker = _Asker(lambda judge: held.append(judge.oracle))
    recorder(monkeypatch, "2.5").judgement(asker, case, SCENARIO, nothing_expected())
    assert held == [LIVE]


@pytest.mark.parametrize(("release", "like"), [("2.5", None), ("2.8", "2.2")])
def test_only_a_release_between_is_written_as_for_another(monkeypatch, release, like):
    monkeypatch.setattr(advertised, "is_between", lambda release: release == "2.5")
    with pytest.raises(ValueError, match="--written-as"):
        Recorder(LIVE, release, "2.5.1", like)


def test_what_is_missing_is_what_changed_or_another_version_answered(monkeypatch, tmp_path):
    made = recorder(monkeypatch)
    made.store = store = Store("2.5", tmp_path)
    monkeypatch.setattr(advertised, "table", lambda release: {19: (0, 5)})
    (case,) = between.as_for(a_claim(), "2.8", {19: (0, 5)})

    def function(case):
        return Experiment(SCENARIO, nothing_expected())

    seen = dataclasses.replace(
        SEEN, header=dataclasses.replace(SEEN.header, fingerprint=SCENARIO.fingerprint())
    )
    assert not made.has(function, case)
    store.update("topics", {case.id: by(OWN, seen)}, written={case.id: Written("2.2")})
    assert made.has(function, case), "its claim is recorded, as for another release"
    assert not made.has(lambda case: Experiment(Scenario((), brokers=3), nothing_expected()), case)
    made.version = "2.5.2"
    assert not made.has(function, case)


def test_a_bundle_is_judged_by_the_release_that_its_case_is_written_for(tmp_path):
    split = by_release({"2.8": nothing_expected()})
    made = Bundle(
        "a[v1]",
        "topics.a",
        "It is.",
        ("KIP-1",),
        "2.5",
        {},
        SCENARIO,
        split,
        SEEN,
        SEEN,
        like="2.8",
    )
    kept = bundle.read(bundle.write(made, tmp_path))
    assert (kept.release, kept.like, kept.judge().kind) == ("2.5", "2.8", CONFORMS)
    assert dataclasses.replace(made, like=None).judge().kind == BROKEN


def test_a_table_says_that_its_release_is_one_between(tmp_path):
    advertised.write("2.8", "2.8.2", {0: (0, 9)}, tmp_path)
    advertised.write("2.5", "2.5.1", {0: (0, 8)}, tmp_path, between=True)
    assert list(advertised.every(tmp_path)) == ["2.5", "2.8"]
    assert list(advertised.tables(tmp_path)) == ["2.8"]
    assert advertised.is_between("2.5", tmp_path) and not advertised.is_between("2.8", tmp_path)
    assert json.loads((tmp_path / "2.5" / "advertised.json").read_text())["release"] == "2.5.1"


def test_a_release_between_is_for_whoever_advertises_exactly_what_it_does(monkeypatch, tmp_path):
    for release, table in advertised.every().items():
        advertised.write(release, release, table, tmp_path, between=release == "2.8")
    of_28 = dict(advertised.table("2.8"))
    read = advertised._read
    monkeypatch.setattr(advertised, "_read", lambda folder: read(tmp_path))
    assert advertised.is_between("2.8") and advertised.neighbours("2.8")[1:] == ("2.2",)
    assert advertised.held_against(of_28).release == "2.8"
    of_28[0] = (0, 77)
    assert advertised.held_against(of_28).release in advertised.tables()


def test_our_broker_does_not_play_a_release_between(monkeypatch):
    known = (*matrix.releases(), Release("9.9.0", RECORDED))
    monkeypatch.setattr(matrix, "recorded", lambda: known)
    assert matrix.release("9.9").version == "9.9.0"
    with pytest.raises(matrix.UnknownRelease, match="Kafka 9.9 has no persona"):
        matrix.persona("9.9")
    assert "9.9" not in [one.name for one in matrix.releases()]


def test_no_two_releases_advertise_the_same():
    tables = [dict(table) for table in advertised.every().values()]
    assert all(one != other for at, one in enumerate(tables) for other in tables[:at])


def test_what_is_recorded_of_a_release_between_is_whole():
    for store in [Store(one) for one in advertised.every() if advertised.is_between(one)]:
        assert store.suites(), store.release
        for suite in store.suites():
            found = load(store.path(suite))
            assert found.written.keys() == found.cases.keys() == found.origins.keys()
            assert all(origin.whole for origin in found.origins.values())
            for case, text in found.cases.items():
                assert bool(text) != bool(found.written[case].same), case
