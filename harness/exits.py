"""What each exit code says, and what every error comes to: the one place that catches.

A command, and a pytest run of the suites, ends with one of five codes. Errors that a user can mend
are one line on stderr, whatever command they come from: ERRORS names them, with the code of each.
Whatever is not named there is a defect of ours, and ends with its traceback and BROKE: Python's own
code for that is 1, which would be "a new difference".

Errors are named and not imported, because `touchstone broker` has no business importing Spark.
`harness/tests/errors/test_exits.py` finds every name.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import sys
import traceback
from collections.abc import Callable
from types import MappingProxyType

import click

CONFORMED, DIFFERENT, BROKE, INCOMPLETE, REFUSED = range(5)
EXITS = MappingProxyType(
    {
        CONFORMED: "conforms in all that was in scope",
        DIFFERENT: "a new difference, or a pin that is no longer true",
        BROKE: "the harness broke: no verdict of this run can be relied on",
        INCOMPLETE: "incomplete: nothing, or not everything, could be judged",
        REFUSED: "did not begin: the command, or a file that tells it what to do, is wrong",
    }
)
ERRORS = MappingProxyType(
    {
        # What was asked is wrong, or is not there: nothing was begun.
        "click.exceptions.UsageError": REFUSED,
        "touchstone.harness.known.BadPin": REFUSED,
        "touchstone.harness.model.profiles.NoProfile": REFUSED,
        "touchstone.harness.spark.inputs.NotThere": REFUSED,
        "touchstone.harness.targets.UnknownTarget": REFUSED,
        "touchstone.harness.targets.login.BadLogin": REFUSED,
        "touchstone.harness.targets.matrix.UnknownRelease": REFUSED,
        "touchstone.harness.run.session.RunExists": REFUSED,
        # What was asked cannot be done here and now, or only in part.
        "click.exceptions.Abort": INCOMPLETE,
        "click.exceptions.ClickException": INCOMPLETE,
        "touchstone.fuzz.cases.BadCase": INCOMPLETE,
        "touchstone.fuzz.clients.campaign.BadFinding": INCOMPLETE,
        "touchstone.fuzz.clients.campaign.NotStarted": INCOMPLETE,
        "touchstone.fuzz.corpus_run.NotPrepared": INCOMPLETE,
        "touchstone.fuzz.runner.NotLoopback": INCOMPLETE,
        "touchstone.fuzz.target_run.TargetDied": INCOMPLETE,
        "touchstone.harness.judgement.bundle.BadBundle": INCOMPLETE,
        "touchstone.harness.model.bounded.TooMuch": INCOMPLETE,
        "touchstone.harness.model.provenance.NotRecorded": INCOMPLETE,
        "touchstone.harness.model.recordings.BadRecording": INCOMPLETE,
        "touchstone.harness.model.target.StartFailed": INCOMPLETE,
        "touchstone.harness.model.target.Unavailable": INCOMPLETE,
        "touchstone.harness.model.transcript.TranscriptError": INCOMPLETE,
        "touchstone.harness.results.jsonl.BadResults": INCOMPLETE,
        "touchstone.harness.spark.inputs.NotResults": INCOMPLETE,
        "touchstone.harness.spark.session.NotRun": INCOMPLETE,
        "touchstone.harness.targets.probe.NotReady": INCOMPLETE,
        "touchstone.harness.targets.reach.NotLoggedIn": INCOMPLETE,
    }
)
STORAGE = {
    number: getattr(errno, number)
    for number in ("ENOSPC", "EDQUOT", "EROFS", "EFBIG", "EIO", "EACCES", "EPERM")
    if hasattr(errno, number)
}  # what a disk says that is full, read-only, worn out or somebody else's


class Unheard(Exception):
    """Whoever read the output has gone; there is nobody to whom that could be said."""


def code_of(error: BaseException) -> int:
    """Return the exit code that an error comes to; BROKE for one that nobody expects."""
    if isinstance(error, Unheard) or is_of_storage(error) or _lacking(error):
        return INCOMPLETE
    names = (f"{one.__module__}.{one.__qualname__}" for one in type(error).__mro__)
    return next((ERRORS[name] for name in names if name in ERRORS), BROKE)


def is_of_storage(error: BaseException) -> bool:
    """Whether nothing can be written, or a file not be read, for a reason outside this program."""
    return isinstance(error, OSError) and error.errno in STORAGE.values()


def _lacking(error: BaseException) -> str | None:
    """Return which extra brings a module that is not here; None for any other error."""
    if not isinstance(error, ModuleNotFoundError):
        return None
    lacking: str | None = importlib.import_module("touchstone.harness.extras").lacking(error)
    return lacking


def sentence(error: BaseException) -> str:
    """Return one line that says what is wrong."""
    if lacking := _lacking(error):
        return lacking
    if isinstance(error, OSError) and error.strerror:
        whose = "cannot write: " if is_of_storage(error) else ""
        place = f"{error.filename}: " if error.filename else whose
        return f"{place}{error.strerror}"
    return "interrupted" if isinstance(error, click.Abort) else str(error)


def say(who: str, error: Exception) -> int:
    """Say on stderr what is wrong, in one line that begins with the command; return its code."""
    code = code_of(error)
    if isinstance(error, click.UsageError):
        error.show()
    elif code == BROKE:
        traceback.print_exception(error)
        click.echo(f"{who}: this is a defect of Touchstone itself (exit {code})", err=True)
    elif not isinstance(error, Unheard):
        shown = importlib.import_module("touchstone.harness.shown")  # costs 10 ms of each start
        click.echo(shown.block(f"{who}: {sentence(error)}"), err=True)
    return code


def guarded(who: Callable[[], str], call: Callable[[], object]) -> int:
    """Call, and return the exit code of what came of it; `who` names the command in its one line.

    Output that its reader no longer wants, or that no disk takes, is INCOMPLETE as well. Here and
    nowhere else is an error of a command caught that is not the command's own matter.
    """
    try:
        try:
            found = call()
        except SystemExit as left:
            found = left.code
        sys.stdout.flush()
    except Exception as error:
        code = code_of(error)
        with contextlib.suppress(OSError):  # nobody may read stderr either
            say(who(), error)
        _forget_stdout()
        return code
    if isinstance(found, str):
        click.echo(found, err=True)
        return BROKE
    return found if isinstance(found, int) else CONFORMED


def _forget_stdout() -> None:
    """What could not be written is not tried again when Python ends, which would be code 120."""
    with contextlib.suppress(OSError, ValueError):  # of an output that is no file
        sys.stdout.flush()
        return
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
