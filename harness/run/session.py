"""One run of the suites: its judges, its files, its exit code. No pytest in here.

The plugin feeds it claims, cases and what became of them; it keeps the books. What they come to is
said in `tally`. A run that was interrupted leaves files without a footer, with a page and a summary
that say how far it came, and one process of several (`--shard`) leaves parts; every reader refuses
the files of both.

Wall time is read here and in the driver, nowhere else: a row says when and how long.
"""

from __future__ import annotations

import datetime
import itertools
import json
import platform
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from touchstone.harness import exits, known, shown
from touchstone.harness.driver.turns import SHARED_KINDS
from touchstone.harness.judgement import bundle, card, wording
from touchstone.harness.judgement.verdict import BROKEN, CONFORMS, DIVERGES, Verdict
from touchstone.harness.known import Pin, Surprise
from touchstone.harness.model.case import Case, Judgement
from touchstone.harness.model.case_row import CaseRow, Header, PartMark, PartRow
from touchstone.harness.model.claim import CaseId
from touchstone.harness.model.recordings import Store, Written
from touchstone.harness.model.shard import Shard
from touchstone.harness.model.target import Target
from touchstone.harness.model.transcript import Transcript
from touchstone.harness.results import junit, parts, rows, run_folder, steps, summary
from touchstone.harness.results.jsonl import Writer
from touchstone.harness.results.summary import Report
from touchstone.harness.run import chosen_release, client_judge, tally
from touchstone.harness.run.build import build_of, commit
from touchstone.harness.run.client_judge import ClientJudge
from touchstone.harness.run.judge import Judge, judge_for
from touchstone.harness.run.recorder import written
from touchstone.harness.targets import command_config, reach
from touchstone.harness.writable import write_whole

if TYPE_CHECKING:
    from touchstone.harness.results.allure import LiveResults

AnyJudge = Judge | ClientJudge
T = TypeVar("T")
FAILED = (DIVERGES, BROKEN)
CARDS = 20  # failing cases that pytest shows in full


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    targets: tuple[str, ...] = ("reference",)
    clients: tuple[str, ...] = ()  # judged on each of the targets, in place of the targets
    oracle: str | None = None
    results: Path | None = None
    run: str | None = None  # a run that other processes add their own targets to
    record: bool = False
    expectations: Path | None = None
    update_expectations: bool = False
    ignore_pins: bool = False
    allure: str | None = None  # the folder of allure-pytest's results
    pages: str | None = None  # in them, where our documentation is
    shard: Shard | None = None
    deadline_s: float = 10.0
    seed: int = 0
    again: int | None = None  # tries of a case that differs, after the first; None: see `judge_for`
    jobs: int | None = None  # cases at a time where there may be several
    gentle: bool = False  # nothing is set on a target
    follow: bool = False  # brokers are asked wherever a target says that they are
    build: str | None = None  # of the target, as somebody says
    strict: bool = False  # setup and texts decide as well (harness/judgement/grades.py)
    profiles: tuple[str, ...] = ()  # that the targets are said to have (harness/model/profiles.py)
    prefix: str = ""  # with which the names of all that cases make begin
    release: str | None = None  # that the targets want to be held against
    written_as: str | None = None  # the release as for which recorded cases are written


class RunExists(ValueError):
    """A run of this name has judged the target before; the message names its file."""


@dataclass
class TargetRun:
    """One target in a run: what is planned, the rows so far, what was recorded."""

    judge: Judge | ClientJudge
    pins: list[Pin]
    arguments: tuple[str, ...] = ()  # pytest's, that ask this target again
    planned: list[CaseId] = field(default_factory=list)
    deselected: list[CaseId] = field(default_factory=list)
    elsewhere: int = 0  # cases of other parts
    rows: list[CaseRow] = field(default_factory=list)
    recorded: dict[str, dict[str, Transcript]] = field(default_factory=dict)
    written: dict[str, dict[str, Written]] = field(default_factory=dict)  # of a release between
    writer: Writer | None = None
    header: Header = field(default_factory=Header)  # once the run is planned
    surprises: list[Surprise] = field(default_factory=list)
    left: list[str] = field(default_factory=list)  # what is not as it was before the run


