"""The pytest plugin of every run in this environment: options, and a look at what is collected.

Whoever installs Touchstone for its broker has this loaded with each of his test runs, so it imports
nothing of ours. What judges is `touchstone.harness.plugin`, which is loaded when the first claim is
collected. Every option is called `--touchstone-NAME`. A run that asks for our suites has the short
names as well (`pytest suites/ --target T`), except where a conftest.py of the project took them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

pytest_plugins = ("touchstone.fixtures",)  # they import nothing before a test asks for one
JUDGE = "touchstone.harness.plugin"
CLAIM = "__touchstone_claim__"  # the attribute of a claim's function (harness/model/claim.py)
SUITES = os.path.realpath(os.path.join(os.path.dirname(__file__), "suites"))
PACKAGE = "touchstone.suites"
_TAKEN = pytest.StashKey[list[str]]()  # short names that a project has for itself

OPTIONS: dict[str, dict[str, Any]] = {
    "target": {
        "action": "append", "metavar": "T", "default": [],
        "help": "reference[@V], recorded@V, kafka@V, docker@V or HOST:PORT[,...]; repeatable "
                "(default: reference)",
    },
    "client": {
        "action": "append", "metavar": "NAME", "default": [],
        "help": "judge this client (a name of ours, or FILE.toml) on the brokers of --target; "
                "repeatable",
    },
    "command-config": {
        "metavar": "FILE", "type": Path,
        "help": "Kafka's client properties: how to log in to targets that somebody else runs "
                "(default: the variable TOUCHSTONE_COMMAND_CONFIG)",
    },
    "oracle": {
        "metavar": "T",
        "help": "who is right: recorded@V (default: the target's release), a live target, or none",
    },
    "results": {
        "metavar": "DIR", "type": Path,
        "help": "write rows, bundles of failures and JUnit XML to DIR/<run>/",
    },
    "record": {
        "action": "store_true",
        "help": "store the target's answers in suites/recordings/; run it through touchstone "
                "record",
    },
    "missing": {
        "action": "store_true",
        "help": "with --record: only what is not recorded of this version, or has changed since",
    },
    "written-as": {
        "metavar": "V",
        "help": "with --record, of a release without a persona: the release as for which the cases "
                "are written",
    },
    "expectations": {
        "metavar": "FILE", "type": Path,
        "help": "accepted divergences of this target, beside harness/known/",
    },
    "update-expectations": {
        "action": "store_true",
        "help": "rewrite the file of --expectations so that this run is what it expects",
    },
    "strict-known": {"action": "store_true", "help": "ignore all accepted divergences"},
    "strict-notes": {
        "action": "store_true",
        "help": "let setup steps and texts of messages decide too, not only what a claim is about",
    },
    "deadline": {
        "type": float, "default": 10.0, "metavar": "S", "help": "seconds per step (10)",
    },
    "again": {
        "type": int, "metavar": "N",
        "help": "ask what differs up to N times more; what then conforms is listed as flaky (1 on "
                "a target that somebody else runs, where it is then alone; else 0)",
    },
    "profile": {
        "action": "append", "metavar": "NAME", "default": [],
        "help": "say that the target has the settings of this profile (touchstone profile lists "
                "them); repeatable",
    },
    "release": {
        "metavar": "V",
        "help": "the release of Kafka that somebody else's target wants to be held against, as 4.3 "
                "(default: what its file says, else the one whose ApiVersions are nearest)",
    },
    "prefix": {
        "metavar": "TEXT", "default": "",
        "help": "let the names of all topics, groups and transactional ids begin with this, of a "
                "user who may only touch such",
    },
    "build": {
        "metavar": "TEXT",
        "help": "the build of the target (a commit, an image's digest): reports call a case flaky "
                "where one build gave several verdicts, and a regression where another did "
                "(default: the version in a target file, the release of kafka@V)",
    },
    "jobs": {
        "type": int, "metavar": "N",
        "help": "cases that are judged at a time on a target that somebody else runs (16)",
    },
    "gentle": {
        "action": "store_true",
        "help": "leave out what may kill a broker or changes what is everybody's, and set nothing",
    },
    "follow": {
        "action": "store_true",
        "help": "ask brokers also where only the target says that they are, on other machines, too",
    },
    "newest": {
        "action": "store_true",
        "help": "one case of each claim: of its newest version, or of the newest that a target of "
                "somebody else's serves; the others are listed as deselected",
    },
    "shard": {
        "metavar": "I/N",
        "help": "judge only part I of N, each a process of its own; touchstone join makes one of "
                "them",
    },
    "run": {
        "metavar": "NAME", "help": "name of the run, which other processes may add targets to",
    },
    "seed": {
        "type": int, "default": 0, "metavar": "N", "help": "seed of reference targets (0)",
    },
}  # fmt: skip


def stored(name: str) -> str:
    """The attribute of `config.option` that holds an option, whichever of its names was used."""
    return f"touchstone_{name.replace('-', '_')}"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("touchstone", "Kafka conformance (touchstone)")
    for name, how in OPTIONS.items():
        group.addoption(f"--touchstone-{name}", dest=stored(name), **how)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Iterator[None]:
    """After the project's conftest files: a name that one of them took stays theirs."""
    yield
    if not asks_for_suites(args, early_config.invocation_params.dir):
        return
    group = parser.getgroup("touchstone")
    taken = [name for name in OPTIONS if _is_taken(parser, f"--{name}")]
    early_config.stash[_TAKEN] = taken
    for name in (name for name in OPTIONS if name not in taken):
        group.addoption(f"--{name}", dest=stored(name), **OPTIONS[name])


