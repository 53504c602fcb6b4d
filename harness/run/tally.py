"""What rows come to: the exit code of a run, its table by suite, and what it did not judge. Pure.

One place, because a run may be judged by one process or by several whose parts are joined, and
both must come to the same word. The code is the worst thing that is true: 2 we broke, 1 a
difference nobody accepted (or a pin that no longer says the truth), 3 not everything could be
judged, 0 all that was in scope conforms; the scope stands beside it (`scope`). A case that asks for
settings or brokers that the target does not have is out of scope, counted and listed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from touchstone.harness.exits import BROKE, CONFORMED, DIFFERENT, INCOMPLETE
from touchstone.harness.judgement import wording
from touchstone.harness.judgement.verdict import (
    BROKEN,
    CONFORMS,
    DIVERGES,
    INCONCLUSIVE,
    OUT_OF_SCOPE,
)
from touchstone.harness.known import NEW, Surprise
from touchstone.harness.model.case_row import CaseRow, Header

WORST_FIRST = (BROKE, DIFFERENT, INCOMPLETE, CONFORMED)
SAID = 240  # characters of how a flaky case differed: a batch may be its value; the row has all
SURPRISES = 20  # shown, and as many flaky cases; the others are counted
_PROFILE = re.compile(rf"{OUT_OF_SCOPE}: wants profile (?P<name>\S+) \(")
_RIGHT = re.compile(rf"{OUT_OF_SCOPE}: (?P<name>no [A-Z_]+(?: with 1 replica)? on [a-z ]+)$")
COLUMNS = (CONFORMS, "UNSUPPORTED", INCONCLUSIVE, "known", DIVERGES, BROKEN)


def worst(codes: Iterable[int]) -> int:
    """The exit code of several; one that is not ours (a signal, say) is our own fault."""
    known = {code if code in WORST_FIRST else BROKE for code in codes}
    return next((code for code in WORST_FIRST if code in known), INCOMPLETE)


def exit_code(rows: Sequence[CaseRow], planned: int, surprises: Sequence[Surprise]) -> int:
    """Of one target."""
    verdicts = {row["verdict"] for row in rows}
    if BROKEN in verdicts:
        return BROKE
    if surprises:
        return DIFFERENT
    undecided = any(row["verdict"] == INCONCLUSIVE and not _out_of_scope(row) for row in rows)
    decided = verdicts - {INCONCLUSIVE}  # none where nothing was asked for: that is no conformance
    whole = len(rows) >= planned and not undecided and bool(decided)
    return CONFORMED if whole else INCOMPLETE


def _out_of_scope(row: CaseRow) -> bool:
    return row["reason"].startswith(OUT_OF_SCOPE)


def table(name: str, rows: Sequence[CaseRow]) -> list[str]:
    """One line per suite and one for all, for a terminal."""
    lines = [f"{name:<24}" + "".join(f"{word:>14}" for word in COLUMNS)]
    for suite, counted in by_suite(rows):
        cells = "".join(f"{counted[word] or '.':>14}" for word in COLUMNS)
        lines.append(f"{suite:<24}{cells}")
    return lines


def by_suite(rows: Sequence[CaseRow]) -> list[tuple[str, Counter[str]]]:
    """(suite, how many cases came to what), by name, and "total" at the end."""
    suites: dict[str, Counter[str]] = {}
    for row in rows:
        word = "known" if row["known"] else row["verdict"]
        suites.setdefault(row["suite"], Counter())[word] += 1
    total: Counter[str] = sum(suites.values(), Counter())
    return [*sorted(suites.items()), ("total", total)]


def scope(header: Header, rows: Sequence[CaseRow]) -> str:
    """What a run says something about, and what it does not: of cases and of suites."""
    counted = Counter(row["verdict"] for row in rows)
    judged = sum(counted[kind] for kind in (CONFORMS, DIVERGES))
    outside = sum(_out_of_scope(row) for row in rows if row["verdict"] == INCONCLUSIVE)
    counted[INCONCLUSIVE] -= outside
    words = [f"{judged:,} of {header['planned'] + header.get('deselected', 0):,} cases judged"]
    words += [
        f"{counted[kind]:,} {text}"
        for kind, text in (
            ("UNSUPPORTED", "unsupported, proved by a probe"),
            (INCONCLUSIVE, "not decided"),
            (BROKEN, "broken"),
        )
        if counted[kind]
    ]
    limited = any(_RIGHT.match(row["reason"]) for row in rows)
    what = "settings, brokers or rights" if limited else "settings or brokers"
    words += [f"{outside:,} ask for {what} that it does not have"] if outside else []
    never = header["planned"] - len(rows)
    words += [f"{never:,} never started"] if never > 0 else []
    words += [f"{header['deselected']:,} deselected"] if header.get("deselected") else []
    suites, every = len({row["suite"] for row in rows}), header.get("suites")
    if every is not None and suites < every:
        words.append(f"{suites} of {every} suites were asked for")
    release = f" of Kafka {header['release']}" if header.get("release") else ""
    return f"scope{release}: {'; '.join(words)}"


def not_run(rows: Sequence[CaseRow], planned: int, deselected: int) -> list[str]:
    """What was not judged, by reason."""
    undecided = [row for row in rows if row["verdict"] == INCONCLUSIVE]
    wanted, rights = profiles_wanted(undecided), _by_name(undecided, _RIGHT)
    others = (row["reason"] for row in undecided)
    reasons = Counter(r for r in others if not _PROFILE.match(r) and not _RIGHT.match(r))
    lines = [
        f"{cases} {'case' if cases == 1 else 'cases'} of {claims} "
        f"{'claim' if claims == 1 else 'claims'} not run: they want profile {name} "
        f"(touchstone profile {name} prints it, --profile {name} says that it is there)"
        for name, (claims, cases) in wanted.items()
    ]
    lines += [
        f"{right}: {wording.counted(claims, 'claim')} not run ({wording.counted(cases, 'case')})"
        for right, (claims, cases) in rights.items()
    ]
    lines += [f"{n} {'case' if n == 1 else 'cases'} {reason}" for reason, n in _grouped(reasons)]
    if len(rows) < planned:
        lines.append(f"not run: {planned - len(rows)} planned cases were never started")
    if deselected:
        lines.append(f"deselected: {deselected} cases (listed in the manifest)")
    return lines


def profiles_wanted(rows: Sequence[CaseRow]) -> dict[str, tuple[int, int]]:
    """Profile (harness/model/profiles.py) -> how many claims and cases it would add, most first."""
    return _by_name(rows, _PROFILE)


def _by_name(rows: Sequence[CaseRow], reason: re.Pattern[str]) -> dict[str, tuple[int, int]]:
    """What reasons of this form name -> how many claims and cases have it, most first."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if wanted := reason.match(row["reason"]):
            found.setdefault(wanted["name"], []).append(row["claim"])
    counted = {name: (len(set(claims)), len(claims)) for name, claims in found.items()}
    return dict(sorted(counted.items(), key=lambda item: (-item[1][0], item[0])))


