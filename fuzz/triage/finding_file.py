"""A finding as a TOML file that people and our corpus read, and that `fuzz/replay.py` replays with
Python's standard library alone; that program is written beside it.

The bytes stand as hex, whatever becomes of our codec; what they mean stands beside them as
comments, one line a field. The file says what the target must have before (`setup`, as frames), how
answers are read (`shapes`), which step is complained about and what its outcome is when the
complaint is made again. Files appear whole or not at all.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from touchstone.fuzz.campaign import Finding
from touchstone.fuzz.cases import BadCase, Case, corpus
from touchstone.fuzz.cases import load as load_case
from touchstone.fuzz.generator import TOPICS
from touchstone.fuzz.oracles import sent_frame
from touchstone.fuzz.script import Reference, Script, Step
from touchstone.fuzz.segments import SIZE, frames_in, may_wait
from touchstone.fuzz.sequences import script_file
from touchstone.fuzz.triage import shapes
from touchstone.fuzz.triage.causes import cause_of
from touchstone.fuzz.triage.settled import Settled
from touchstone.fuzz.triage.setup import Setup, setup_of
from touchstone.harness.model import bounded
from touchstone.harness.model.record_view import view
from touchstone.harness.results.fuzz_rows import REPLAYS
from touchstone.harness.results.rows import plain
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import (
    API_VERSIONS,
    decode_request,
    decode_request_header,
)

UNSTEADY = "unsteady"
PROGRAM, BODIES = "replay.py", "replay_bodies.py"
MOST_ELEMENTS, LONGEST = 100, 200  # of what is written out in comments
HOLDS = {
    "answers_in_time": "silent",
    "speaks_frames": "garbled",
    "correlates": "uncorrelated",
    "parses": "unreadable",
    "knows_its_errors": "code -1",
    "keeps_the_connection": "closed",
    "answers_or_hangs_up": "unanswered",
    "answers_nothing_to_acks_0": "answered",
    "refuses_wrong_checksums": "as seen",
    "as_recorded": "other",
    "differs": "other",
    "as_expected": "unexpected",
    "stays_alive": "gone",
}
"""When a complaint is made again, in the words of replay.py; "beyond answers" for other oracles."""


def write(
    finding: Finding,
    folder: Path,
    number: int,
    *,
    members: int = 1,
    runs: int = 0,
    repeats: int | None = None,
    scripted: bool = False,
) -> Path:
    """One file, and the program that replays it. A finding that did not repeat REPLAYS times (None:
    nobody tried) goes to the folder `unsteady` within. One of a campaign of scripts is `scripted`:
    it was played once more under other names, and so it is replayed.
    """
    if repeats is not None and repeats < REPLAYS:
        folder = folder / UNSTEADY
    folder.mkdir(parents=True, exist_ok=True)
    atomically(folder / PROGRAM, program())
    key = sent_frame(finding.wire).key
    path = folder / f"{number:02}-{finding.oracle.replace('_', '-')}-key-{key}.toml"
    story = [
        f"{finding.campaign}, seed {finding.seed}, case {finding.index}: "
        + (" ".join(finding.faults) or "no fault"),
        f"one of {members}, made small in {runs} runs",
        "replayed: " + often(repeats, scripted=scripted),
        f"python {PROGRAM} {path.name} HOST:PORT",
    ]
    names = [f"names = {script_file.toml(finding.as_script.names)}"] if scripted else []
    lines = [*map(comment, story), "", *head(finding), *names, *tables(finding, scripted=scripted)]
    atomically(path, "\n".join(lines) + "\n")
    return path


def program() -> str:
    """The program that replays findings as one file, which needs none of our modules."""
    here = files("touchstone.fuzz")
    whole, bodies = ((here / name).read_text() for name in (PROGRAM, BODIES))
    _, _, inlined = bodies.partition("from __future__ import annotations\n")
    return re.sub(
        r"(?m)^from touchstone\.fuzz\.replay_bodies import .*\n", lambda _: inlined, whole
    )


def often(repeats: int | None, *, scripted: bool) -> str:
    if scripted:
        return "once more, under other names"
    return "not yet" if repeats is None else f"{repeats} of {REPLAYS} times"


def write_settled(one: Settled, folder: Path, number: int) -> Path:
    """`write` for what stands for a group."""
    return write(
        one.finding, folder, number, members=one.members, runs=one.runs, repeats=one.repeats
    )


def terminal_lines(one: Settled, path: Path) -> str:
    """Two lines about a written finding, for a terminal."""
    steps = one.finding.as_script.steps
    size = sum(len(step.wire) for step in steps)
    cause, counted = one.cause, f"{len(steps)} step" + "s" * (len(steps) != 1)
    often = "" if one.is_steady else f"unsteady, {one.repeats} of {REPLAYS} replays: "
    return (
        f"  {one.members:6} x {often}{cause.oracle} key {cause.key}: {one.finding.signature}\n"
        f"           {one.finding.sentence}; {counted}, {size} bytes in {path.name}"
    )


@dataclass(frozen=True)
class Stored:
    """A file read again: what the corpus knows of it, its steps, which of them is complained about,
    and that one's right signature where it is known.
    """

    case: Case
    script: Script
    step: int
    expected: str | None


def load(path: Path) -> Stored:
    """A finding, or a file of the corpus. Raises BadCase naming file and field."""
    case = load_case(path)
    fields = bounded.toml_of(path, bounded.FILE)
    try:
        steps = tuple(map(step_of, fields.get("steps", ()))) or (Step(case.wire),)
        number = fields.get("complaint", {"step": 0})["step"]
    except (KeyError, TypeError, ValueError) as problem:
        raise BadCase(f"{path}: steps: {problem}") from problem
    return Stored(case, Script(steps), number, fields.get("expected"))


def step_of(fields: dict[str, Any]) -> Step:
    references = tuple(Reference(**one) for one in fields.get("references", ()))
    return Step(bytes.fromhex(fields["wire"]), fields.get("connection", 0), references)


def atomically(path: Path, text: str) -> None:
    """Write the file whole or not at all."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text)
    fresh.replace(path)


