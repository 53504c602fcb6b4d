"""Allure results by Allure's own libraries, of a run that goes on and of rows. The only door to it.

`pytest --alluredir DIR` has a result written for each test by allure-pytest, which knows neither
verdicts nor steps: `LiveResults`, a plugin of allure-python-commons, completes those of cases
before they reach a file. `write` makes the same results from rows (`touchstone join --allure`).

Differences are "failed" (the product), our mistakes "broken" (the test), which are Allure's own
words for the distinction that verdicts make; what was not judged and what a pin accepts is
"skipped", with the reason, and a case in which a run was cut "unknown". `testCaseId` is the case,
so a report of many targets shows it once for each; `historyId` is the case on its target.
"""

from __future__ import annotations

import datetime
import hashlib
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from allure_commons import hookimpl, plugin_manager
from allure_commons.logger import AllureFileLogger
from allure_commons.model2 import (
    ATTACHMENT_PATTERN,
    Attachment,
    Label,
    Link,
    Parameter,
    Status,
    StatusDetails,
    TestResult,
    TestStepResult,
)
from allure_commons.types import AttachmentType, LabelType, LinkType, Severity
from allure_commons.utils import platform_label

from touchstone.harness.judgement import bundle, card, wording
from touchstone.harness.judgement.bundle import BadBundle, Bundle
from touchstone.harness.judgement.compare import Difference
from touchstone.harness.judgement.verdict import BROKEN, CONFORMS, DIVERGES, inconclusive
from touchstone.harness.model import ledger
from touchstone.harness.model.case import Judgement
from touchstone.harness.model.case_row import CaseRow, Header, StepSign
from touchstone.harness.model.claim import MAY, MUST, OBSERVED, SHOULD, CaseId
from touchstone.harness.results import answers, rows, steps
from touchstone.harness.run import pcap

PLACES = 5  # that differ in one step and are told with it; its attachment has more
LINES = 400  # of one text; the bundle, which is attached too, has everything
FRAMES = 20  # lines of a stack
OURS = re.compile(r"(touchstone\.)?suites\.")  # modules of claims that our documentation has
LINK = "touchstone"  # the type of links to our documentation, see `Pages`
SEVERITY = {
    MUST: Severity.CRITICAL,
    SHOULD: Severity.NORMAL,
    MAY: Severity.MINOR,
    OBSERVED: Severity.MINOR,
}
STATUS = {CONFORMS: Status.PASSED, DIVERGES: Status.FAILED, BROKEN: Status.BROKEN}
_MARKS = re.compile(r"[\\`*_\[\]<>#|]")  # which Markdown would take for its own
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tab and line feed
Pages = str | None  # where our documentation is: an address with {} for the path of a page


class Sink(Protocol):
    """Where attachments go: a file logger, or the hooks that lead to one."""

    def report_attached_data(self, *, body: str | bytes, file_name: str) -> Any: ...


@dataclass(frozen=True, slots=True)
class CaseFacts:
    """All that a result says of one case."""

    header: Header
    row: CaseRow
    steps: Sequence[StepSign] = ()
    bundle: Bundle | None = None  # of a case that failed
    stack: str = ""  # of an exception in the claim's own code
    judged: bool = True  # or the run was cut in the middle of it


class LiveResults:
    """Completes what allure-pytest reports, one test after the other."""

    def __init__(self, folder: Path, pages: Pages) -> None:
        self.folder, self.pages = folder, pages
        self._case: CaseFacts | None = None  # of the test that runs, if it is a case of a claim
        plugin_manager.register(self)

    def begin(self, case: CaseId | None, header: Header | None = None) -> None:
        """The test that begins is this case of a target, or none of a claim."""
        self._case = None if case is None or header is None else _unjudged(header, case)

    def judged(
        self, header: Header, row: CaseRow, judgement: Judgement, failed: Bundle | None
    ) -> None:
        """What became of the case; `failed` is its bundle if it failed, be it only at first."""
        made = steps.of(judgement.target)
        self._case = CaseFacts(header, row, made, failed, judgement.verdict.stack)

    @hookimpl(tryfirst=True)
    def report_result(self, result: TestResult) -> None:
        """Called before the result is written."""
        if self._case is not None:
            _complete(result, self._case, plugin_manager.hook, self.pages)

    def close(self, headers: Iterable[Header]) -> None:
        plugin_manager.unregister(self)
        write_environment(self.folder, headers)


