"""Recordings: whole or refused, and only for the scenario they were made with."""

from __future__ import annotations

import lzma

import pytest

from touchstone.harness.model.recordings import BadRecording, Missing, Store, read, write
from touchstone.harness.model.transcript import dumps
from touchstone.harness.tests.doctor import golden

SEEN = golden("2.8")
MARK = SEEN.header.fingerprint


@pytest.fixture
def store(tmp_path):
    made = Store("2.8", tmp_path)
    made.update("topics", {"a[v1]": SEEN, "b[v1]": SEEN})
    return Store("2.8", tmp_path)


def test_what_was_recorded_comes_back(store):
    found = store.transcript("topics", "a[v1]", MARK)
    assert found.events == SEEN.events and found.header.names == SEEN.header.names
    assert found.header.scenario is None, "a claim can say it again"


def test_a_changed_claim_has_no_recording(store):
    with pytest.raises(Missing, match="record it again"):
        store.transcript("topics", "a[v1]", "0" * 16)


@pytest.mark.parametrize(("suite", "case"), [("topics", "c[v1]"), ("fetch", "a[v1]")])
def test_what_was_not_recorded_is_missing(store, suite, case):
    with pytest.raises(Missing, match="was not recorded"):
        store.transcript(suite, case)


def test_how_long_kafka_took_is_the_time_of_the_last_event(store):
    assert store.took_s("topics", "a[v1]") == SEEN.events[-1].at_us / 1e6 > 0
    assert store.took_s("topics", "c[v1]") == 0


def test_an_update_keeps_the_others_and_drops_what_no_claim_has(store):
    store.update("topics", {"c[v1]": SEEN})
    assert set(store.cases("topics")) == {"a[v1]", "b[v1]", "c[v1]"}
    store.update("topics", {"c[v1]": SEEN}, known=["a[v1]", "c[v1]"])
    assert set(store.cases("topics")) == {"a[v1]", "c[v1]"}


@pytest.mark.slow
def test_repetition_costs_almost_nothing(tmp_path):
    one, many = Store("2.8", tmp_path / "one"), Store("2.8", tmp_path / "many")
    small = one.update("topics", {"0": SEEN}).stat().st_size
    large = many.update("topics", {str(n): SEEN for n in range(100)}).stat().st_size
    assert large < 2 * small


@pytest.mark.slow
def test_a_file_cut_at_any_line_is_refused(store, tmp_path):
    path = store.path("topics")
    lines = lzma.decompress(path.read_bytes()).splitlines(keepends=True)
    cut = tmp_path / "cut.jsonl.xz"
    for keep in range(len(lines)):
        cut.write_bytes(lzma.compress(b"".join(lines[:keep])))
        with pytest.raises(BadRecording, match="cut.jsonl.xz"):
            read(cut)


@pytest.mark.slow
def test_a_file_cut_at_any_byte_is_refused(store, tmp_path):
    data = store.path("topics").read_bytes()
    cut = tmp_path / "cut.jsonl.xz"
    for keep in range(0, len(data), max(1, len(data) // 200)):
        cut.write_bytes(data[:keep])
        with pytest.raises(BadRecording):
            read(cut)


def test_a_footer_that_miscounts_is_refused(tmp_path):
    path = tmp_path / "2.8" / "x.jsonl.xz"
    write(path, "2.8", "x", {"a": dumps(SEEN)})
    text = lzma.decompress(path.read_bytes()).replace(b'{"end":1}', b'{"end":2}')
    path.write_bytes(lzma.compress(text))
    with pytest.raises(BadRecording, match="says otherwise"):
        read(path)


def test_nothing_is_left_beside_the_file(store):
    assert [path.name for path in store.folder.iterdir()] == ["topics.jsonl.xz"]
