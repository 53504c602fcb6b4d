"""From many findings to few files: grouped by cause, made small, replayed, written.

`causes` says which findings are one, `settled` what stands for a group and how often it repeats,
`finding_file` how it is written so that it replays without us (`fuzz/replay.py`). `attempts` plays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from touchstone.fuzz.campaign import Campaign, Finding
from touchstone.fuzz.mutators import frame as framed
from touchstone.fuzz.runner import Link
from touchstone.fuzz.script import Script
from touchstone.fuzz.triage.attempts import complaints, differences, played, signatures
from touchstone.fuzz.triage.causes import Cause, cause_of, grouped
from touchstone.fuzz.triage.finding_file import Stored, load, terminal_lines, write, write_settled
from touchstone.fuzz.triage.settled import Settled, Trial, settle, settled
from touchstone.harness.results.fuzz_rows import REPLAYS

__all__ = [
    "REPLAYS", "Cause", "Settled", "Stored", "Trial", "cause_of", "framed", "grouped", "load",
    "replayed", "settle", "settled", "terminal_lines",
    "trial_on", "write", "write_settled",
]  # fmt: skip

HASTY_S = 0.2
"""Seconds in which a candidate is answered; its silence is believed only when the target has
answered somebody else since, so haste costs no truth on an idle machine."""


def trial_on(
    campaign: Campaign,
    link: Link,
    restore: Callable[[], object] = lambda: None,
    findings: Iterable[Finding] = (),
) -> Trial:
    """Scripts on a live target, judged by the campaign's oracles; those of `findings` whose right
    outcome is known also by that.
    """
    known = {one.as_script: one for one in findings if one.expected is not None}

    def complains(script: Script) -> list[Finding]:
        steps = played(script, link, known=script in known)
        found = complaints(campaign, script, steps)
        if script in known:
            one = known[script]
            found += differences(script, steps, [str(one.expected)], oracle=one.oracle)
        return found

    def hasty(script: Script) -> list[Finding]:
        patience, link.timeout_s = link.timeout_s, min(HASTY_S, link.timeout_s)
        try:
            return complains(script)
        finally:
            link.timeout_s = patience

    return Trial(complains, hasty, restore)


def replayed(campaign: Campaign, stored: Stored, link: Link) -> tuple[list[str], list[Finding]]:
    """(what came back on each step, what is complained about) of a stored finding."""
    steps = played(stored.script, link)
    shown = signatures(steps)
    found = complaints(campaign, stored.script, steps)
    if stored.expected is not None:
        right = [*shown[: stored.step], stored.expected, *shown[stored.step + 1 :]]
        found += differences(stored.script, steps, right, oracle=stored.case.oracle or "differs")
    return shown, found
