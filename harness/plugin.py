"""The pytest door: `pytest suites/ --target T`. It judges what `touchstone.plugin` saw collected.

Importing it costs nothing, and it does nothing until a claim is collected. A claim's function
is parametrised by its cases on each target and returns what to ask. pytest shows a difference as
failed, a pinned one as xfailed, an unsupported or undecided one as skipped with the reason, and
whatever goes wrong in a claim's own code is BROKEN.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest

from touchstone.harness import shown
from touchstone.harness.exits import BROKE, INCOMPLETE
from touchstone.harness.options import Options
from touchstone.plugin import CLAIM, OPTIONS, stored

if TYPE_CHECKING:
    from touchstone.harness.judgement.verdict import Verdict
    from touchstone.harness.model.case import Case, ClaimFunction, Judgement
    from touchstone.harness.model.claim import CaseId, Claim
    from touchstone.harness.model.shard import Shard
    from touchstone.harness.run.ahead import Ahead
    from touchstone.harness.run.dry import Nature
    from touchstone.harness.run.interruption import Interruption
    from touchstone.harness.run.judge import Judge
    from touchstone.harness.run.session import Session

CASE = "case"
REWRITTEN_S, LINE_S = 1.0, 30.0  # how often the line of a pooled run is written
HARM = "harm"  # the capability and the mark: `-m "not harm"` leaves such claims out


def pytest_configure(config: pytest.Config) -> None:
    asked = _asked(config)
    config.stash[_STATE] = _State(asked)
    config.addinivalue_line("markers", f"{HARM}: a claim whose cases kill or freeze brokers")
    if getattr(config.option, "numprocesses", None) or hasattr(config, "workerinput"):
        raise pytest.UsageError(
            "claims share clusters and cannot be judged by pytest-xdist (-n): use --jobs N on a"
            " target that somebody else runs, or --shard I/N in processes of your own"
        )
    if config.option.help:
        return
    from touchstone.harness.run.asked import check
    from touchstone.harness.targets import command_config

    try:
        config.stash[_STATE].told = command_config.obey(asked.command_config)
        check(asked)
        _session(config)
    except ValueError as error:  # UnknownTarget, BadPin and others, each of which is one line
        raise pytest.UsageError(str(error)) from error
    if asked.record:
        from touchstone.harness.run.interruption import Interruption

        config.stash[_STATE].interruption = interruption = Interruption()
        interruption.listen()


def pytest_unconfigure(config: pytest.Config) -> None:
    state = config.stash.get(_STATE, None)
    if state is not None and state.interruption is not None:
        state.interruption.forget()


def _asked(config: pytest.Config) -> Options:
    """Our options, each by its short name."""
    mine = {name: getattr(config.option, stored(name)) for name in OPTIONS}
    return Options(**{name.replace("-", "_"): value for name, value in mine.items()})


class _State:
    """What the plugin remembers of one pytest run; `session` stays None without claims."""

    def __init__(self, asked: Options) -> None:
        self.asked = asked
        self.session: Session | None = None
        self.deselected: list[pytest.Item] = []
        self.elsewhere: list[pytest.Item] = []  # claims without a case on these targets' releases
        self.others: list[pytest.Item] = []  # cases of other parts of this run
        self.trouble = False
        self.told: list[str] = []  # of the options, before the first case
        self.interruption: Interruption | None = None  # of a run that records, from outside
        self.booked: set[str] = set()  # ids of items whose verdicts are in the results
        self.line: _Line | None = None  # of cases that are judged before pytest asks for them


_STATE = pytest.StashKey[_State]()


def _session(config: pytest.Config) -> Session:
    """The session, made before anything is collected. Raises ValueError."""
    state = config.stash[_STATE]
    if state.session is None:
        from touchstone.harness.model.shard import parse
        from touchstone.harness.run.session import Options, Session

        asked = state.asked
        options = Options(
            targets=tuple(asked.target) or ("reference",),
            clients=tuple(asked.client),
            oracle=asked.oracle,
            results=asked.results,
            run=asked.run,
            record=asked.record,
            written_as=asked.written_as,
            expectations=asked.expectations,
            update_expectations=asked.update_expectations,
            ignore_pins=asked.strict_known,
            allure=getattr(config.option, "allure_report_dir", None),
            pages=dict(getattr(config.option, "allure_link_pattern", ())).get("touchstone"),
            shard=parse(asked.shard) if asked.shard else None,
            deadline_s=asked.deadline,
            again=asked.again,
            jobs=asked.jobs,
            gentle=asked.gentle,
            follow=asked.follow,
            strict=asked.strict_notes,
            profiles=tuple(asked.profile),
            release=asked.release,
            prefix=asked.prefix,
            build=asked.build,
            seed=asked.seed,
        )
        state.session = Session(options)
        state.session.told += state.told
    return state.session


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    claim = getattr(metafunc.function, CLAIM, None)
    if claim is None:
        return
    if CASE not in metafunc.fixturenames:
        raise pytest.UsageError(f"{claim.where}: a claim's function takes the argument `case`")
    from touchstone.harness.model.case import Case

    cases, names = [], []
    marks = [getattr(pytest.mark, HARM)] if HARM in claim.capabilities else []
    for run in _session(metafunc.config).target_runs:
        for one in run.judge.cases(claim):
            cases.append(pytest.param(Case(one, run.judge), marks=marks))
            names.append(f"{run.judge.name}-{one.id.removeprefix(claim.id).strip('[]')}")
    metafunc.parametrize(CASE, cases, ids=[name.rstrip("-") for name in names])


def _claim(item: pytest.Item) -> Claim | None:
    """The claim that an item is of, None where it is an ordinary test."""
    return getattr(item.function, CLAIM, None) if isinstance(item, pytest.Function) else None


def _case(item: pytest.Item) -> Case[Judge] | None:
    """The case of a claim's item, None for every other item."""
    if _claim(item) is None:
        return None
    from touchstone.harness.model.case import Case

    callspec = getattr(item, "callspec", None)
    found = None if callspec is None else callspec.params.get(CASE)
    return found if isinstance(found, Case) else None


