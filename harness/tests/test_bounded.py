"""Files of strangers are read within bounds; what is beyond them is told in one line."""

from __future__ import annotations

import json
import lzma
import os

import pytest

from touchstone.harness import known
from touchstone.harness.judgement import bundle
from touchstone.harness.model import bounded, recordings, transcript
from touchstone.harness.results import jsonl, parts
from touchstone.harness.spark import inputs
from touchstone.harness.targets import target_file

DEEP = 100_000
JSON = "[" * DEEP + "]" * DEEP
SHALLOW = "[" * 150 + "]" * 150  # json reads it, and who walks it may not come back


@pytest.fixture
def made(tmp_path):
    def write(content):
        path = tmp_path / "theirs"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


READERS = {
    "bundle": bundle.read,
    "transcript": transcript.read,
    "rows": jsonl.read,
    "recording": recordings.read,
    "target": target_file.load,
    "pins": lambda path: known.load([path]),
}


@pytest.mark.parametrize("content", [JSON, SHALLOW], ids=["deep", "shallow"])
@pytest.mark.parametrize("reader", READERS)
def test_what_is_nested_too_deeply_is_refused(made, reader, content):
    text = f"a = {content}\n" if reader in ("target", "pins") else f"{content}\n"
    path = made(lzma.compress(text.encode()) if reader == "recording" else text)
    with pytest.raises(ValueError, match="nested deeper than 100 levels") as refused:
        READERS[reader](path)
    assert str(path) in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_is_too_large_is_refused_unread(made, reader):
    path = made(b"")
    os.truncate(path, bounded.FILE + 1)  # it takes no space
    with pytest.raises(ValueError, match="are the most that are read"):
        READERS[reader](path)


@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_file_is_not_waited_for(tmp_path, reader):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="not a file"):
        READERS[reader](tmp_path / "pipe")


def test_a_line_is_not_read_beyond_its_bound(made, monkeypatch):
    monkeypatch.setattr(bounded, "LINE", 10)
    with pytest.raises(bounded.TooMuch, match="a line of more than 10 bytes"):
        list(bounded.lines(made("12345678\n123456789\n1234567890\n")))
    with pytest.raises(jsonl.BadResults, match="a line of more than 10 bytes"):
        jsonl.read(made('{"row": "header"}\n'))


def test_an_archive_does_not_grow_beyond_its_bound(made, monkeypatch):
    monkeypatch.setattr(bounded, "FILE", 1000)
    with pytest.raises(recordings.BadRecording, match="holds more than 1,000 bytes"):
        recordings.read(made(lzma.compress(bytes(1 << 20))))
    assert bounded.unpacked(made(lzma.compress(bytes(1000)))) == bytes(1000)


def test_an_archive_that_is_cut_is_refused(made):
    with pytest.raises(recordings.BadRecording, match="ends before its end"):
        recordings.read(made(lzma.compress(bytes(1000))[:-5]))


def test_a_report_says_what_is_wrong_with_such_rows(made):
    assert inputs.parse(f"{JSON}\n".encode()) == ({}, "not JSON: nested deeper than 100 levels")


def test_a_manifest_is_bounded_too(tmp_path):
    path = tmp_path / "a.jsonl"
    parts.manifest_of(path).write_text(JSON)
    with pytest.raises(parts.NotWhole, match="nested deeper"):
        parts._manifest([path])


def test_what_we_write_is_within_the_bounds():
    nested = {"a": [{"b": [1, {"c": "[" * 1000}]}]}
    assert bounded.json_of(json.dumps(nested)) == nested