def _unjudged(header: Header, case: CaseId) -> CaseFacts:
    """What is known of a case when it begins, and stays so where the run is cut in it."""
    row = rows.case(
        case, inconclusive("the run ended before this case was judged"), target=header["target"],
        release=header["release"], duration_ms=0,
    )  # fmt: skip
    return CaseFacts(header, row, judged=False)


def write(
    header: Header, cases: Iterable[CaseRow], folder: Path, bundles: Path, *,
    made: Mapping[str, Sequence[StepSign]], pages: Pages = None,
) -> None:  # fmt: skip
    """Write a result for each row. `bundles` is the folder that paths of bundles are relative to,
    `made` the steps of each case by its id.
    """
    logger = AllureFileLogger(folder)
    start = round(datetime.datetime.fromisoformat(header["started"]).timestamp() * 1000)
    for row in cases:
        result = TestResult(uuid=str(uuid.uuid4()), start=start, stop=start)
        found = _stored(row, bundles)
        case = CaseFacts(header, row, made.get(row["case"], ()), found)
        _complete(result, case, logger, pages)
        logger.report_result(result)
        start = result.stop
    write_environment(folder, [header])


def _stored(row: CaseRow, folder: Path) -> Bundle | None:
    place = row.get("transcript")
    try:
        return bundle.read(folder / place) if place else None
    except (BadBundle, OSError):
        return None


def write_environment(folder: Path, headers: Iterable[Header]) -> None:
    """Say of each target what it was held against, beside what other processes said of theirs."""
    path = folder / "environment.properties"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    said = dict(line.partition("=")[::2] for line in lines)
    for header in headers:
        target = re.sub(r"[\s:=]", "_", _clean(header["target"]))
        said[target] = _clean(
            f"cases of {wording.kafka(header['release'])} against {header['oracle']}"
            f" ({header['oracle_kind']}), Touchstone {header['commit']}, seed {header['seed']}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{name}={value}\n" for name, value in said.items())
    path.write_text(text, encoding="utf-8")


def _complete(result: TestResult, case: CaseFacts, sink: Sink, pages: Pages) -> None:
    """Make a result say what the case is, how it went and what it came to."""
    row = case.row
    module, _, function = row["where"].rpartition(".")
    result.name, result.fullName = row["case"], f"{module}#{function}"
    result.titlePath = [row["target"], row["suite"], row["claim"]]
    result.testCaseId = _digest(row["case"])
    result.historyId = _digest(row["case"], row["target"])
    result.description = _description(row)
    result.parameters = [
        Parameter(name=name, value=str(value))
        for name, value in (
            ("target", row["target"]),
            ("version", row["version"]),
            *row["params"].items(),
        )
        if value is not None
    ]
    result.labels = _labels(result.labels, row)
    result.links = [*result.links, *_links(row, pages)]
    result.stop = result.start + round(row["duration_ms"])
    shown = _card(case)
    result.status = _status(case, result.status)
    result.statusDetails = _details(case, shown) or result.statusDetails
    result.steps = [*result.steps, *_steps(case, result.start, sink)]
    result.attachments = [*result.attachments, *_attachments(case, shown, sink)]


def _status(case: CaseFacts, reported: str | None) -> str:
    """passed, failed, broken, skipped or unknown. One that conforms may still have failed in
    pytest: when what it used was taken down.
    """
    if not case.judged:
        return str(Status.UNKNOWN)
    verdict = case.row["verdict"]
    if verdict == CONFORMS and reported in (Status.FAILED, Status.BROKEN):
        return str(reported)
    return str(Status.SKIPPED if case.row["known"] else STATUS.get(verdict, Status.SKIPPED))