def _is_empty(item: pytest.Item) -> bool:
    """A claim without cases on these targets: pytest makes one item that stands for none."""
    return _claim(item) is not None and not _case(item)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not any(_claim(item) for item in items):
        return
    session = _session(config)
    config.stash[_STATE].elsewhere = [item for item in items if _is_empty(item)]
    items[:] = [item for item in items if not _is_empty(item)]
    order = {id(run.judge): index for index, run in enumerate(session.target_runs)}

    def place(item: pytest.Item) -> tuple[int, Any]:
        case = _case(item)
        if case is None:
            return -1, ()
        if case.judge.jobs > 1:  # what harms others comes last, and what kills behind it
            found = _nature(item, case)
            cluster = case.judge.turns.cluster_word(case.claim.shape)
            return order[id(case.judge)], (found.kills, found.alone, cluster)
        shape = case.claim.shape  # neighbours share a cluster
        return order[id(case.judge)], (shape.brokers, shape.racks, shape.config)

    items.sort(key=place)
    if config.stash[_STATE].asked.newest:
        _keep_newest(config, items)
    if config.stash[_STATE].asked.missing:
        _keep_missing(config, items)
    if config.stash[_STATE].asked.gentle:
        _keep_gentle(config, items, session)
    if session.options.shard is not None:
        _keep_part(config, items, session.options.shard)
        pooled = any(run.judge.jobs > 1 for run in session.target_runs)
        if session.options.shard.index % 2 == 0 and not pooled:
            items.sort(key=place, reverse=True)  # let not all parts wait for brokers at once


def _nature(item: pytest.Item, case: Case[Judge]) -> Nature:
    """What a case does to others."""
    from touchstone.harness.run import dry

    return dry.nature(_function(item), case.case, case.release)


def _function(item: pytest.Item) -> ClaimFunction:
    assert isinstance(item, pytest.Function), "a case is of a function"
    function: ClaimFunction = item.function
    return function


def _keep_gentle(config: pytest.Config, items: list[pytest.Item], session: Session) -> None:
    """Without cases that may kill a broker, or change what is everybody's."""
    from touchstone.harness.judgement.wording import counted

    others = [item for item in items if (case := _case(item)) and not _nature(item, case).gentle]
    session.told.append(
        f"gentle: without {counted(len(others), 'case')} that may kill a broker or change what is"
        " everybody's; no setting of the target is changed"
    )
    _leave_out(config, items, others)


def _leave_out(config: pytest.Config, items: list[pytest.Item], others: list[pytest.Item]) -> None:
    """Take some items away, which are then told as deselected."""
    if others:
        config.hook.pytest_deselected(items=others)
        gone = {id(item) for item in others}
        items[:] = [item for item in items if id(item) not in gone]


