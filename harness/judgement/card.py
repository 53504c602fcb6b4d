"""A failure as a card: the claim, what was asked, where both answers part, how to see it again.

A card is made from a bundle, which has the request and both answers, or from a row alone, which has
what differs and no more. `touchstone diff`, pytest for a failing case, the page of a run and its
Markdown summary show the same parts in the same order. The earliest differing step comes first,
because later steps build on it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from touchstone.harness import shown
from touchstone.harness.judgement import causes, grades, marks, snippet, wording
from touchstone.harness.judgement.bundle import Bundle
from touchstone.harness.judgement.normalize import Reading, normalise
from touchstone.harness.judgement.verdict import DIVERGES
from touchstone.harness.model import ledger
from touchstone.harness.model import path as paths
from touchstone.harness.model.transcript import Transcript
from touchstone.harness.results import rows

# What an element is called by, if it has it: what a person would say first.
NAMES = (
    "name", "topic", "group_id", "resource_name", "partition_index", "partition", "index",
    "api_key", "node_id", "broker_id", "key", "member_id", "transactional_id", "base_offset",
    "offset", "first_offset", "topic_id",
)  # fmt: skip
Marked = tuple[Mapping[str, Any], str]  # what differs, and how its line is marked
EXPECTED = 3  # expectations that did not hold
STEPS = 3  # differing steps that are shown; later ones are counted
LINES = 8  # places of one step that differ; notes are only counted beyond NOTES
NOTES = 2
ASKED = 12  # fields of a request
AROUND = 24  # characters beside what changed in a text
NAME = 40  # characters of an element's name
BYTES = 24  # of a value in a request


DECIDES, SETUP, NOTE = ">", "setup", "note"  # a setup step decides nothing and may explain much


@dataclass(frozen=True, slots=True)
class Evidence:
    """One word of a claim's evidence, with its text and where to read it, where known."""

    word: str
    text: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One difference: the place and what each side has there."""

    place: str
    oracle: str
    target: str
    mark: str = DECIDES
    alike: int = 0  # other elements of the same array that differ in the same way


@dataclass(frozen=True, slots=True)
class Step:
    """One step that differs, with the request that was sent."""

    label: str
    title: str
    request: tuple[str, ...]
    lines: tuple[Line, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class Card:
    """All that somebody needs to understand one failing case."""

    case: str
    verdict: str
    sentence: str
    evidence: tuple[Evidence, ...]
    kafka: str
    expected: tuple[str, ...]
    steps: tuple[Step, ...]
    later: int  # differences in later steps
    notes: int  # of the whole case; they decide nothing
    findings: tuple[str, ...]
    again: str
    replay: str = ""
    client: str = ""  # a program that sends the request of the first step that differs
    reason: str = ""  # of a case that is no difference: why the harness broke, what stays open
    stack: str = ""


def of_bundle(bundle: Bundle, place: str | None = None) -> Card:
    """The card of a stored case; `place` is where its file is, for the command that replays it."""
    verdict = bundle.judge()
    plain = {
        "failures": [rows.failure(one) for one in verdict.failures],
        "differences": [rows.difference(one) for one in verdict.differences],
        "findings": [rows.finding(one) for one in verdict.findings],
        "notes": [rows.note(one) for one in verdict.notes],
    }
    readings: dict[str, Reading] = {}
    if bundle.oracle is not None and verdict.differences:
        readings = {one.label: one for one in normalise(bundle.oracle)}
    made = _card(
        plain, case=bundle.case, verdict=verdict.kind, sentence=bundle.sentence,
        evidence=bundle.evidence, release=bundle.release, again=bundle.again,
        replay=wording.replay(place, shlex.split(bundle.again), bundle.target.header.target),
        reason=verdict.reason, stack=verdict.stack, asked=requests(bundle.target, bundle.oracle),
        readings=readings,
    )  # fmt: skip
    return replace(made, client=snippet.of_case(bundle.target, verdict))


def of_row(row: Mapping[str, Any], header: Mapping[str, Any], place: str | None = None) -> Card:
    """The card of a row: without requests, which only a bundle has."""
    return _card(
        row, case=row["case"], verdict=row["verdict"], sentence=row["sentence"],
        evidence=row["evidence"], release=row["release"], again=wording.again(row, header),
        replay=wording.replay(place, header.get("arguments") or (), row["target"]),
        reason=row["reason"], stack="", asked={}, readings={},
    )  # fmt: skip


def _card(
    found: Mapping[str, Any], *, case: str, verdict: str, sentence: str, evidence: Sequence[str],
    release: str | None, again: str, replay: str, reason: str, stack: str,
    asked: Mapping[str, tuple[str, ...]], readings: Mapping[str, Reading],
) -> Card:  # fmt: skip
    steps, later = _steps(found, asked, readings)
    return Card(
        case=case,
        verdict=verdict,
        sentence=sentence,
        evidence=tuple(evidence_of(word) for word in evidence),
        kafka=wording.kafka(release),
        expected=tuple(_failed(one) for one in found.get("failures") or ()),
        steps=steps,
        later=later,
        notes=len(found.get("notes") or ()),
        findings=tuple(
            f"{one['sentence']} ({one['checker']}, step {one['step']!r})"
            for one in found["findings"]
        ),
        again=again,
        replay=replay,
        reason="" if verdict == DIVERGES and not _fatal(found) else reason,
        stack=stack,
    )


def _fatal(found: Mapping[str, Any]) -> bool:
    """Whether the target died of the case."""
    return any(one["target"] == marks.ENDED for one in found["differences"])


def _failed(one: Mapping[str, Any]) -> str:
    place = f"{one['step']}: {one['path']}" if one["path"] else one["step"]
    return f"{place}: {wording.expectation(one['path'], one['wanted'], one['got'])}"


def evidence_of(word: str) -> Evidence:
    """What one word of evidence stands for, and where to read on."""
    found = ledger.cited(word)
    return Evidence(word, found.text, found.link)


# steps and their differences


def _steps(
    found: Mapping[str, Any], asked: Mapping[str, tuple[str, ...]], readings: Mapping[str, Reading]
) -> tuple[tuple[Step, ...], int]:
    """The earliest steps that differ, and how many differences are in later ones.

    Setup steps are among them where they may explain what follows; other notes are counted.
    """
    notes = [one for one in found.get("notes") or () if not one.get("checker")]
    by_step: dict[tuple[int, str], list[Marked]] = {}
    for one in found["differences"]:
        by_step.setdefault(_at(one), []).append((one, DECIDES))
    first = min(by_step, default=(0, ""))
    told = {
        _at(one) for one in notes
        if _at(one) < first and causes.explains(one.get("kind") or "", one["target"])
    }  # fmt: skip
    for one in notes:
        if _at(one) in told or _at(one) in by_step:
            by_step.setdefault(_at(one), []).append((one, _marked(one)))
    steps = [
        _step(label, by_step[at, label], asked.get(label, ()), readings.get(label))
        for at, label in sorted(by_step)
    ]
    return tuple(steps[:STEPS]), sum(len(step.lines) + step.more for step in steps[STEPS:])


def _at(one: Mapping[str, Any]) -> tuple[int, str]:
    return one.get("at") or 0, one["step"]


def _step(
    label: str, differing: Sequence[Marked], request: tuple[str, ...],
    reading: Reading | None,
) -> Step:  # fmt: skip
    one = differing[0][0]
    version = "" if one.get("version") is None else f" v{one['version']}"
    found = _grouped(sorted(differing, key=lambda pair: _gravity(pair[0])), reading)
    plain = [line for line in found if line.mark != NOTE]
    notes = [line for line in found if line.mark == NOTE]
    shown = plain[:LINES] + notes[:NOTES]
    return Step(
        label=label,
        title=f"{one.get('api') or 'raw bytes'}{version}",
        request=request,
        lines=tuple(shown),
        more=len(found) - len(shown),
    )


def _gravity(one: Mapping[str, Any]) -> int:
    return grades.KINDS.index(one.get("kind") or grades.VALUE)


def _marked(one: Mapping[str, Any]) -> str:
    """How a note stands beside a step's other lines."""
    return NOTE if one.get("kind") in grades.NOTED else SETUP