class Session:
    """A run from its first case to its exit code.

    A disk that takes no more ends it: `lost` says why, and what was judged until then is told.
    Raises ValueError (UnknownTarget, BadPin, NoProfile, RunExists) for what cannot be begun.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        reach.follow(options.follow)
        self.nonce = secrets.token_hex(4)
        self.started = _now()
        self.run = options.run or f"{self.started:%Y%m%dT%H%M%S}-{self.nonce}"
        pins = [] if options.ignore_pins else known.load()
        if options.expectations is not None and not options.ignore_pins:
            may_be_new = options.update_expectations and not options.expectations.exists()
            pins += [] if may_be_new else known.load([options.expectations])
        self.target_runs: list[TargetRun] = []
        for index, (client, word) in enumerate(itertools.product(options.clients, options.targets)):
            nonce = f"{self.nonce}/{index}"
            found = client_judge.judge_for(
                client, word, nonce=nonce, deadline_s=options.deadline_s, release=options.release
            )
            file = None if options.ignore_pins else found.client.pins
            own = [] if file is None else known.load([file])
            self.target_runs.append(
                TargetRun(found, [*pins, *own], _arguments_of_client(client, word, options))
            )
        for index, word in enumerate(() if options.clients else options.targets):
            judge = judge_for(
                word, options.oracle, nonce=f"{self.nonce}/{index}", seed=options.seed,
                deadline_s=options.deadline_s, record=options.record, again=options.again,
                strict=options.strict, gentle=options.gentle, having=options.profiles,
                release=options.release, prefix=options.prefix, written_as=options.written_as,
            )  # fmt: skip
            if options.jobs and judge.jobs > 1:
                judge.jobs = options.jobs
            own = [] if options.ignore_pins else known.of_target(word)
            self.target_runs.append(TargetRun(judge, [*pins, *own], _arguments(word, options)))
        self.whole = False
        self.suites: frozenset[str] = frozenset()
        self.planned = self.interrupted = False
        self.not_again = 0  # cases that differ and were not asked again, for want of time
        self.told: list[str] = []  # what was set on targets for this run
        self.kept: list[str] = []  # what was recorded
        self.cards = 0  # of failing cases, shown so far
        self.exit = exits.INCOMPLETE
        self.allure: LiveResults | None = None
        self.lost = ""  # why results cannot be written any more
        for run in self.target_runs if self.folder is not None else ():
            if (there := self._file(run, "jsonl")).exists():
                raise RunExists(f"{there} is there already: choose another --run")

    @property
    def judged(self) -> int:
        return sum(len(run.rows) for run in self.target_runs)

    @property
    def folder(self) -> Path | None:
        return None if self.options.results is None else self.options.results / self.run

    def _run_of(self, case: Case[AnyJudge]) -> TargetRun:
        return next(one for one in self.target_runs if one.judge is case.judge)

    # the life of a run

    def plan(
        self, cases: Iterable[Case[AnyJudge]], deselected: Iterable[Case[AnyJudge]], *, whole: bool,
        suites: Iterable[str] = (), elsewhere: Iterable[Case[AnyJudge]] = (),
    ) -> None:  # fmt: skip
        """What is going to run; opens the files. `suites`: those of which no claim is missing;
        `elsewhere`: what other parts judge."""
        self.whole, self.planned, self.suites = whole, True, frozenset(suites)
        by_judge = {id(run.judge): run for run in self.target_runs}
        for case in cases:
            by_judge[id(case.judge)].planned.append(case.case)
        for case in deselected:
            by_judge[id(case.judge)].deselected.append(case.case)
        for case in elsewhere:
            by_judge[id(case.judge)].elsewhere += 1
        for run in self.target_runs:
            self.told += run.judge.quicken(case.claim for case in run.planned)
            run.header = self._header(run)
        if self.options.allure is not None:
            from touchstone.harness.results.allure import LiveResults

            self.allure = LiveResults(Path(self.options.allure), self.options.pages)
        if (folder := self.folder) is not None:
            self._write(lambda: self._open(folder))

    def _open(self, folder: Path) -> None:
        """Begin the files of this run."""
        folder.mkdir(parents=True, exist_ok=self.options.run is not None)
        for run in self.target_runs:
            run.writer = Writer(self._file(run, "jsonl"), run.header)
            text = json.dumps(self._manifest(run), indent=1) + "\n"
            self._file(run, "manifest.json").write_text(text, encoding="utf-8")

    def begin_case(self, case: Case[AnyJudge] | None) -> None:
        """What pytest asks for now; None where it is no case of a claim."""
        if self.allure is None:
            return
        if case is None:
            self.allure.begin(None)
        else:
            self.allure.begin(case.case, self._run_of(case).header)

    def _write(self, write: Callable[[], T]) -> T | None:
        """What `write` gives; None where it cannot, and from then on."""
        if self.lost:
            return None
        try:
            return write()
        except OSError as error:
            self.lost = f"results cannot be written any more: {error.strerror or error}"
            return None

    def finish_case(
        self, case: Case[AnyJudge], judgement: Judgement, duration_ms: float
    ) -> Verdict:
        """Books one judged case; the verdict with its pin, if it has one."""
        run = self._run_of(case)
        row = rows.case(
            case.case, judgement.verdict, target=run.judge.name, release=run.judge.release,
            duration_ms=duration_ms,
            at_first=judgement.at_first.verdict.reason if judgement.at_first else None,
        )  # fmt: skip
        row["known"] = known.explain(row, run.pins, self.started.date())
        failed = self._failed(run, case, judgement)
        row["transcript"] = self._write(lambda: self._keep_bundle(run, failed))
        if self.options.shard is not None:
            cast(PartRow, row)["steps"] = steps.of(judgement.target)
        run.rows.append(row)
        if (allure := self.allure) is not None:
            self._write(lambda: allure.judged(run.header, row, judgement, failed))
        if (writer := run.writer) is not None:
            self._write(lambda: writer.case(row))
        if self.options.record and judgement.verdict.kind == CONFORMS and judgement.oracle:
            run.recorded.setdefault(case.claim.suite, {})[case.id] = judgement.oracle
            if (way := written(case.case, judgement.oracle)) is not None:
                run.written.setdefault(case.claim.suite, {})[case.id] = way
        return Verdict(**{**vars(judgement.verdict), "known": row["known"]})

    def told_of(self, case: Case[AnyJudge], judgement: Judgement) -> str:
        """A failing case as a card; empty for one that never ran."""
        if judgement.verdict.kind not in FAILED:
            return ""
        self.cards += 1
        if self.cards > CARDS:  # causes say more than a thousand cards
            return shown.block(f"{judgement.verdict.kind} {case.id}: {judgement.verdict.reason}")
        made = self._bundle_of(self._run_of(case), case, judgement)
        if made is None:
            return shown.block(str(judgement.verdict))
        return "\n".join(card.lines(card.of_bundle(made)))

    def finish(self, *, interrupted: bool = False, trouble: bool = False) -> int:
        """Closes the books; the exit code. `trouble` is an error outside every case."""
        for run in self.target_runs:
            run.surprises = self._surprises(run)
        self.interrupted = interrupted
        self.exit = self._exit_code(interrupted, trouble)
        if self.options.record:  # first: who interrupts may have no patience with the rest
            self._write(lambda: self._keep_recordings(interrupted))
        interrupted = interrupted or bool(self.lost)
        finished = _now().isoformat(timespec="seconds")
        for run in self.target_runs:
            if run.writer is not None:
                if not interrupted:
                    finish = partial(run.writer.finish, finished=finished, exit_code=self.exit)
                    self._write(finish)
                run.writer.close()
        try:
            if (folder := self.folder) is not None:  # first: who interrupts twice ends the closing
                self._write(lambda: self._write_reports(folder, interrupted))
        finally:
            for run in self.target_runs:
                run.left = run.judge.close(interrupted=interrupted)
        if (allure := self.allure) is not None:
            self._write(lambda: allure.close(run.header for run in self.target_runs))
        if self.options.update_expectations and (pins := self.options.expectations) is not None:
            self._write(lambda: self._update_expectations(pins))
        if self.lost:  # whatever was found: who reads the files does not find it
            self.exit = exits.INCOMPLETE
        return self.exit

    def _exit_code(self, interrupted: bool, trouble: bool) -> int:
        codes = [exits.INCOMPLETE] if interrupted else [exits.CONFORMED]
        codes += [exits.BROKE] if trouble else []
        codes += [
            tally.exit_code(run.rows, len(run.planned), run.surprises) for run in self.target_runs
        ]
        return tally.worst(codes)

    def _surprises(self, run: TargetRun) -> list[Surprise]:
        judged = len(run.rows) >= len(run.planned)  # else a pin may be of what was not asked
        whole = self.whole and self.options.shard is None and judged
        return known.surprises(run.rows, run.pins, self.started.date(), whole=whole)

    def _write_reports(self, folder: Path, interrupted: bool) -> None:
        """Summary and page for people, also of a run that was cut, which say so; the files that
        programs read only of one that was not.
        """
        if self.options.shard is not None:  # of whole targets only: `touchstone join` writes them
            return
        surprises = {one.judge.name: one.surprises for one in self.target_runs}
        if interrupted:
            run_folder.write(folder, surprises, cut=frozenset(surprises))
            return
        everything = [(self._header(run), run.rows) for run in self.target_runs]
        for run, rows_of_one in zip(self.target_runs, everything, strict=True):
            junit.write([rows_of_one], self._file(run, "junit.xml"))
        run_folder.write(folder, surprises)

    def _failed(
        self, run: TargetRun, case: Case[AnyJudge], judgement: Judgement
    ) -> bundle.Bundle | None:
        """The bundle of a case that failed, if only at first."""
        judgement = judgement.at_first or judgement
        failed = judgement.verdict.kind in FAILED
        return self._bundle_of(run, case, judgement) if failed else None

    def _keep_bundle(self, run: TargetRun, made: bundle.Bundle | None) -> str | None:
        """Writes it where the run has a folder; its path from there."""
        if self.folder is None or made is None:
            return None
        path = bundle.write(made, self.folder / "bundles" / file_word(run.judge.name))
        return str(path.relative_to(self.folder))

    def _bundle_of(
        self, run: TargetRun, case: Case[AnyJudge], judgement: Judgement
    ) -> bundle.Bundle | None:
        judge = run.judge
        named = {"where": case.claim.where, "claim": case.claim.id, "case": case.id}
        again = wording.again(named | {"target": judge.name}, {"arguments": run.arguments})
        return bundle.of(case.case, judgement, judge.release, strict=judge.strict, again=again)

    def _keep_recordings(self, interrupted: bool) -> None:
        for run in self.target_runs:
            collected: dict[str, set[str]] = {}
            for case in (*run.planned, *run.deselected):
                collected.setdefault(case.claim.suite, set()).add(case.id)
            store = Store(run.judge.release)
            made = {"date": f"{self.started:%Y-%m-%d}", "commit": commit()}
            for suite, found in run.recorded.items():
                ways = run.written.get(suite)
                known = collected[suite] if suite in self.suites and ways is None else None
                store.update(suite, found, known, made, ways)
            count = sum(map(len, run.recorded.values()))
            of_all = wording.counted(len(run.planned), "case")
            rest = "; interrupted: the others keep what they had" if interrupted else ""
            self.kept.append(f"recorded: {count:,} of {of_all} on Kafka {run.judge.release}{rest}")

    def _update_expectations(self, path: Path) -> None:
        own, day = known.load([path]) if path.exists() else [], self.started.date()
        left = [
            row
            for run in self.target_runs
            for others in [[pin for pin in run.pins if pin not in own]]
            for row in run.rows
            if known.explain(row, others, day) is None
        ]
        made = known.updated(left, own, day)
        write_whole(path, known.dumps(made))

    # what is told

    def _header(self, run: TargetRun) -> Header:
        judge = run.judge
        return rows.header(
            run=self.run, started=self.started.isoformat(timespec="seconds"), target=judge.name,
            release=judge.release, kind=judge.target.kind, oracle=judge.oracle.name,
            oracle_kind=judge.oracle.kind, commit=commit(), seed=self.options.seed,
            host={"python": platform.python_version(), "platform": platform.platform()},
            planned=len(run.planned), part=self._part(run), arguments=run.arguments,
            deselected=len(run.deselected), suites=judge.suites(),
            profiles=[profile.name for profile in judge.told.profiles],
            configured=configured(judge.target), build=self._build(judge),
            release_reason=judge.release_reason, addresses=judge.where_clients_go(),
        )  # fmt: skip

    def _build(self, judge: AnyJudge) -> str | None:
        if isinstance(judge, ClientJudge):
            return self.options.build or judge.client.version
        return build_of(judge.target, self.options.build)

    def _part(self, run: TargetRun) -> PartMark | None:
        shard = self.options.shard
        total = len(run.planned) + run.elsewhere
        return None if shard is None else parts.mark(shard.index, shard.count, total)

    def _manifest(self, run: TargetRun) -> dict[str, Any]:
        return {
            "run": self.run,
            "whole": self.whole,
            "target": run.judge.name,
            "planned": [case.id for case in run.planned],
            "deselected": [case.id for case in run.deselected],
        }

    def _file(self, run: TargetRun, suffix: str) -> Path:
        name, shard = file_word(run.judge.name), self.options.shard
        if shard is not None:
            name = parts.name(name, shard.index, shard.count)
        assert self.folder is not None, "only a run that is kept has files"
        return self.folder / f"{name}.{suffix}"

    def heading(self) -> list[str]:
        """The lines before the first case."""
        lines = []
        for run in self.target_runs:
            judge = run.judge
            build = f", build {self.options.build}," if self.options.build else ""
            lines.append(
                f"target {judge.name} ({judge.target.kind}){build} against oracle "
                f"{judge.oracle.name} ({judge.oracle.kind}), "
                f"cases of Kafka {judge.release}: {len(run.planned)}"
            )
            lines += summary.circumstances(self._header(run))
            if isinstance(judge, Judge) and judge.recorder is not None:
                lines.append(judge.recorder.took(run.planned))
        lines += self.told
        shard = f", part {self.options.shard}" if self.options.shard else ""
        lines.append(f"run {self.run}{shard}, seed {self.options.seed}, nonce {self.nonce}")
        return [shown.block(line) for line in lines]

    def summary(self) -> list[str]:
        """What the run found out, the causes first, and what was not run."""
        reports = (
            Report(self._header(one), one.rows, one.surprises, finished=not self.interrupted)
            for one in self.target_runs
        )
        return [line for report in reports for line in summary.lines(report)] + [
            *self._not_again(),
            *self.kept,
            *(shown.block(line) for run in self.target_runs for line in run.left),
            *([f"results in {self.folder}"] if self.folder else []),
            *([self.lost] if self.lost else []),
            f"exit {self.exit}: {exits.EXITS[self.exit]}",
        ]

    def _not_again(self) -> list[str]:
        if not self.not_again:
            return []
        cases = wording.counted(self.not_again, "case")
        return [f"not asked again, for want of time: {cases} that differ"]


def _arguments_of_client(client: str, word: str, options: Options) -> tuple[str, ...]:
    return ("--client", client, "--target", word, *_release(options))


def _release(options: Options) -> tuple[str, ...]:
    return (chosen_release.FLAG, options.release) if options.release else ()


def _arguments(word: str, options: Options) -> tuple[str, ...]:
    oracle = ("--oracle", options.oracle) if options.oracle else ()
    strict = ("--strict-notes",) if options.strict else ()
    having = [word for name in options.profiles for word in ("--profile", name)]
    follow = (reach.FLAG,) if options.follow else ()
    login = command_config.words()
    prefix = ("--prefix", options.prefix) if options.prefix else ()
    return (
        "--target",
        word,
        *oracle,
        *strict,
        *having,
        *follow,
        *login,
        *_release(options),
        *prefix,
    )


def configured(target: Target) -> bool:
    """Whether each claim gets the settings that it wants: a target that somebody else runs has its
    own, and so has one whose file does not say how settings are handed over.
    """
    if target.kind not in SHARED_KINDS:
        return True
    described = getattr(target, "described", None)
    return bool(described and described.start and described.start.settings)


def file_word(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "@.+-" else "_" for letter in name)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