def _is_taken(parser: pytest.Parser, option: str) -> bool:
    """Whether somebody else has an option of this name: it is understood, or its value is not."""
    word = f"{option}=?"
    try:
        return word not in parser.parse_known_and_unknown_args([word])[1]
    except pytest.UsageError:
        return True


def asks_for_suites(arguments: Sequence[str], folder: Path) -> bool:
    """Whether one of pytest's arguments is a file, a folder or a module of our suites."""
    for word in (os.fspath(folder), *(word for word in arguments if not word.startswith("-"))):
        place = word.partition("::")[0]
        if place == PACKAGE or place.startswith(f"{PACKAGE}."):
            return True
        found = os.path.realpath(os.path.join(folder, place))
        if found == SUITES or found.startswith(SUITES + os.sep):
            return True
    return False


def pytest_itemcollected(item: pytest.Item) -> None:
    """`-k` finds a claim by its id, too, and by those that it had."""
    claim = getattr(getattr(item, "function", None), CLAIM, None)
    if claim is not None:
        item.extra_keyword_matches.update((claim.id, *claim.aliases))


def pytest_report_header(config: pytest.Config) -> list[str]:
    return [
        f"touchstone: --{name} is an option of this project; ours is --touchstone-{name}"
        for name in config.stash.get(_TAKEN, ())
    ]


def pytest_configure(config: pytest.Config) -> None:
    if asks_for_suites(config.invocation_params.args, config.invocation_params.dir) or any(
        getattr(config.option, stored(name)) for name in ("target", "client", "shard", "record")
    ):
        _judge(config)
    else:
        config.pluginmanager.register(_Lookout(config), "touchstone-lookout")


def _judge(config: pytest.Config) -> None:
    given = {name: getattr(config.option, stored(name)) for name in ("build", "target", "client")}
    if given["build"] and len(given["target"]) * max(1, len(given["client"])) > 1:
        raise pytest.UsageError("--build names the build of one target: give one --target with it")
    config.pluginmanager.register(import_module(JUDGE), JUDGE)


class _Lookout:
    """Waits for the first claim, in a run that did not ask for any."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_pycollect_makeitem(self, obj: object) -> None:
        if type(obj) is FunctionType and CLAIM in obj.__dict__:
            self._config.pluginmanager.unregister(self)
            try:
                _judge(self._config)
            except pytest.UsageError as wrong:  # too late for pytest to take it for what it is
                pytest.exit(f"touchstone: {wrong}", returncode=pytest.ExitCode.USAGE_ERROR)
