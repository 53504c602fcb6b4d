"""The frozen corpus: every persona shows what real Kafka of its release showed, or a row says why.

The outcomes were recorded on Apache Kafka 1.0.2, 2.2.1, 2.8.2, 3.9.2 and 4.3.1, twice each.
"""

from __future__ import annotations

import os

import pytest

from touchstone.fuzz.cases import BadCase, corpus, load, outcomes, reviewed_differences
from touchstone.fuzz.corpus_run import differences, play_corpus
from touchstone.fuzz.runner import Link
from touchstone.harness.model import advertised
from touchstone.reference_impl.io.server import serve

CASES = corpus()
RELEASES = tuple(advertised.tables())  # those that real Kafka was recorded for
NAMES = {case.name for case in CASES}


@pytest.fixture(scope="module")
def seen() -> dict[str, dict[str, str]]:
    """Release -> case -> signature, of the reference broker's personas."""
    found = {}
    for release in RELEASES:
        with serve(release=release) as cluster:
            host, _, port = cluster.bootstrap[0].rpartition(":")
            with Link(host, int(port)) as link:
                found[release] = play_corpus(link, CASES, fresh=False)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_the_persona_does_what_kafka_did(seen, release):
    assert differences(release, seen[release], outcomes(release)) == []


@pytest.mark.slow
def test_a_reviewed_difference_is_still_one(seen):
    agreed = [
        (name, release)
        for row in reviewed_differences()
        for name in row.cases
        for release in row.releases
        if seen[release][name] == outcomes(release)[name]
    ]
    assert agreed == []


@pytest.mark.slow
def test_a_planted_defect_shows_as_a_difference():
    with serve(release="4.3", switches=("crc-not-checked",)) as cluster:
        host, _, port = cluster.bootstrap[0].rpartition(":")
        case = [case for case in CASES if case.name == "33-crc-off-by-one-bit"]
        with Link(host, int(port)) as link:
            found = play_corpus(link, case, fresh=False)
    assert len(differences("4.3", found, outcomes("4.3"))) == 1


@pytest.mark.parametrize("release", RELEASES)
def test_every_case_has_an_outcome_of_every_release(release):
    assert outcomes(release).keys() == NAMES


def test_a_name_begins_with_its_class():
    assert [case.name for case in CASES if int(case.name[:2]) != case.input_class] == []


def test_no_frozen_case_leaves_a_released_broker_silent():
    silent = [
        (release, name)
        for release in RELEASES
        for name, shown in outcomes(release).items()
        if "silent" in shown
    ]
    assert silent == []


def test_reviewed_cases_exist_and_have_reasons():
    assert all(set(row.cases) <= NAMES and row.reason for row in reviewed_differences())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("class = ", "not TOML"),
        ("class = 1", "sentence"),
        ('class=1\nsentence=""\nkey=0\nversion=0\nsegments=["xx"]', "segments"),
    ],
)
def test_a_bad_case_file_is_named_with_its_field(tmp_path, text, said):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(BadCase, match=f"bad.toml.*{said}"):
        load(path)


def test_what_is_no_file_or_nested_without_end_is_refused(tmp_path):
    pipe, deep = tmp_path / "pipe.toml", tmp_path / "deep.toml"
    os.mkfifo(pipe)
    deep.write_text("steps = " + "[" * 100_000)
    for path, said in ((pipe, "not a file"), (deep, "nested deeper")):
        with pytest.raises(BadCase, match=f"{path.name}: {said}"):
            load(path)
