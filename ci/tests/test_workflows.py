"""The workflows and the action: what they run exists, and their cells are those of the matrix.

Nothing here can start a workflow, so what can rot is checked from outside: every command that a
`run:` names is a target of the Makefile, a file of this repository, or a command of ours with such
options; every file that it names is there. `actionlint`, in the tier `lint`, looks at the rest.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import click
import pytest

from touchstone.harness.__main__ import main
from touchstone.harness.model import advertised

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FILES = [*WORKFLOWS, ROOT / "action.yml"]
# Programs that a runner has. Whatever else is run has to be ours.
PROGRAMS = {"cat", "docker"}
RUN = re.compile(r"^(?P<indent> *)(?:- )?run: *(?P<rest>.*)$")
EXPRESSION = re.compile(r"\$\{\{.*?}}")


def commands(text):
    """The commands of every `run:` of a workflow, a list of words each."""
    lines = text.splitlines()
    found = []
    for number, line in enumerate(lines):
        if not (run := RUN.match(line)):
            continue
        body = [run["rest"]]
        if run["rest"] in ("|", ">", ">-", "|-"):
            depth = len(run["indent"]) + 2
            body = []
            for other in lines[number + 1 :]:
                if other.strip() and len(other) - len(other.lstrip()) < depth:
                    break
                body.append(other.strip())
            body = [" ".join(body)] if run["rest"].startswith(">") else body
        found += [shlex.split(EXPRESSION.sub("X", one)) for one in body if one.strip()]
    return found


EVERY = [(path.name, words) for path in FILES for words in commands(path.read_text())]


@cache
def make_targets():
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@cache
def pytest_options():
    argv = [sys.executable, "-m", "pytest", "suites/versions", "--help"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", done.stdout))


def complaint(words):
    """Why this command cannot run; None when it can."""
    program, rest = words[0], words[1:]
    name = program.removeprefix("$GITHUB_ACTION_PATH/").removeprefix(".venv/bin/")
    if name == "make":
        unknown = set(rest) - make_targets()
        return f"make has no target {unknown}" if unknown else None
    if name == "touchstone":
        return of_ours(rest)
    if name == "pytest":
        return of_pytest(rest)
    if name == "python":
        return of_python(rest)
    if name in PROGRAMS:
        lacking = [word for word in rest if word.startswith("ci/") and not (ROOT / word).exists()]
        return f"{lacking} is not there" if lacking else None
    file = ROOT / name
    runs = file.is_file() and file.stat().st_mode & 0o100
    return None if runs else f"{name} is no program of this repository"


def of_python(words):
    if words[0] == "-c":
        done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
        return done.stderr if done.returncode else None
    known = words[:2] in (["-m", "pip"], ["-m", "build"])
    return None if known else f"{words[:2]} is nothing that a runner has"


def of_ours(words):
    command = main.get_command(click.Context(main), words[0])
    if command is None:
        return f"touchstone has no command {words[0]}"
    known = {option for each in command.params for option in each.opts}
    unknown = options(words) - known
    return f"touchstone {words[0]} has no {unknown}" if unknown else None


def of_pytest(words):
    unknown = options(words) - pytest_options()
    lacking = [word for word in words if word.endswith("/") and not (ROOT / word).is_dir()]
    return f"pytest has no {unknown} {lacking}" if unknown or lacking else None


def options(words):
    return {word.partition("=")[0] for word in words if word.startswith("-")}


@pytest.mark.parametrize(("file", "words"), EVERY, ids=lambda one: str(one)[:60])
def test_what_a_workflow_runs_is_there(file, words):
    assert complaint(words) is None, file


def test_there_are_commands_to_look_at():
    assert {name for name, _ in EVERY} == {path.name for path in FILES}
    assert len(EVERY) > 12


@pytest.mark.parametrize(
    "words",
    [
        ["make", "nothing"],
        ["ci/nothing", "x"],
        [".venv/bin/touchstone", "nothing"],
        [".venv/bin/touchstone", "verify", "--nothing"],
        [".venv/bin/pytest", "suites/", "--nothing"],
        [".venv/bin/pytest", "nothing/"],
        ["docker", "build", "-f", "ci/nothing/Dockerfile"],
        ["curl", "x"],
        ["python", "-m", "nothing"],
        ["python", "-c", "from touchstone import nothing"],
        ["README.md"],
    ],
    ids=" ".join,
)
def test_what_is_not_there_is_seen(words):
    assert complaint(words)


def test_a_run_of_many_lines_is_read_as_commands():
    text = "- run: |\n    make a\n\n    make b\n- run: >\n    make c\n    d\nx: y\n"
    assert commands(text) == [["make", "a"], ["make", "b"], ["make", "c", "d"]]


def test_the_night_has_a_job_for_each_recorded_release():
    text = (ROOT / ".github" / "workflows" / "nightly.yml").read_text()
    (cells,) = re.findall(r"^ +release: \[(.*)]$", text, re.MULTILINE)
    recorded = list(advertised.tables())
    assert [one.strip(' "') for one in cells.split(",")] == recorded
    newest = recorded[-1]
    fuzzed = re.findall(r"^ +- --target (\S+)(?: --against (\S+))?$", text, re.MULTILINE)
    alone = [target for target, against in fuzzed if not against]
    assert alone == [f"reference@{newest}", f"kafka@{newest}"]
    compared = [target.removeprefix("reference@") for target, against in fuzzed if against]
    assert {newest, recorded[0]} <= set(compared) <= set(recorded)
    assert [against for _, against in fuzzed if against] == [f"kafka@{one}" for one in compared]


def test_what_the_action_takes_is_what_it_hands_over():
    text = (ROOT / "action.yml").read_text()
    inputs, _, runs = text.partition("\noutputs:")
    declared = set(re.findall(r"^  ([a-z-]+):$", inputs.partition("\ninputs:")[2], re.MULTILINE))
    assert declared == set(re.findall(r"inputs\.([a-z-]+)", runs))
    script = (ROOT / "ci" / "action" / "judge").read_text()
    given = set(re.findall(r"^        ([A-Z_]+): ", runs, re.MULTILINE)) - {"OPTIONS"}
    assert given == set(re.findall(r"\$\{([A-Z]+(?:_[A-Z]+)*):[?-]", script)) - {
        "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "PYTHON",
    }  # fmt: skip


def test_the_page_about_ci_names_every_input():
    page = (ROOT / "docs" / "ci.md").read_text()
    text = (ROOT / "action.yml").read_text().partition("\noutputs:")[0]
    declared = set(re.findall(r"^  ([a-z-]+):$", text.partition("\ninputs:")[2], re.MULTILINE))
    table = page.partition("| input |")[2].partition("\n\n")[0]
    first = [row.split("|")[1] for row in table.splitlines()[2:]]
    told = {name for cell in first for name in re.findall("`([^`]+)`", cell)}
    assert told == declared
    used = re.search(r"with:\n((?: {10}\S+: .*\n)+)", page)[1]
    assert {line.split(":")[0].strip() for line in used.splitlines()} <= declared


@pytest.mark.parametrize("server", ["GitHub", "GitLab"])
def test_a_file_for_a_ci_server_has_twelve_lines(server):
    page = (ROOT / "docs" / "ci.md").read_text().partition(f"## {server}\n")[2]
    file = page.partition("```yaml\n")[2].partition("```")[0]
    assert file.count("\n") == 12


@pytest.mark.parametrize("page", ["ci.md", "image.md"])
def test_the_commands_of_these_pages_have_such_options(page):
    text = (ROOT / "docs" / page).read_text().replace("\n      --", " --")
    found = re.findall(r"^(?: {4}(?:- )?)((?:touchstone|pytest|docker) .*)$", text, re.MULTILINE)
    assert found
    for line in found:
        words = [word for word in shlex.split(line) if word not in ("--pyargs", "first.")]
        assert complaint(words) is None, line


def test_only_publishing_may_write():
    """A job that runs the code of a change has no right that the change could use."""
    for path in WORKFLOWS:
        text = path.read_text()
        assert "permissions:\n  contents: read\n" in text, path.name
        rights = re.findall(r"^ {6}([a-z-]+): write$", text, re.MULTILINE)
        assert rights == (["id-token"] if path.name == "release.yml" else []), path.name
