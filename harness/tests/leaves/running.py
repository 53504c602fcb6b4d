"""The trials of all recordings, judged one after another, and what they come to in a few lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from touchstone.harness.tests.leaves import forgiven, judging, trials

RELEASES = ("4.3", "1.0", "3.9", "2.8", "2.2")
BY_DAY = RELEASES[:2]  # the newest, which has all that older ones have, and the oldest formats


def run(
    releases: Iterable[str] = BY_DAY, *, nightly: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> forgiven.Trials:  # fmt: skip
    """Judge the trials of these releases. `say` is told after each release what there was."""
    found, judge, picker = forgiven.Trials(), judging.Judge(), trials.Picker(nightly)
    for release in releases:
        judge_all(trials.of_release(release, picker), judge, found)
        say(f"{release}: {picker.met['leaves']} leaves met so far")
    return found


def judge_all(chosen: Iterable[trials.Trial], judge: judging.Judge, into: forgiven.Trials) -> None:
    """Judge these trials and count what came of them."""
    for trial in chosen:
        doctored = trial.make()
        if doctored is None:
            into.without_bytes += 1
            continue
        outcome, says = judge.outcome(trial.oracle, doctored)
        example = f"{trial.setting}: {trial.case}, {trial.step}" + f": {says}" * bool(says)
        into.add(trial.leaf, trial.setting, outcome, example)


def told(rules: Sequence[forgiven.Rule], found: forgiven.Trials) -> str:
    """How many leaves were tried, seen and forgiven by which rule."""
    counts = found.counts
    lines = [
        f"{counts.total()} changes tried: {counts[judging.SEEN]} seen, {counts[judging.CHECKED]} "
        f"found by a checker, {counts[judging.NOTED]} noted, {counts[judging.UNSEEN]} unseen, "
        f"{counts[judging.RAISED]} the judge fell over; {found.without_bytes} more have no bytes"
    ]
    lines += [f"{count:8} {name}" for name, count in forgiven.by_rule(rules, found).most_common()]
    return "\n".join(lines)