def _grouped(differing: Sequence[Marked], reading: Reading | None) -> list[Line]:
    """One line per difference; elements of an array that differ alike share one."""
    groups: dict[Any, list[Marked]] = {}
    for one, mark in differing:
        missing = [one[side] == grades.MISSING for side in ("oracle", "target")]
        sides = missing if any(missing) else [_stem(one[side]) for side in ("oracle", "target")]
        groups.setdefault((marks.starred(one["path"]), mark, *sides), []).append((one, mark))
    return [
        replace(_line(*members[0], reading), alike=len(members) - 1) for members in groups.values()
    ]


def _stem(value: Any) -> str:
    """A value as text; symbols of one kind (topic ids, addresses) are alike."""
    return re.sub(r"^(\$[\w-]+?)-\d+$", r"\1", str(value))


def _line(one: Mapping[str, Any], mark: str, reading: Reading | None) -> Line:
    path, oracle, target = one["path"], one["oracle"], one["target"]
    if (one.get("kind") or "") == grades.CONNECTION:
        return Line("", wording.ended(path, oracle), wording.ended(path, target), mark)
    place = path if reading is None else named(path, reading.answer)
    if all(isinstance(side, str) and not wording.is_bare(side) for side in (oracle, target)):
        ours, theirs = changed(oracle, target)
        return Line(place, _quoted(ours), _quoted(theirs), mark)
    verb = ("has" if grades.MISSING in (oracle, target) else "answers") + " "
    other = "the same in another order: " if wording.is_order(oracle, target) else ""
    first, second = wording.value(path, oracle), other + wording.value(path, target)
    return Line(place, verb + first, verb + second, mark)


