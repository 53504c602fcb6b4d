"""Claims: their mistakes are told where they are written, their cases follow from a release."""

from __future__ import annotations

import itertools

import pytest

from touchstone.harness.model import advertised, covering
from touchstone.harness.model.claim import (
    ClaimError,
    claim,
    claim_of,
    every,
    newest,
    only,
    range_,
    suite_of,
)

GOOD = {"evidence": ("TOPIC-11",), "api": "CreateTopics"}


def a_claim(id="topics.some-claim", sentence="A sentence.", **how):
    def test_it(case):
        pass

    test_it.__doc__ = sentence
    return claim_of(claim(id, **(GOOD | how))(test_it))


def versions(made, release):
    return [case.version for case in made.cases(release, advertised.table(release))]


def test_what_a_claim_knows():
    made = a_claim(sentence="A   sentence\n   of two lines.", switches=("lie",), config={"a": 1})
    assert made.sentence == "A sentence of two lines."
    assert made.level == "MUST" and made.switches == ("lie",)
    assert made.shape.settings == {"a": "1"}
    assert made.where.endswith("test_it")


@pytest.mark.parametrize(
    ("how", "complaint"),
    [
        ({"id": "Topics.Zero"}, "words"),
        ({"id": "topics"}, "words"),
        ({"id": "topics.7"}, None),
        ({"sentence": ""}, "docstring"),
        ({"evidence": ()}, "no evidence"),
        ({"evidence": ("somebody said",)}, "is no evidence"),
        ({"level": "PERHAPS"}, "level"),
        ({"api": "MakeTopics"}, "no API"),
        ({"versions": every("Fetch")}, "versions of Fetch"),
        ({"version": (1, 2)}, "cannot be called version"),
        ({"acks": ()}, "no values"),
        ({"releases": "new ones"}, "not a range"),
    ],
)
def test_mistakes_are_told_at_once(how, complaint):
    if complaint is None:
        a_claim(**how)
        return
    with pytest.raises(ClaimError, match=complaint):
        a_claim(**how)


def test_several_mistakes_are_told_together():
    with pytest.raises(ClaimError, match="docstring.*level"):
        a_claim(sentence="", level="PERHAPS")


@pytest.mark.parametrize("word", ["TOPIC-11", "WIRE-20.18", "KIP-98", "observed on 2.8.2"])
def test_words_of_evidence(word):
    assert a_claim(evidence=(word,)).evidence == (word,)


def test_versions_are_those_of_the_release():
    assert versions(a_claim(), "1.0") == [0, 1, 2]
    assert versions(a_claim(), "4.3") == [2, 3, 4, 5, 6, 7]
    produce = a_claim(api="Produce", versions=every("Produce"))
    assert versions(produce, "4.3")[0] == 3, "4.x lists 0 to 2 and refuses them"
    old = a_claim(api="Produce", versions=range_("Produce", 0, 2))
    assert versions(old, "4.3") == [0, 1, 2], "who asks for them by number gets them"
    assert versions(a_claim(versions=range_("CreateTopics", 5)), "1.0") == []
    assert versions(a_claim(versions=only("CreateTopics", 2)), "4.3") == [2]
    assert versions(a_claim(releases="2.2+"), "1.0") == []
    with pytest.raises(ClaimError):
        range_("Fetch", 5, 3)


def test_the_newest_version_is_the_releases():
    made = a_claim(versions=newest("CreateTopics"))
    assert [versions(made, release) for release in ("1.0", "3.9", "4.3")] == [[2], [7], [7]]


def test_one_release_may_need_more_settings():
    made = a_claim(config={"a": 1}, only_on={"3.9": {"b": True}})
    assert made.settings("4.3") == made.shape.settings == {"a": "1"}
    assert made.settings("3.9") == {"a": "1", "b": "true"}


def test_a_claim_without_api_has_one_case_without_version():
    (case,) = a_claim(api=None).cases("4.3", advertised.table("4.3"))
    assert case.version is None and case.id == "topics.some-claim"


def test_case_ids_are_words_and_unique():
    made = a_claim(compression=("gzip", "none"), acks=(-1, 1), flag=(True, b"\1"))
    ids = [case.id for case in made.cases("4.3", advertised.table("4.3"))]
    assert ids[0].startswith("topics.some-claim[v2,compression=")
    assert len(set(ids)) == len(ids)
    assert all("acks=-1" in id or "acks=1" in id for id in ids)


def test_forbidden_rows_are_left_out():
    made = a_claim(acks=(0, 1), where=lambda row: row["acks"] == 1 or row["version"] > 5)
    cases = made.cases("4.3", advertised.table("4.3"))
    assert cases and all(c.params["acks"] == 1 or c.version > 5 for c in cases)


def test_full_takes_the_product():
    axes = {"a": (1, 2, 3), "b": (1, 2, 3), "c": (1, 2, 3)}
    assert len(a_claim(api=None, full=True, **axes).cases("4.3", {})) == 27
    assert len(a_claim(api=None, **axes).cases("4.3", {})) < 14


@pytest.mark.parametrize(
    ("module", "suite"),
    [("suites.topics.test_create", "topics"), ("test_demo", "test_demo"), ("suites.x", "suites")],
)
def test_the_suite_is_the_folder(module, suite):
    assert suite_of(module) == suite


AXES = [
    {"version": range(13), "compression": "ngslz", "acks": (-1, 0, 1)},
    {"a": (1, 2), "b": (1, 2), "c": (1, 2), "d": (1, 2), "e": (1, 2)},
    {"a": (1,), "b": (1, 2, 3)},
    {"a": range(4), "b": range(4), "c": range(4), "d": range(4)},
]


def uncovered(rows, axes, where=covering.always):
    """Possible pairs that no row has: the proof by counting, independent of how rows were made."""
    given = [tuple(row.items()) for row in rows]
    every = covering.product(axes, where)
    pairs = [pair for row in every for pair in itertools.combinations(row.items(), 2)]
    return [
        (one, other)
        for one, other in dict.fromkeys(pairs)
        if not any(one in row and other in row for row in given)
    ]


@pytest.mark.parametrize("axes", AXES)
def test_every_pair_is_covered_by_count(axes):
    axes = {name: tuple(values) for name, values in axes.items()}
    rows = covering.pairwise(axes)
    assert uncovered(rows, axes) == []
    product = 1
    for values in axes.values():
        product *= len(values)
    assert len(rows) <= product
    assert rows == covering.pairwise(axes), "the same axes give the same rows"


def test_the_counter_sees_a_missing_pair():
    axes = {"a": (1, 2), "b": (1, 2)}
    rows = covering.pairwise(axes)
    assert uncovered(rows[1:], axes) == [(("a", 1), ("b", 1))]


def test_pairs_that_are_forbidden_are_no_pairs():
    axes = {"version": tuple(range(10)), "codec": ("gzip", "zstd"), "acks": (-1, 1)}

    def where(row):
        return row["codec"] != "zstd" or row["version"] >= 7

    rows = covering.pairwise(axes, where)
    assert all(where(row) for row in rows)
    assert uncovered(rows, axes, where) == []
    pairs = {(row["version"], row["codec"]) for row in rows}
    assert (6, "zstd") not in pairs and (7, "zstd") in pairs


def test_pairwise_is_much_smaller_than_the_product():
    axes = {name: tuple(range(4)) for name in "abcdef"}
    assert len(covering.pairwise(axes)) < 40 < len(list(itertools.product(range(4), repeat=6)))


def test_too_many_combinations_are_refused():
    with pytest.raises(ValueError, match="more than"):
        covering.pairwise({name: tuple(range(100)) for name in "abc"})