def comment(text: str) -> str:
    return f"# {text}"


def text(value: str) -> str:
    """A TOML basic string, which JSON's strings are."""
    return json.dumps(value.encode("utf-8", "backslashreplace").decode())


def head(finding: Finding) -> Iterator[str]:
    sent = sent_frame(finding.wire)
    yield "class = 0"
    yield f"oracle = {text(finding.oracle)}"
    yield f"sentence = {text(finding.sentence)}"
    yield f"signature = {text(cause_of(finding).behaviour)}"
    yield f"seen = {text(finding.signature)}"
    if finding.expected is not None:
        yield f"expected = {text(finding.expected)}"
    yield f"key = {sent.key}"
    yield f"version = {sent.version}"
    yield f"correlation_id = {sent.correlation_id}"
    yield f"topics = [{', '.join(map(text, topics_of(finding)))}]"
    yield f"probe = {str(frames_in(finding.wire)[1]).lower()}"


def tables(finding: Finding, *, scripted: bool) -> Iterator[str]:
    steps = finding.as_script.steps
    yield from ("", "[complaint]", f"step = {finding.step}")
    yield f"holds = {text(HOLDS.get(finding.oracle, 'beyond answers'))}"
    keys = [sent_frame(step.wire).key for step in steps]
    for setup in setup_of(topics_of(finding), keys):
        yield from setup_lines(setup)
    for number, step in enumerate(steps):
        yield from ("", *step_lines(step, number, scripted=scripted))


def topics_of(finding: Finding) -> dict[str, bool]:
    """The topics that must exist, and whether they are compacted: those of a frozen case; else
    those of the campaigns that a step names.
    """
    for case in corpus() if finding.oracle == "as_recorded" else ():
        if (case.name,) == finding.faults:
            return dict.fromkeys(case.topics, case.compacted)
    steps = finding.as_script.steps
    named = [name for name in TOPICS if any(name.encode() in step.wire for step in steps)]
    return dict.fromkeys(named, False)


def setup_lines(setup: Setup) -> Iterator[str]:
    yield from ("", "[[setup]]", f"sentence = {text(setup.sentence)}")
    yield f"wires = [{', '.join(text(wire.hex()) for wire in setup.wires)}]"
    yield f"at = {setup.at}"
    yield f"is = {text(setup.wanted.hex())}"


def step_lines(step: Step, number: int, *, scripted: bool) -> Iterator[str]:
    sent = sent_frame(step.wire)
    api = API[sent.key].name if sent.key in API else f"key {sent.key}"
    yield "[[steps]]"
    yield comment(f"step {number}: {api} {sent.version}, {len(step.wire)} bytes")
    yield from map(comment, decoded(step.wire))
    yield f"api = {text(api)}"
    yield f"key = {sent.key}"
    yield f"version = {sent.version}"
    yield f"connection = {step.connection}"
    yield f"whole = {str(frames_in(step.wire)[1]).lower()}"
    yield f"may_wait = {str(may_wait(step.wire)).lower()}"
    yield f"wire = {text(step.wire.hex())}"
    yield f"answer = {text(shapes.shape_of_answer(sent.key, sent.version))}"
    if sent.key == API_VERSIONS:
        yield f"answer_v0 = {text(shapes.shape_of_answer(sent.key, 0))}"
    if scripted:
        yield from script_file.fields_of(step)
    if step.references or scripted:
        with contextlib.suppress(ValueError):
            body_at = SIZE + decode_request_header(step.wire[SIZE:])[1]
            yield f"request = {text(shapes.shape_of_request(sent.key, sent.version))}"
            yield f"body_at = {body_at}"
    if step.references:
        yield "references = ["
        for one in step.references:
            yield f"  {toml(asdict(one))},"
        yield "]"


def toml(value: Any) -> str:
    """A value of a step as TOML."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name} = {toml(inner)}' for name, inner in value.items())}}}"
    return text(value) if isinstance(value, str) else str(value)


def decoded(wire: bytes) -> Iterator[str]:
    """What the bytes say, a line for each value; or why they cannot be read."""
    frames, whole = frames_in(wire)
    if not whole or len(frames) != 1:
        yield f"{len(frames)} whole frames, {'nothing' if whole else 'bytes'} behind them"
        return
    try:
        request = decode_request(frames[0])
    except ValueError as problem:
        yield str(problem).encode("unicode_escape").decode()
        return
    yield f"correlation_id = {request.header.correlation_id}"
    yield f"client_id = {json.dumps(plain(request.header.client_id))}"
    yield from values(request.body, "")
    if request.end < len(frames[0]):
        yield f"and {len(frames[0]) - request.end} bytes behind the body"


def values(value: Any, path: str) -> Iterator[str]:
    """`path = value` for every leaf; records as what they hold."""
    if isinstance(value, dict):
        for name, inner in value.items():
            here = f"{path}.{name}" if path else str(name)
            is_records = name == "records" and isinstance(inner, bytes | memoryview)
            yield from values(view(bytes(inner)) if is_records else inner, here)
    elif isinstance(value, list) and value and len(value) <= MOST_ELEMENTS:
        for index, inner in enumerate(value):
            yield from values(inner, f"{path}[{index}]")
    else:
        said = json.dumps(plain(value))
        yield f"{path} = {said if len(said) <= LONGEST else said[:LONGEST] + '...'}"