def _quoted(text: str) -> str:
    return f'answers "{text}"'


def changed(oracle: str, target: str) -> tuple[str, str]:
    """Two texts with what changed between « and », and what is equal far from it left out."""
    shorter = min(len(oracle), len(target))
    head = next((i for i in range(shorter) if oracle[i] != target[i]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if oracle[-1 - i] != target[-1 - i]), rest)
    before, after = oracle[:head], oracle[len(oracle) - tail :]
    if len(before) > AROUND:
        before = f"…{before[-AROUND:]}"
    if len(after) > AROUND:
        after = f"{after[:AROUND]}…"
    if not before and not after:
        return wording.shortened(oracle), wording.shortened(target)
    inside = (side[head : len(side) - tail] for side in (oracle, target))
    first, second = (f"{before}«{wording.shortened(text)}»{after}" for text in inside)
    return first, second


def named(path: str, answer: Any) -> str:
    """The path with elements by what names them: topics[name=$topic].partitions[partition=2]."""
    shown: list[str] = []
    try:
        for step in paths.parse(path):
            if isinstance(step, int):
                answer = answer[step]
                shown.append(f"[{_name(answer, step)}]")
            else:
                answer = answer[step]
                shown.append(f".{step}")
    except (ValueError, LookupError, TypeError):
        return path  # what only the target has
    return "".join(shown).removeprefix(".")


def _name(element: Any, place: int) -> str:
    if isinstance(element, Mapping):
        for word in NAMES:
            if isinstance(element.get(word), str | int):
                return f"{word}={wording.shortened(str(element[word]), NAME)}"
    return str(place)


# requests


def requests(*sides: Transcript | None) -> dict[str, tuple[str, ...]]:
    """The decoded request of every step by its label, as lines of `path = value`."""
    found: dict[str, tuple[str, ...]] = {}
    for side in (one for one in sides if one is not None):
        for trip in side.round_trips:
            if trip.label in found or trip.request is None:
                continue
            every = list(_leaves(trip.request.body, "", _renamer(side)))
            more = [f"... and {len(every) - ASKED} more fields"] if len(every) > ASKED else []
            found[trip.label] = (*every[:ASKED], *more)
    return found


