"""Hostile frames at our broker in this process: their rate, what they leave behind, the slowest.

`--records` is how many frames, `--brokers` the size of the cluster. There is no peer. It fails on
an exception that comes out of the broker, on a fault in its log, and where memory grows; what a
frame took is processor time, which a busy machine changes little.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

from touchstone.fuzz.cases import corpus
from touchstone.fuzz.soak import Report, Soak, hostile, pairs_for
from touchstone.harness.bench.contest import Figure, Options
from touchstone.harness.driver.object_sizes import growth

STEP = 50_000  # frames between two lines of progress
SEED = 1
MOST_GROWTH = 16 << 20  # bytes of objects, from the end of the first tenth to the end of all
MIB = 1 << 20
SHOWN = 5  # of the slowest frames


class Escaped(Exception):
    """A fault of our broker, with the frame that showed it."""


def run(options: Options) -> Iterator[Figure]:
    for brokers in options.brokers:
        yield from soak(options, brokers)


def soak(options: Options, brokers: int) -> Iterator[Figure]:
    made = Soak(options.release, brokers, time.thread_time)
    known = [case.wire for case in corpus()]
    frames = hostile(pairs_for(options.release), SEED, known)
    spent, shown, report = time.process_time(), 0, made.report
    early: Counter[str] = Counter()
    while report.frames < options.records:
        made.run(frames, min(STEP, options.records - report.frames))
        options.say(in_words(report))
        for kind, frame in [*report.faults.items()][shown:]:
            options.say(f"{kind}: {frame.hex()}")
        shown = len(report.faults)
        if not early and report.frames * 10 >= options.records:
            early = report.object_bytes
    spent = time.process_time() - spent
    for took, frame in sorted(report.slowest, reverse=True)[:SHOWN]:
        options.say(f"{took * 1000:.0f} ms: {frame[:200].hex()}")
    judge(report, early)
    what = f"hostile frames, {options.release}, {brokers} broker" + "s" * (brokers > 1)
    yield Figure("soak", what, round(report.frames / spent), "frames/s CPU")
    slowest = round(max(report.slowest)[0] * 1000, 1)
    yield Figure("soak", f"{what}: slowest", slowest, "ms CPU", more_is_better=False)
    grown = round((report.object_bytes.total() - early.total()) / MIB, 1)
    yield Figure("soak", f"{what}: objects grown", grown, "MiB", more_is_better=False)


def judge(report: Report, early: Counter[str]) -> None:
    """Raise Escaped for what a soak must not show."""
    for kind, frame in report.faults.items():
        raise Escaped(f"{len(report.faults)} kinds of fault, one {kind}: {frame.hex()}")
    if report.object_bytes.total() - early.total() > MOST_GROWTH:
        raise Escaped(f"objects grew: {growth(early, report.object_bytes)}")


def in_words(report: Report) -> str:
    ends = ", ".join(f"{count:,} {ending}" for ending, count in report.endings.most_common())
    return (
        f"{report.frames:,} frames: {ends}; {len(report.faults)} kinds of fault, "
        f"{report.resident / MIB:.1f} MiB resident, "
        f"{report.object_bytes.total() / MIB:.1f} of objects, "
        f"{report.stored / MIB:.1f} of topics' logs, {report.waiting} wait; "
        f"{report.logged:,} bytes written to the broker's log, {report.most_logged[0]:,} at most "
        f"for one frame"
    )