def _details(case: CaseFacts, shown: card.Card | None) -> StatusDetails | None:
    """Why a case is not green, or was not at first; None of one that conforms."""
    row = case.row
    if row["verdict"] == CONFORMS:
        first = row.get("at_first")
        return StatusDetails(flaky=True, message=_clean(f"at first: {first}")) if first else None
    if shown is None:
        verdict = f"{row['verdict']}: " if case.judged else ""
        return StatusDetails(message=_clean(f"{verdict}{row['reason']}"))
    why = next((f"{label}: {first}" for label, (first, *_) in _wrong(row).items()), row["reason"])
    message = f"known: {row['known']}: {why}" if row["known"] else why
    lines = [line.removeprefix("  ") for line in card.body(shown)]
    trace = "\n".join([*lines, *_end_of(case.stack.splitlines())])
    return StatusDetails(
        known=True if row["known"] else None, message=_clean(message), trace=_clean(trace)
    )


def _end_of(stack: Sequence[str]) -> Iterator[str]:
    """The frames of a claim stand last; before them are those of pytest and its plugins."""
    if len(stack) > FRAMES:
        yield "..."
    yield from stack[-FRAMES:]


def _card(case: CaseFacts) -> card.Card | None:
    """The card of a case that failed, at first or in the end."""
    if case.bundle is not None:
        return card.of_bundle(case.bundle, case.row["transcript"])
    if case.row["verdict"] in (DIVERGES, BROKEN):
        return card.of_row(case.row, case.header, case.row["transcript"])
    return None


def _digest(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:32]


# the claim


def _description(row: CaseRow) -> str:
    """The claim's sentence and what it rests on, as Markdown."""
    found = [card.evidence_of(word) for word in row["evidence"]]
    lines = [f"{one.word}: {one.text}" if one.text else one.word for one in found]
    listed = "\n".join(f"- {_MARKS.sub(_escaped, line)}" for line in lines)
    return f"{_MARKS.sub(_escaped, row['sentence'])}\n\n{listed}"


def _escaped(mark: re.Match[str]) -> str:
    return f"\\{mark[0]}"


def _labels(reported: Sequence[Label], row: CaseRow) -> list[Label]:
    """Where a case stands, in place of what pytest says of its module; others' labels stay."""
    release = wording.kafka(row["release"])
    module = row["where"].rpartition(".")[0]
    ours = [
        ("level", row["level"]),
        ("target", row["target"]),
        ("release", row["release"]),
        (LabelType.PARENT_SUITE, row["target"]),
        (LabelType.SUITE, row["suite"]),
        (LabelType.SUB_SUITE, row["claim"]),
        (LabelType.EPIC, row["suite"]),
        (LabelType.FEATURE, row["api"] or "no API"),
        (LabelType.STORY, row["claim"]),
        (LabelType.SEVERITY, SEVERITY[row["level"]].value),
        (LabelType.FRAMEWORK, "pytest"),
        (LabelType.LANGUAGE, platform_label()),
        ("package", module),
    ]
    tags = [row["level"], release, *(["harm"] if row["harms"] else [])]
    replaced = {name for name, _ in ours}
    kept = [
        label for label in reported
        if label.name not in replaced and (label.name, label.value) != (LabelType.TAG, "harm")
    ]  # fmt: skip
    made = [*ours, *((LabelType.TAG, word) for word in tags)]
    return [*(Label(name=name, value=_clean(value)) for name, value in made if value), *kept]


def _links(row: CaseRow, pages: Pages) -> Iterator[Link]:
    """The claim's page and the evidence, as far as it is known where they are."""
    if pages is not None and OURS.match(row["where"]):
        place = f"claims/{row['claim']}.html"
        yield Link(LINK, pages.replace("{}", place), f"claim {row['claim']}")
    for word in row["evidence"]:
        found = card.evidence_of(word)
        clause = ledger.CLAUSE.fullmatch(word)
        if found.link:
            yield Link(LinkType.LINK, found.link, f"{word}: {found.text}")
        elif pages is not None and clause is not None:
            place = f"claims/clauses-{clause[1].lower()}.html#{word.partition('.')[0]}"
            yield Link(LINK, pages.replace("{}", place), f"clause {word}")


# how it went


