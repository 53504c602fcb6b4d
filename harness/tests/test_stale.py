"""Recordings without a claim are found and dropped, those with one are left alone."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from touchstone.harness.cli import coverage
from touchstone.harness.model import recordings
from touchstone.harness.model.claim import Claim, every
from touchstone.harness.run import stale


def a_claim(suite="topics", releases=None, api="CreateTopics"):
    return Claim(
        f"{suite}.one", "It is.", ("TOPIC-11",), "MUST", suite, f"suites.{suite}.test_one.test_it",
        api=api, versions=every(api), releases=releases,
    )  # fmt: skip


def recorded(folder, release, suite, *cases):
    text = '{"transcript":1}\n{"end":0}\n'
    path = folder / release / f"{suite}{recordings.SUFFIX}"
    recordings.write(path, release, suite, dict.fromkeys(cases, text))
    return path


def test_what_a_claim_asks_for_is_not_stale(tmp_path):
    recorded(tmp_path, "4.3", "topics", "topics.one[v7]")
    assert stale.find([a_claim()], tmp_path) == []


@pytest.mark.parametrize(
    ("claims", "whole"),
    [([a_claim()], False), ([a_claim(releases="1.0-2.8")], True), ([a_claim("other")], True)],
)
def test_cases_and_suites_that_are_gone_are_named(tmp_path, claims, whole):
    recorded(tmp_path, "4.3", "topics", "topics.one[v0]")
    (found,) = stale.find(claims, tmp_path)
    assert (found.cases, found.whole) == (("topics.one[v0]",), whole)
    assert "4.3/topics" in str(found)


def test_dropping_keeps_the_rest_and_no_empty_file(tmp_path):
    path = recorded(tmp_path, "4.3", "topics", "topics.one[v7]", "topics.two[v7]")
    (found,) = stale.find([a_claim()], tmp_path)
    stale.drop(found)
    assert recordings.read(path).keys() == {"topics.one[v7]"}
    (found,) = stale.find([], tmp_path)
    stale.drop(found)
    assert not path.exists()


@pytest.mark.slow
def test_coverage_calls_them_mistakes_until_they_are_dropped(tmp_path, monkeypatch):
    recorded(tmp_path, "4.3", "gone", "gone.one[v7]")
    monkeypatch.setattr(stale.find, "__defaults__", (tmp_path,))
    done = CliRunner().invoke(coverage.command, ["--area", "WIRE"])
    assert done.exit_code == 2 and "stale recording: 4.3/gone" in done.output
    done = CliRunner().invoke(coverage.command, ["--area", "WIRE", "--drop-stale"])
    assert "dropped 4.3/gone" in done.output
    assert not list(tmp_path.glob("*/*.xz"))