def surprising(surprises: Sequence[Surprise]) -> list[str]:
    """Where pins no longer say the truth. New differences are told as causes, not here."""
    told = [str(surprise) for surprise in surprises if surprise.kind != NEW]
    more = [f"... and {len(told) - SURPRISES} more surprises"] if len(told) > SURPRISES else []
    return told[:SURPRISES] + more


def flaky(rows: Sequence[CaseRow]) -> list[str]:
    """What conformed only when it was asked again: green, and never in silence."""
    found = [(row["case"], word) for row in rows if (word := row.get("at_first"))]
    lines = [
        f"flaky: {case}: at first {wording.shortened(word, SAID)}"
        for case, word in found[:SURPRISES]
    ]
    if len(found) > SURPRISES:
        lines.append(f"... and {len(found) - SURPRISES} more flaky cases")
    return lines


def _grouped(reasons: Mapping[str, int]) -> Sequence[tuple[str, int]]:
    """Reasons that differ only by the case they name are one reason; the commonest first."""
    merged: Counter[str] = Counter()
    for reason, count in reasons.items():
        head, found, _ = reason.partition(" was not recorded for ")
        _, changed, release = reason.partition(" has changed since ")
        word = f"not run: changed since {release}" if changed else reason
        merged[f"{head} was not recorded for them" if found else word] += count
    return merged.most_common()
