"""Which build a run is of: what somebody says first, then what the target itself is known by."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from touchstone.harness.run import build
from touchstone.harness.run.build import build_of, commit, origin, own

INDEX, DIRTY = "0.1.0", "6a082ce6d1f0+"
COMMIT = "6a082ce6d1f0aa5de8aa30c8b2ef9c9a1fbb4b0e"


def target(kind, name, **more):
    return SimpleNamespace(kind=kind, name=name, **more)


FILE = target("file", "kfake", described=SimpleNamespace(version="0.3.1"))
CASES = [
    (target("process", "kafka@4.3.1", build="4.3.1"), "4.3.1"),
    (target("container", "docker@3.9.2", build="3.9.2"), "3.9.2"),
    (target("process", "kafka@somebody's jars", build=None), None),
    (target("external", "10.0.0.1:9092"), None),
    (FILE, "0.3.1"),
]


@pytest.mark.parametrize(("one", "expected"), CASES)
def test_a_target_is_known_by_its_version_or_not_at_all(one, expected):
    assert build_of(one) == expected
    assert build_of(one, "nightly-7") == "nightly-7"


@pytest.mark.parametrize("kind", ["reference", "recorded"])
def test_our_own_broker_is_what_we_are(kind, monkeypatch):
    monkeypatch.setattr(build, "own", lambda: "0.1.0 abc")
    assert build_of(target(kind, "reference@4.3")) == "0.1.0 abc"


@pytest.mark.parametrize(
    ("root", "found", "expected"),
    [
        ("here", "6a082ce6d1f0", f"{INDEX} 6a082ce6d1f0"),
        ("here", DIRTY, f"{INDEX} {DIRTY}"),
        ("here", build.NO_GIT, None),
        (None, INDEX, None),  # of an index, or of any wheel that somebody built
        (None, f"{INDEX} 6a082ce6d1f0", f"{INDEX} 6a082ce6d1f0"),
    ],
)
def test_a_version_that_two_builds_may_share_is_none(root, found, expected, monkeypatch):
    monkeypatch.setattr(build, "ROOT", root)
    monkeypatch.setattr(build, "commit", lambda: found)
    monkeypatch.setattr(build.importlib.metadata, "version", lambda name: INDEX)
    assert own() == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"url": "https://h/r", "vcs_info": {"vcs": "git", "commit_id": COMMIT}}, COMMIT[:12]),
        ({"url": "file:///w.whl", "archive_info": {"hashes": {"sha256": "ab" * 32}}}, "ab" * 6),
        ({"url": "file:///w.whl", "archive_info": {}}, None),
        ({"url": "file:///src", "dir_info": {"editable": True}}, None),
        (None, None),
    ],
)
def test_pip_keeps_where_a_package_is_from(said, expected):
    assert origin(said and json.dumps(said)) == expected


def test_the_commit_of_an_installed_package_has_its_origin(monkeypatch):
    said = json.dumps({"url": "u", "vcs_info": {"vcs": "git", "commit_id": COMMIT}})
    package = SimpleNamespace(version=INDEX, read_text=lambda name: said)
    monkeypatch.setattr(build, "ROOT", None)
    monkeypatch.setattr(build.importlib.metadata, "distribution", lambda name: package)
    assert commit.__wrapped__() == f"{INDEX} {COMMIT[:12]}"
