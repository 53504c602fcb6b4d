"""Files that scripts come from: transcripts, bundles and recordings of the harness, captures, and
scripts that a campaign has written. Which of them a file is, its ending says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from touchstone.fuzz.cases import BadCase
from touchstone.fuzz.script import Script
from touchstone.fuzz.sequences import captures, script_file
from touchstone.fuzz.sequences.decode import script_of, spoken_in
from touchstone.harness.judgement import bundle
from touchstone.harness.model import recordings, transcript

CAPTURES = (".pcap", ".pcapng", ".cap")


def scripts_in(path: Path) -> list[Script]:
    """The scripts of a file that have a request. Raises BadCase with the file and the reason."""
    try:
        found = list(_scripts(path))
    except (ValueError, KeyError, OSError, captures.NoScapy) as problem:
        raise BadCase(f"{path}: {problem}") from problem
    scripts = [script for script in found if script.steps]
    if not scripts:
        raise BadCase(f"{path}: no request in it")
    return scripts


def _scripts(path: Path) -> Iterator[Script]:
    if path.suffix in CAPTURES:
        yield script_of(captures.read(path), path.stem)
    elif path.name.endswith(recordings.SUFFIX):
        for case, text in recordings.load(path).cases.items():
            yield script_of(spoken_in(transcript.loads(text, source=case)), case)
    elif path.suffix == ".toml":
        yield script_file.loads(path.read_text(), str(path))
    elif _is_bundle(path):
        stored = bundle.read(path)
        yield script_of(spoken_in(stored.target), stored.case)
    else:
        with path.open() as lines:
            for one in transcript.load_many(lines, source=str(path)):
                yield script_of(spoken_in(one), path.stem)


def _is_bundle(path: Path) -> bool:
    try:
        return "bundle" in json.loads(path.read_text())
    except ValueError:
        return False  # several lines of JSON are transcripts