def _steps(case: CaseFacts, start: int, sink: Sink) -> Iterator[TestStepResult]:
    """A step for each step of the case, red where what decides the case stands."""
    wrong = _wrong(case.row)
    views = _views(case.bundle)
    of_client = case.bundle is not None and case.bundle.scenario.is_of_client
    view = "what happened" if of_client else "request and answers"
    for one in case.steps:
        label = one["step"]
        begun = start + round(one["at_ms"] or 0)
        step = TestStepResult(name=_clean(steps.title(one)), status=Status.PASSED)
        if one["at_ms"] is None:
            step.status = Status.SKIPPED
        else:
            step.start, step.stop = begun, begun + round(one["ms"])
        if label in wrong:
            step.status = STATUS.get(case.row["verdict"], Status.FAILED)
            step.statusDetails = StatusDetails(message=_clean(_first_of(wrong[label])))
        if label in views:
            step.attachments = [_attach(sink, view, _text(views[label]))]
        yield step


def _wrong(row: CaseRow) -> dict[str, list[str]]:
    """What decides a case, in words, by the label of its step."""
    found: dict[str, list[str]] = {}
    for failure in row.get("failures") or ():
        words = wording.expectation(failure["path"], failure["wanted"], failure["got"])
        found.setdefault(failure["step"], []).append(_placed(failure["path"], words))
    for one in row["differences"]:
        pair = one["oracle"], one["target"]
        words = wording.both(one["path"], one.get("kind") or "", pair, row["release"])
        found.setdefault(one["step"], []).append(_placed(one["path"], words))
    for finding in row["findings"]:
        words = f"{finding['sentence']} ({finding['checker']})"
        found.setdefault(finding["step"], []).append(words)
    return found


def _first_of(lines: Sequence[str]) -> str:
    more = len(lines) - PLACES
    return "\n".join([*lines[:PLACES], *([f"... and {more} more places"] if more > 0 else [])])


def _placed(path: str, words: str) -> str:
    return f"{path}: {words}" if path else words


def _views(found: Bundle | None) -> dict[str, list[str]]:
    """The request of each step and both answers beside each other; of a client what it did."""
    if found is None:
        return {}
    if found.scenario.is_of_client:
        return answers.events(found.target)
    oracle = found.oracle
    places: dict[str, list[str]] = {}
    for one in _differences(found):
        places.setdefault(one.step, []).append(one.path)
    requests = card.requests(found.target, oracle)
    views = {}
    for label, trip in found.target.by_label.items():
        other = None if oracle is None else oracle.by_label.get(label)
        lines = [f"  {line}" for line in requests.get(label, ())]
        views[label] = [*lines, "", *answers.step(label, other, trip, places.get(label, ()))]
    return views


def _differences(found: Bundle) -> list[Difference]:
    """All that differs, what decides first; nothing where we fail to compare."""
    verdict = found.judge()
    notes = (one for one in verdict.notes if isinstance(one, Difference))
    return [*verdict.differences, *notes]


def _attachments(case: CaseFacts, shown: card.Card | None, sink: Sink) -> Iterator[Attachment]:
    """The card of a failed case, both answers, the transcript of both sides and their packets."""
    if shown is not None:
        yield _attach(sink, "card", _text(card.lines(shown)))
    made = case.bundle
    if made is None:
        return
    if made.oracle is not None:
        lines = answers.lines(made.oracle, made.target, _differences(made))
        yield _attach(sink, "both answers", _text(lines))
    yield _attach(sink, bundle.file_name(made.case), bundle.dumps(made), AttachmentType.JSON)
    if not made.scenario.is_of_client:  # whose connections are not all its own
        sides = [side for side in (made.oracle, made.target) if side is not None]
        yield _attach(sink, "packets, for Wireshark", pcap.dumps(sides), AttachmentType.PCAP)


def _attach(
    sink: Sink, name: str, body: str | bytes, kind: AttachmentType = AttachmentType.TEXT
) -> Attachment:
    source = ATTACHMENT_PATTERN.format(prefix=uuid.uuid4(), ext=kind.extension)
    whole = _clean(body) if isinstance(body, str) else body
    sink.report_attached_data(body=whole, file_name=source)
    return Attachment(name=name, source=source, type=kind.mime_type)


def _text(lines: Iterable[str]) -> str:
    found = list(lines)
    more = len(found) - LINES
    rest = [f"... and {more:,} more lines: touchstone diff --all BUNDLE"] if more > 0 else []
    return "".join(f"{line}\n" for line in (*found[:LINES], *rest))


def _clean(text: str) -> str:
    """Without what a target may have put in to harm a reader, and what UTF-8 cannot hold."""
    whole = text.encode("utf-8", "backslashreplace").decode()
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", whole)
