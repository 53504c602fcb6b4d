"""A script played on a target once more, and what the oracles say of it.

Steps of one connection go over one link; the connections are the script's own and end with it, but
for a script of one step, whose link stays open for the next attempt.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from touchstone.fuzz.campaign import Campaign, Finding, judge, play
from touchstone.fuzz.oracles import SentFrame, sent_frame
from touchstone.fuzz.outcome import Outcome, signature
from touchstone.fuzz.runner import Link
from touchstone.fuzz.script import Script, filled
from touchstone.fuzz.segments import frames_in, may_wait
from touchstone.reference_impl.wire.headers import decode_response
from touchstone.reference_impl.wire.schema import Struct

Played = list[tuple[SentFrame, Outcome]]
HELD_S = 1.0
"""Seconds for a step that may be held: those behind it need its answer."""
Complains = Callable[[Script], list[Finding]]
"""What plays a script and says what is wrong with it; nothing is, where the list is empty."""


def played(script: Script, link: Link, *, known: bool = False) -> Played:
    """Each step as it went out, and its outcome. One that is `known` to be answered is waited for.
    Raises ConnectionError when the target is gone.
    """
    if len(script.steps) == 1:
        sent = sent_frame(script.steps[0].wire)
        return [(sent, play(link, sent, known=known))]
    found: Played = []
    answers: dict[int, Struct] = {}
    links: dict[int, Link] = {}
    with ExitStack() as open_links:
        for number, step in enumerate(script.steps):
            if step.connection not in links:
                fresh = Link(*link.address, timeout_s=link.timeout_s, settle=link.settle)
                links[step.connection] = open_links.enter_context(fresh)
            sent = sent_frame(filled(step, answers))
            outcome = links[step.connection].play(
                [sent.wire],
                probe=frames_in(sent.wire)[1],
                timeout_s=HELD_S if may_wait(sent.wire) else None,
                may_wait=may_wait(sent.wire),
            )
            found.append((sent, outcome))
            body = body_of(sent, outcome)
            if body is not None:
                answers[number] = body
    return found


def body_of(sent: SentFrame, outcome: Outcome) -> Struct | None:
    """The last answer's decoded body, where there is one that can be read."""
    if not outcome.answers:
        return None
    try:
        return decode_response(sent.key, sent.version, outcome.answers[-1]).body
    except (ValueError, KeyError):
        return None


def complaints(campaign: Campaign, script: Script, steps: Played) -> list[Finding]:
    """What the campaign's oracles say of each step, each finding with the whole script."""
    return [
        found.of_script(script, number)
        for number, (sent, outcome) in enumerate(steps)
        for found in judge(campaign, sent, outcome, 0, 0, script.steps[number].faults)
    ]


def differences(
    script: Script, steps: Played, right: list[str], *, oracle: str = "differs"
) -> list[Finding]:
    """The steps whose signature is not the right one: the first one only, for what follows is
    answered by targets that have seen different things.
    """
    for number, ((sent, outcome), expected) in enumerate(zip(steps, right, strict=True)):
        shown = signature(sent.key, sent.version, outcome)
        if shown != expected:
            sentence = f"{shown!r}; right is {expected!r}"
            return [
                Finding(
                    "", oracle, sentence, shown, 0, 0, script.steps[number].faults, sent.wire,
                    expected=expected,
                ).of_script(script, number)
            ]  # fmt: skip
    return []


def signatures(steps: Played) -> list[str]:
    return [signature(sent.key, sent.version, outcome) for sent, outcome in steps]
