"""Files that scripts come from: transcripts, bundles and recordings of the harness, captures, and
scripts that a campaign has written. Which of them a file is, its ending says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from touchstone.fuzz.cases import BadCase
from touchstone.fuzz.script import Script
from touchstone.fuzz.sequences import captures, script_file
from touchstone.fuzz.sequences.decode import script_of, spoken_in
from touchstone.harness.judgement import bundle
from touchstone.harness.model import recordings, transcript

Load = Callable[[], Script]
CAPTURES = (".pcap", ".pcapng", ".cap")


def scripts_in(path: Path) -> list[Load]:
    """What reads each script of a file, when it is wanted: recordings hold hundreds. Raises BadCase
    with the file and the reason.
    """
    try:
        found = list(_scripts(path))
    except (ValueError, KeyError, OSError, captures.NoScapy) as problem:
        raise BadCase(f"{path}: {problem}") from problem
    if not found:
        raise BadCase(f"{path}: no script in it")
    return found


def _scripts(path: Path) -> Iterator[Load]:
    if path.suffix in CAPTURES:
        yield _known(script_of(captures.read(path), path.stem))
    elif path.name.endswith(recordings.SUFFIX):
        for case, text in recordings.load(path).cases.items():
            yield partial(_recorded, case, text)
    elif path.suffix == ".toml":
        yield _known(script_file.loads(path.read_text(), str(path)))
    elif _is_bundle(path):
        stored = bundle.read(path)
        yield _known(script_of(spoken_in(stored.target), stored.case))
    else:
        with path.open() as lines:
            for one in transcript.load_many(lines, source=str(path)):
                yield _known(script_of(spoken_in(one), path.stem))


def _recorded(case: str, text: str) -> Script:
    return script_of(spoken_in(transcript.loads(text, source=case)), case)


def _known(script: Script) -> Load:
    if not script.steps:
        raise ValueError("no request in it")
    return lambda: script


def _is_bundle(path: Path) -> bool:
    try:
        return "bundle" in json.loads(path.read_text())
    except ValueError:
        return False  # several lines of JSON are transcripts