def _keep_newest(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of the cases of one claim on one target the last of the newest version, of those that the
    target serves if there are any.
    """
    newest: dict[tuple[int, str], tuple[tuple[bool, int], pytest.Item]] = {}
    for item in items:
        if (case := _case(item)) is None:
            continue
        key, version = (id(case.judge), case.claim.id), case.case.version or 0
        rank = case.judge.serves(case.case), version
        if key not in newest or rank >= newest[key][0]:
            newest[key] = rank, item
    kept = {id(item) for _, item in newest.values()}
    _leave_out(config, items, [one for one in items if _case(one) and id(one) not in kept])


def _keep_missing(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without the cases that the target's own version is recorded for as they stand."""
    known = [it for it in items if (case := _case(it)) and case.judge.has(_function(it), case.case)]
    _leave_out(config, items, known)


def _keep_part(config: pytest.Config, items: list[pytest.Item], shard: Shard) -> None:
    """What this part of the run judges; tests that are no cases belong to the first part."""
    judges: dict[int, list[tuple[pytest.Item, CaseId]]] = {}
    for item in items:
        if (case := _case(item)) is not None:
            judges.setdefault(id(case.judge), []).append((item, case.case))
    others = {id(item) for item in items if shard.index > 1 and _case(item) is None}
    for pairs in judges.values():
        dealt = shard.deal([case for _, case in pairs])
        others |= {id(item) for (item, _), n in zip(pairs, dealt, strict=True) if n != shard.index}
    config.stash[_STATE].others = [item for item in items if id(item) in others]
    items[:] = [item for item in items if id(item) not in others]


def pytest_deselected(items: list[pytest.Item]) -> None:
    if items:
        items[0].config.stash[_STATE].deselected.extend(items)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    state = session.config.stash[_STATE]
    if state.session is None:
        return
    from touchstone.harness.model import ledger

    chosen = [case for item in session.items if (case := _case(item))]
    deselected = [case for item in state.deselected if (case := _case(item))]
    others = [case for item in state.others if (case := _case(item))]
    claims = {
        claim.where: claim
        for item in [*session.items, *state.deselected, *state.elsewhere, *state.others]
        if (claim := _claim(item))
    }
    if not claims:
        return
    whole = not deselected and ledger.is_whole(claim.where for claim in claims.values())
    shard = state.session.options.shard
    first = shard is None or shard.index == 1  # one part asks the ledger for all
    mistakes = ledger.mistakes(list(claims.values()), whole=whole and first)
    if mistakes:
        text = "\n".join(f"  {mistake}" for mistake in mistakes)
        pytest.exit(
            f"touchstone: the ledger does not accept these claims:\n{text}", returncode=BROKE
        )
    if not session.config.option.collectonly:
        suites = ledger.whole_suites(claim.where for claim in claims.values())
        state.session.plan(chosen, deselected, whole=whole, suites=suites, elsewhere=others)
        if state.session.lost:
            pytest.exit(f"touchstone: {state.session.lost}", returncode=INCOMPLETE)


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    session = config.stash[_STATE].session
    seen = session is not None and (session.planned or config.option.collectonly)
    return session.heading() if session is not None and seen else []


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Begin with what can be judged side by side; pytest then asks for one after the other."""
    state, config = session.config.stash[_STATE], session.config
    if state.session is None or config.option.collectonly:
        return
    gc.freeze()  # modules and items live as long as the run: they need not be looked through again
    if config.option.usepdb:
        return
    pairs = [(item, case) for item in session.items if (case := _case(item))]
    if any(case.judge.jobs > 1 for _, case in pairs):
        from touchstone.harness.run.ahead import Ahead, Work

        work = [
            Work(item.nodeid, _function(item), case, found.alone,
                 apart=found.harms and case.judge.lanes is not None)
            for item, case in pairs
            if case.judge.jobs > 1
            for found in [_nature(item, case)]
        ]  # fmt: skip
        ahead = Ahead(work, max(case.judge.jobs for _, case in pairs))
        state.line = _Line(config, ahead)


class _Line:
    """How far a pooled run has come: one line of a terminal, else a line now and then."""

    def __init__(self, config: pytest.Config, ahead: Ahead) -> None:
        self.ahead = ahead
        found: pytest.TerminalReporter | None = config.pluginmanager.get_plugin("terminalreporter")
        verbose = config.option.verbose
        self.reporter = found if verbose > -2 else None
        self.rewritten = False
        self.every_s = LINE_S if self.reporter is not None else float("inf")
        if self.reporter is not None and verbose <= 0 and self.reporter.isatty:
            self.rewritten, self.every_s = True, REWRITTEN_S
            self.reporter.showfspath = False  # the line needs its line for itself

    def show(self) -> None:
        if self.reporter is None:
            return
        if self.rewritten:
            room = self.reporter._tw.fullwidth - 1
            self.reporter.rewrite(self.ahead.line()[:room], erase=True)
        else:
            self.reporter.ensure_newline()
            self.reporter.write_line(self.ahead.line())

    def wipe(self) -> None:
        if self.reporter is not None and self.rewritten:
            self.reporter.rewrite("\r", erase=True)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """Wait for a case that is judged ahead, while nobody captures what is written."""
    state = item.config.stash[_STATE]
    if state.session is not None:
        state.session.begin_case(_case(item))
    if (line := state.line) is not None and item.nodeid in line.ahead:
        line.ahead.wait(item.nodeid, line.show, line.every_s)


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(
    report: pytest.TestReport, config: pytest.Config
) -> tuple[str, str, str] | None:
    """No letters where a line is rewritten: what failed is told at the end."""
    state = config.stash.get(_STATE, None)
    line = None if state is None else state.line
    if line is None or not line.rewritten:
        return None
    if report.nodeid not in line.ahead or report.when != "call":
        return None
    known = {"passed": "xpassed", "skipped": "xfailed"} if hasattr(report, "wasxfail") else {}
    return known.get(report.outcome, report.outcome), "", ""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    case = _case(pyfuncitem)
    if case is None:
        return None
    line = pyfuncitem.config.stash[_STATE].line
    if line is not None and pyfuncitem.nodeid in line.ahead:
        line.ahead.result(pyfuncitem.nodeid)
        return True
    from touchstone.harness.model.case import run_case

    run_case(pyfuncitem.obj, case)
    return True


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Have a report say what its case came to, before other plugins' wrappers see it."""
    report = yield
    case = _case(item)
    if case is None or (call.when != "call" and call.excinfo is None):
        return report
    from touchstone.harness.judgement.verdict import broken
    from touchstone.harness.model.case import Judgement

    state = item.config.stash[_STATE]
    if call.when == "teardown" or state.session is None:
        state.trouble = True
        return report
    judgement = case.judgement
    error = None if call.excinfo is None else call.excinfo.value
    if isinstance(error, KeyboardInterrupt | pytest.exit.Exception):
        return report
    if judgement is None:
        judgement = Judgement(broken(error or AssertionError("the case was not judged")))
    duration_ms = _duration_ms(judgement) if state.line is not None else None
    state.booked.add(item.nodeid)  # first: an interruption may lose a row, and must not repeat one
    verdict = state.session.finish_case(
        case, judgement, call.duration * 1000 if duration_ms is None else duration_ms
    )
    if state.session.lost:
        item.session.shouldstop = state.session.lost
    shown = _shown(report, item, verdict, state.session.told_of(case, judgement))
    if state.line is None:  # which asks asks the transcripts how long each case took
        case.judgement = Judgement(judgement.verdict)  # those of thousands are much memory
    return shown


def _duration_ms(judgement: Judgement) -> float | None:
    """How long a case took that was judged ahead of its report; None where it asked nothing."""
    if judgement.target is None:
        return None
    return judgement.target.events[-1].at_us / 1000 if judgement.target.events else 0.0


def _shown(
    report: pytest.TestReport, item: pytest.Item, verdict: Verdict, card: str
) -> pytest.TestReport:
    """The report as pytest should show this verdict."""
    path, line, _ = item.location
    if verdict.kind == "CONFORMS":
        return report
    if verdict.known is not None:
        report.outcome, report.wasxfail = "skipped", f"known: {verdict.known}"
    elif verdict.kind in ("UNSUPPORTED", "INCONCLUSIVE"):
        reason = shown.block(f"{verdict.kind}: {verdict.reason}")
        report.outcome, report.longrepr = "skipped", (path, line or 0, reason)
    else:
        report.outcome, report.longrepr = "failed", f"{item.name}\n{card or verdict}"
    return report


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    state = session.config.stash.get(_STATE, None)
    if state is None or state.session is None or not state.session.planned:
        return
    if state.interruption is not None:
        state.interruption.ignore()
    interrupted = exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)
    uncollected = interrupted and session.testsfailed > 0 and not state.session.judged
    if state.line is not None:
        ahead = state.line.ahead
        ahead.close()
        state.line.wipe()
        for key, case, judgement in ahead.judged():  # and not reported: somebody has pressed Ctrl-C
            if key not in state.booked:
                state.session.finish_case(case, judgement, _duration_ms(judgement) or 0.0)
        state.session.not_again = ahead.not_again
    trouble = state.trouble or uncollected or exitstatus == pytest.ExitCode.INTERNAL_ERROR
    session.exitstatus = state.session.finish(interrupted=interrupted, trouble=trouble)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> Any:
    found = yield  # a long list of failed cases must not push the causes off the screen
    session = config.stash[_STATE].session
    if session is not None and session.planned:
        terminalreporter.section("touchstone")
        for line in session.summary():
            terminalreporter.write_line(line)
    return found
