"""What rows come to: the exit code of a run and the table a person reads. Pure.

One place, because a run may be judged by one process or by several whose parts are joined, and
both must come to the same word. The code is the worst thing that is true: 2 we broke, 1 a
difference nobody accepted (or a pin that no longer says the truth), 3 not everything could be
judged, 0 the target conforms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.known import Surprise
from harness.verdict import BROKEN, CONFORMS, DIVERGES, INCONCLUSIVE

CONFORMED, DIFFERENT, BROKE, INCOMPLETE = 0, 1, 2, 3
WORST_FIRST = (BROKE, DIFFERENT, INCOMPLETE, CONFORMED)
EXITS = {
    CONFORMED: "conforms",
    DIFFERENT: "a new difference, or a pin that is no longer true",
    BROKE: "the harness broke: no verdict of this run can be relied on",
    INCOMPLETE: "incomplete: not everything could be judged",
}
SURPRISES = 20  # shown, and as many flaky cases; the others are counted
COLUMNS = (CONFORMS, "UNSUPPORTED", INCONCLUSIVE, "known", DIVERGES, BROKEN)


def worst(codes: Iterable[int]) -> int:
    """The exit code of several; one that is not ours (a signal, say) is our own fault."""
    known = {code if code in WORST_FIRST else BROKE for code in codes}
    return next((code for code in WORST_FIRST if code in known), INCOMPLETE)


def exit_code(
    rows: Sequence[Mapping[str, Any]], planned: int, surprises: Sequence[Surprise]
) -> int:
    """Of one target."""
    verdicts = {row["verdict"] for row in rows}
    if BROKEN in verdicts:
        return BROKE
    if surprises:
        return DIFFERENT
    return INCOMPLETE if len(rows) < planned or INCONCLUSIVE in verdicts else CONFORMED


def table(
    name: str, rows: Sequence[Mapping[str, Any]], *, planned: int, deselected: int,
    surprises: Sequence[Surprise],
) -> list[str]:  # fmt: skip
    """One line per suite, then what was not run and why, what was flaky, then the surprises."""
    suites: dict[str, Counter[str]] = {}
    for row in rows:
        word = "known" if row["known"] else row["verdict"]
        suites.setdefault(row["suite"], Counter())[word] += 1
    lines = ["", f"{name:<24}" + "".join(f"{word:>14}" for word in COLUMNS)]
    total: Counter[str] = sum(suites.values(), Counter())
    for suite, counted in [*sorted(suites.items()), ("total", total)]:
        cells = "".join(f"{counted[word] or '.':>14}" for word in COLUMNS)
        lines.append(f"{suite:<24}{cells}")
    reasons = Counter(row["reason"] for row in rows if row["verdict"] == INCONCLUSIVE)
    lines += [f"{count} {'case' if count == 1 else 'cases'} {r}" for r, count in _grouped(reasons)]
    if len(rows) < planned:
        lines.append(f"not run: {planned - len(rows)} planned cases were never started")
    if deselected:
        lines.append(f"deselected: {deselected} cases (listed in the manifest)")
    lines += _flaky(rows)
    lines += [str(surprise) for surprise in surprises[:SURPRISES]]
    if len(surprises) > SURPRISES:
        lines.append(f"... and {len(surprises) - SURPRISES} more surprises")
    return lines


def _flaky(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What conformed only when it was asked again: green, and never in silence."""
    found = [row for row in rows if row.get("at_first")]
    lines = [f"flaky: {row['case']}: at first {row['at_first']}" for row in found[:SURPRISES]]
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
