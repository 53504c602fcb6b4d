"""The list of what the judge forgives: read, held against trials, and written again.

`golden/forgiven.toml` has a table for each rule, with the reason in words and lines such as

    "Fetch, ListOffsets | throttle_time_ms | positive | +1, -1, far | one broker | sometimes"

of APIs, the path without indexes, the shape of what stood there, the kinds of change, and where it
holds, if not everywhere. `*` stands for anything. `sometimes`: in other answers the same change is
seen, most often because the value is told twice and only one of them was changed.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from touchstone.harness.tests.leaves.judging import CHECKED, NOTED, RAISED, SEEN, UNSEEN
from touchstone.harness.tests.leaves.trials import Leaf, Setting

GOLDEN = Path(__file__).parents[1] / "golden" / "forgiven.toml"
SOMETIMES = "sometimes"
WHERE: dict[str, Callable[[Setting], bool]] = {
    "internal topic": lambda setting: setting.internal,
    "beside an error": lambda setting: setting.error,
    "no error": lambda setting: not setting.error,
    "one broker": lambda setting: setting.brokers == 1,
    "several brokers": lambda setting: setting.brokers > 1,
    "1.0 and 2.2": lambda setting: setting.release in ("1.0", "2.2"),
}


@dataclass(frozen=True)
class Line:
    """One line of the list."""

    rule: str
    apis: tuple[str, ...]
    path: str
    shape: str
    kinds: tuple[str, ...]
    where: str = ""
    sometimes: bool = False

    def covers(self, leaf: Leaf, setting: Setting) -> bool:
        return (
            _any_of(leaf.api, self.apis) and _any_of(leaf.change, self.kinds)
            and _like(leaf.shape, self.shape) and _like(leaf.path, self.path)
            and (not self.where or WHERE[self.where](setting))
        )  # fmt: skip

    def __str__(self) -> str:
        words = [", ".join(self.apis), self.path, self.shape, ", ".join(self.kinds)]
        return " | ".join(words + [self.where] * bool(self.where) + [SOMETIMES] * self.sometimes)

    @classmethod
    def parse(cls, rule: str, text: str) -> Line:
        """The line of this text. Raises ValueError where it is none."""
        apis, path, shape, kinds, *more = text.split(" | ")
        where = [word for word in more if word != SOMETIMES]
        if len(where) > 1 or not WHERE.keys() >= set(where):
            raise ValueError(f"{text!r}: a line holds in one of {', '.join(WHERE)}")
        return cls(rule, tuple(apis.split(", ")), path, shape, tuple(kinds.split(", ")),
                   "".join(where), SOMETIMES in more)  # fmt: skip


@dataclass(frozen=True)
class Rule:
    """One rule of the judge that forgives: `decides` is `unseen` or `noted`."""

    name: str
    why: str
    decides: str
    lines: tuple[Line, ...]


@dataclass(slots=True)
class Tally:
    """What came of the trials of one leaf in one setting."""

    counts: Counter[str] = field(default_factory=Counter)
    example: dict[str, str] = field(default_factory=dict)


class Trials:
    """What came of all trials, by leaf and setting."""

    def __init__(self) -> None:
        self.of: dict[tuple[Leaf, Setting], Tally] = {}
        self.without_bytes = 0

    def add(self, leaf: Leaf, setting: Setting, outcome: str, example: str) -> None:
        tally = self.of.setdefault((leaf, setting), Tally())
        tally.counts[outcome] += 1
        tally.example.setdefault(outcome, example)

    @cached_property
    def counts(self) -> Counter[str]:
        return sum((tally.counts for tally in self.of.values()), Counter())

    def forgiven(self, outcome: str) -> Iterator[tuple[Leaf, Setting, Tally]]:
        for (leaf, setting), tally in self.of.items():
            if tally.counts[outcome]:
                yield leaf, setting, tally


def read(path: Path = GOLDEN) -> list[Rule]:
    tables = tomllib.loads(path.read_text()) if path.exists() else {}
    return [
        Rule(name, table["why"], table["decides"],
             tuple(Line.parse(name, text) for text in table["leaves"]))
        for name, table in tables.items()
    ]  # fmt: skip


def problems(rules: Sequence[Rule], trials: Trials, *, whole: bool) -> Iterator[str]:
    """What is wrong with the list after these trials, in words. `whole`: all places were tried, so
    that a line of which nothing was unseen is stale; else only one is whose every trial was seen.
    """
    for rule in rules:
        if not rule.why.strip():
            yield f"{rule.name}: a rule without a reason"
    for leaf, _, tally in trials.forgiven(RAISED):
        yield f"the judge fell over {_words(leaf)}: {tally.example[RAISED]}"
    for outcome in (UNSEEN, NOTED):
        lines = [line for rule in rules if rule.decides == outcome for line in rule.lines]
        used, seen = _uses(lines, trials, outcome)
        met: dict[Leaf, str] = {}
        for leaf, setting, tally in trials.forgiven(outcome):
            if not any(line.covers(leaf, setting) for line in _near(lines, leaf)):
                met.setdefault(leaf, tally.example[outcome])
        yield from (f"{outcome}: {_words(leaf)}: {where}" for leaf, where in met.items())
        for line in lines:
            for part in _parts(line):
                tried = whole or (seen[line, part] and not line.sometimes)
                if tried and not used[line, part]:
                    yield f"stale, for it is not {outcome}: {line.rule}: {' | '.join(part)}"
            if whole and not line.sometimes and any(seen[line, part] for part in _parts(line)):
                yield f"seen {SOMETIMES}: {line.rule}: {line}"
            if whole and line.sometimes and not any(seen[line, part] for part in _parts(line)):
                yield f"never seen, and it says {SOMETIMES}: {line.rule}: {line}"


def by_rule(rules: Sequence[Rule], trials: Trials) -> Counter[str]:
    """How many trials each rule forgives."""
    found: Counter[str] = Counter()
    for rule in rules:
        for leaf, setting, tally in trials.forgiven(rule.decides):
            if any(line.covers(leaf, setting) for line in _near(rule.lines, leaf)):
                found[rule.name] += tally.counts[rule.decides]
    return found


Part = tuple[str, str, str, str]  # one API, path, shape, one kind


def _uses(
    lines: Sequence[Line], trials: Trials, outcome: str
) -> tuple[Counter[tuple[Line, Part]], Counter[tuple[Line, Part]]]:
    """For each part of each line how many trials were forgiven and how many were not."""
    used: Counter[tuple[Line, Part]] = Counter()
    seen: Counter[tuple[Line, Part]] = Counter()
    for (leaf, setting), tally in trials.of.items():
        for line in _near(lines, leaf):
            if line.covers(leaf, setting):
                part = (
                    leaf.api if "*" not in line.apis else "*", line.path, line.shape,
                    leaf.change if "*" not in line.kinds else "*",
                )  # fmt: skip
                used[line, part] += tally.counts[outcome]
                seen[line, part] += tally.counts[SEEN] + tally.counts[CHECKED]
    return used, seen


def _near(lines: Iterable[Line], leaf: Leaf) -> Iterator[Line]:
    return (line for line in lines if line.path == leaf.path or "*" in line.path)


def _parts(line: Line) -> Iterator[Part]:
    return ((api, line.path, line.shape, kind) for api in line.apis for kind in line.kinds)


def _any_of(word: str, words: tuple[str, ...]) -> bool:
    return word in words or "*" in words


def _like(word: str, pattern: str) -> bool:
    return word == pattern or ("*" in pattern and fnmatchcase(word, pattern))


def _words(leaf: Leaf) -> str:
    return " | ".join(leaf)


# writing


def completed(rules: Sequence[Rule], trials: Trials) -> list[Rule]:
    """The rules without what is stale, and with what is missing under rules without a reason."""
    kept = []
    for outcome in (UNSEEN, NOTED):
        of = [rule for rule in rules if rule.decides == outcome]
        used, seen = _uses([line for rule in of for line in rule.lines], trials, outcome)
        for rule in of:
            lines = [one for line in rule.lines for one in _still(line, used, seen)]
            if lines:
                kept.append(Rule(rule.name, rule.why, rule.decides, tuple(_grouped(lines))))
        known = [line for rule in kept for line in rule.lines]
        missing = _missing(known, trials, outcome)
        if missing:
            kept.append(Rule(f"new-{outcome}", "", outcome, tuple(_grouped(missing))))
    return kept


def _still(
    line: Line, used: Counter[tuple[Line, Part]], seen: Counter[tuple[Line, Part]]
) -> Iterator[Line]:
    if "*" in (*line.apis, *line.kinds) or "*" in line.path:
        if any(used[line, part] for part in _parts(line)):
            sometimes = any(seen[line, part] for part in _parts(line))
            yield replace(line, sometimes=sometimes)
        return
    for part in _parts(line):
        if used[line, part]:
            api, _, _, kind = part
            yield replace(line, apis=(api,), kinds=(kind,), sometimes=seen[line, part] > 0)


def _missing(known: Sequence[Line], trials: Trials, outcome: str) -> list[Line]:
    unmet: dict[Leaf, list[Setting]] = defaultdict(list)
    for leaf, setting, _ in trials.forgiven(outcome):
        if not any(line.covers(leaf, setting) for line in _near(known, leaf)):
            unmet[leaf].append(setting)
    others: dict[Leaf, list[Setting]] = defaultdict(list)
    for (leaf, setting), tally in trials.of.items():
        if tally.counts[SEEN] + tally.counts[CHECKED]:
            others[leaf].append(setting)
    found = []
    for leaf, settings in unmet.items():
        where = _where(settings, others[leaf])
        still = [one for one in others[leaf] if not where or WHERE[where](one)]
        found.append(
            Line("", (leaf.api,), leaf.path, leaf.shape, (leaf.change,), where, bool(still))
        )
    return found


def _where(unseen: list[Setting], seen: list[Setting]) -> str:
    """The condition that holds for what is unseen and leaves out most of what is seen."""
    best, left = "", len(seen)
    for words, holds in WHERE.items():
        still = sum(map(holds, seen))
        if all(map(holds, unseen)) and still < left:
            best, left = words, still
    return best


def _grouped(lines: Iterable[Line]) -> list[Line]:
    """The same in fewer lines: kinds of one place together, then APIs of equal lines."""
    kinds: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for line in lines:
        key = (line.rule, line.apis, line.path, line.shape, line.where, line.sometimes)
        kinds[key] += [kind for kind in line.kinds if kind not in kinds[key]]
    apis: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for (rule, names, *rest), words in kinds.items():
        path, shape, where, sometimes = rest
        apis[rule, path, shape, tuple(sorted(words)), where, sometimes] += list(names)  # type: ignore[call-overload]
    found = [
        Line(rule, tuple(sorted(set(names))), path, shape, words, where, sometimes)
        for (rule, path, shape, words, where, sometimes), names in apis.items()
    ]
    return sorted(found, key=lambda one: (one.path, one.shape, one.apis, one.where))


HEAD = """\
# What the judge does not see when one leaf of a recorded answer is changed, and why that is right.
# A table for each rule; `unseen`: no difference at all; `noted`: a difference that decides nothing.
# Lines: APIs | path | shape of what stood there | kinds of change | where | whether only sometimes.
# `python -m touchstone.harness.tests.leaves --night --write` drops what is seen now and puts what
# is missing under a table without a reason, which the test refuses: docs/howto/legal-difference.md.
"""


def written(rules: Iterable[Rule]) -> str:
    """The list as a file has it."""
    parts = [HEAD]
    for rule in rules:
        lines = "".join(f"  {_quoted(str(line))},\n" for line in rule.lines)
        parts.append(f"\n[{rule.name}]\nwhy = {_quoted(rule.why)}\n"
                     f"decides = {_quoted(rule.decides)}\nleaves = [\n{lines}]\n")  # fmt: skip
    return "".join(parts)


def _quoted(text: str) -> str:
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'
