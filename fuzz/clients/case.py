"""One case of a client campaign: a session of the client, one fault, and what became of both.

The client writes and reads all the time. When the fault has happened the broker is honest again;
then the client either makes progress (a record acknowledged and another one read, twice: the first
may have been under way) or reports an error. What else can come is a finding:

    dies        the process ended, by a signal or by itself
    raises      an exception that is none of the client's own reached the application, or ended a
                thread of the client
    hangs       neither progress nor an error until the deadline, or it does not close; a client
                that waits because an answer assigned it what does not exist is misled, no more
    allocates   it took memory out of proportion to the answers, which are a few KiB
    computes    it took processor time out of proportion, in a loop or in work that an answer sets
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from touchstone.fuzz.clients.faults import LOGIN, Fault, Spoiler
from touchstone.fuzz.clients.proxy import HOST, Proxy
from touchstone.fuzz.clients.session import Player
from touchstone.harness.adapters.process import END
from touchstone.harness.adapters.program import MIB

RECOVERED, REPORTED, UNFIRED, MISLED = "recovered", "reported", "unfired", "misled"
DIES, RAISES, HANGS, ALLOCATES, COMPUTES = "dies", "raises", "hangs", "allocates", "computes"
FINDINGS = (DIES, RAISES, HANGS, ALLOCATES, COMPUTES)
LOOK_S = 0.5
ENOUGH_PROGRESS = 2
RESERVED = 1024 * MIB
"""Bytes of address space more than before that only a size in an answer explains: the threads of a
session reserve less (librdkafka's 800 MiB). Zeroed memory that nobody writes to is resident
nowhere, so that a client which makes room for 2 GiB shows here alone (GHSA-m3px-q5gj-j9x7).
"""
BEFORE_UNFIRED = 6
"""So much progress without the answer that the fault is about, and it will not come."""


@dataclass(frozen=True)
class Patience:
    """Seconds: until a session shows something, until its clients are closed, and of processor time
    in a session. The last is what a virtual machine does not need to start.
    """

    deadline_s: float = 25.0
    close_s: float = 20.0
    processor_s: float = 10.0


@dataclass(frozen=True)
class Verdict:
    """What became of a case; `words` are the client's own, or what was measured."""

    kind: str
    words: str = ""

    @property
    def is_finding(self) -> bool:
        return self.kind in FINDINGS


def play(
    player: Player, proxy: Proxy, fault: Fault, topic: str, patience: Patience
) -> tuple[Verdict, Spoiler]:
    """One session. After a finding the process is not to be used again."""
    spoiler = proxy.begin(fault)
    player.forget_peak()
    resident, reserved = player.resident(), player.most_reserved()
    most = player.processor_s() + patience.processor_s
    sasl = proxy.sasl if fault.key in LOGIN else None
    player.begin(f"{HOST}:{proxy.port}", topic, sasl)
    verdict = watched(player, spoiler, patience, most)
    if not verdict.is_finding:
        player.stop()
        verdict = closed(player, verdict, patience, most)
    if verdict.kind not in (DIES, RAISES, COMPUTES):
        grown, claimed = player.peak() - resident, player.most_reserved() - reserved
        if grown > player.program.growth:
            verdict = Verdict(ALLOCATES, f"{grown >> 20} MiB more than before")
        elif player.program.address_space is not None and claimed > RESERVED:
            verdict = Verdict(ALLOCATES, f"{claimed >> 20} MiB more reserved than before")
    return verdict, spoiler


def watched(player: Player, spoiler: Spoiler, patience: Patience, most_s: float) -> Verdict:
    """What the client shows: until it has found its way back, or the deadline after the fault.
    `most_s` of processor time is the most that its process may have taken by then.
    """
    until = time.monotonic() + patience.deadline_s
    over, progress, errors = False, 0, ""
    while True:
        line = player.line(min(until - time.monotonic(), LOOK_S))
        if player.processor_s() > most_s:
            return computing(patience)
        if spoiler.over and not over:  # what is said from here on counts
            over, progress, errors = True, 0, ""
            until = time.monotonic() + patience.deadline_s
        if line is None:
            if time.monotonic() >= until and (over or errors):
                return after_deadline(spoiler, errors, patience)
            if time.monotonic() >= until:
                spoiler.end()  # it asks too seldom to meet the rest of its fault
        elif line == END:
            return Verdict(DIES, player.how_it_ended())
        elif line.startswith("fatal"):
            return Verdict(RAISES, line.removeprefix("fatal "))
        elif line.startswith("error"):
            errors = line.removeprefix("error ")
            if over:
                return Verdict(REPORTED, errors)
        elif line == "progress":
            progress += 1
            if progress >= (ENOUGH_PROGRESS if over else BEFORE_UNFIRED):
                return Verdict(RECOVERED if spoiler.fired else UNFIRED)


def after_deadline(spoiler: Spoiler, errors: str, patience: Patience) -> Verdict:
    """An error that the client reported before the last answer was spoiled counts as well."""
    if errors:
        return Verdict(REPORTED if spoiler.fired else UNFIRED, errors)
    if spoiler.misleads:
        return Verdict(MISLED, "it waits for what it was told is its part of the topic")
    return Verdict(HANGS, f"nothing for {patience.deadline_s:g} s, {spoiler.fired} answers spoiled")


def computing(patience: Patience) -> Verdict:
    return Verdict(COMPUTES, f"{patience.processor_s:g} s of processor time")


def closed(player: Player, verdict: Verdict, patience: Patience, most_s: float) -> Verdict:
    """The same verdict when the clients close; what happens instead otherwise."""
    until = time.monotonic() + patience.close_s
    while time.monotonic() < until:
        line = player.line(min(until - time.monotonic(), LOOK_S))
        if player.processor_s() > most_s:
            return computing(patience)
        if line == "closed":
            return verdict
        if line == END:
            return Verdict(DIES, f"when it closed: {player.how_it_ended()}")
        if line is not None and line.startswith("fatal"):
            return Verdict(RAISES, f"when it closed: {line.removeprefix('fatal ')}")
    return Verdict(HANGS, f"does not close in {patience.close_s:g} s")