def _renamer(side: Transcript) -> Callable[[Any], str]:
    """Names of the run as the scenario calls them; bytes shortened."""
    words = sorted(side.header.names.items(), key=lambda pair: -len(pair[1]))

    def shown(value: Any) -> str:
        if isinstance(value, bytes | bytearray | memoryview):
            data = bytes(value)
            dots = "..." if len(data) > BYTES else ""
            return f"{len(data)} bytes 0x{data[:BYTES].hex()}{dots}"
        if isinstance(value, str):
            for key, text in words:
                value = value.replace(text, f"${key}")
        return wording.value("", value)

    return shown


def _leaves(value: Any, path: str, shown: Callable[[Any], str]) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}" if path else name, shown)
    elif isinstance(value, list | tuple) and value and not _plain(value):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{index}]", shown)
    else:
        yield f"{path} = {shown(value)}"


def _plain(values: Iterable[Any]) -> bool:
    return all(isinstance(one, int) for one in values)


# showing


def lines(card: Card) -> list[str]:
    """The card for a terminal, line by line."""
    head = [f"{card.verdict} {card.case}", f"  {card.sentence}"]
    bare = ", ".join(_evidence(one) for one in card.evidence if not one.text)
    head += [f"  evidence: {bare}"] if bare else []
    head += [f"  {_evidence(one)}" for one in card.evidence if one.text]
    return [*map(shown.line, head), *body(card)]


def body(card: Card) -> list[str]:
    """What follows the claim and its evidence, whoever shows it."""
    found = [f"  {text}" for text in (*filter(None, [card.reason]), *card.expected[:EXPECTED])]
    more = len(card.expected) - EXPECTED
    found += [f"  ... and {more} more expectations did not hold"] if more > 0 else []
    for step in card.steps:
        found += ["", f"  step {step.label!r}: {step.title}"]
        found += [f"      {text}" for text in step.request]
        for line in step.lines:
            found += _line_lines(card, line)
        found += [f"    ... and {step.more} more places in this step"] if step.more else []
    found += [f"  ... and {card.later} more differences in later steps"] if card.later else []
    found += [f"  a checker found: {text}" for text in card.findings]
    if card.notes:
        found.append(f"  {wording.counted(card.notes, 'note')}: what differs and decides nothing")
    found += ["", f"  again:  {card.again}"] if card.again else []
    found += [f"  replay: {card.replay}"] if card.replay else []
    found += [f"  {line}" for line in card.stack.splitlines()]
    return [shown.line(text) for text in found]


def _line_lines(card: Card, line: Line) -> list[str]:
    """Both sides under each other, so that the eye can compare them."""
    alike = f" (and {wording.counted(line.alike, 'element')} alike)" if line.alike else ""
    head = f"    {line.mark} {line.place}{alike}".rstrip()
    width = max(len(card.kafka), len(wording.TARGET))
    return [
        *([head] if line.place or line.mark != DECIDES else []),
        f"      {card.kafka:<{width}} {line.oracle}",
        f"      {wording.TARGET:<{width}} {line.target}",
    ]


def _evidence(one: Evidence) -> str:
    text = f"{one.word}: {one.text}" if one.text else one.word
    return f"{text} <{one.link}>" if one.link else text


def markdown(card: Card) -> str:
    """The card for a pull request or an issue."""
    evidence = [f"- {_marked_up(one)}" for one in card.evidence]
    told = shown.listing([line.removeprefix("  ") for line in body(card)])
    head = f"**{shown.code(card.case)}**: {shown.markdown(card.sentence)}"
    return "\n".join([head, "", *evidence, "", told])


def _marked_up(one: Evidence) -> str:
    word = shown.markdown(one.word)
    word = f"[{word}]({one.link})" if one.link else word
    return f"{word}: {shown.markdown(one.text)}" if one.text else word
