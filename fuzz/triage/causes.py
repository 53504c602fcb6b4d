"""Which findings are one cause: the same oracle, the same API, the same behaviour.

An oracle complains about one part of what came back, and only that part counts here: of an
UNKNOWN_SERVER_ERROR the place where it stands and not the other codes of the answer, of a silence
nothing else. Where the right outcome is known, what counts is the difference to it. Indexes and
counts are folded, since two rows that fail are not another defect than one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

from touchstone.fuzz.campaign import Finding
from touchstone.fuzz.oracles import ORACLES, sent_frame
from touchstone.harness.results.fuzz_rows import NO_API
from touchstone.reference_impl.wire.apis import API

ENTRY = re.compile(r"[\w.\[\]]+=-?\d+")
UNREADABLE = re.compile(r"unreadable|trailing")


NO_PAIR = NO_API


class Cause(NamedTuple):
    """What findings are grouped by; `behaviour` is the part of the signature that is complained
    about, `key` the API's, NO_PAIR where the frame names no API or none of its versions: who takes
    such a frame does so before it looks at the API.
    """

    oracle: str
    key: int
    behaviour: str


def folded(signature: str) -> str:
    """A signature without indexes, repetitions, and counts of bytes."""
    text = re.sub(r"\[\d+\]", "[]", signature)
    text = re.sub(r"trailing\(\d+\)", "trailing", text)
    text = re.sub(r"unreadable\(\w+\)", "unreadable", text)
    return re.sub(r"answer\(([^)]*)\)", lambda match: f"answer({_distinct(match[1])})", text)


def _distinct(entries: str) -> str:
    return ", ".join(dict.fromkeys(entries.split(", ")))


def parts(signature: str) -> list[str]:
    """What a signature says, in its order: each code with its place, each answer that cannot be
    read, how it ended, and whether there was an answer at all.
    """
    said = ENTRY.findall(signature) + UNREADABLE.findall(signature)
    answered = ["answer"] if "answer(" in signature else []
    return list(dict.fromkeys([*answered, *said, _end(signature)]))


def difference(expected: str, shown: str) -> str:
    """What is missing (-); where nothing is, what is there beside what was expected (+).

    A check that is not made is one defect, whatever comes of what it should have refused.
    """
    wanted, found = parts(expected), parts(shown)
    missing = [f"-{folded(part)}" for part in wanted if part not in found]
    more = [f"+{folded(part)}" for part in found if part not in wanted]
    return " ".join(dict.fromkeys(missing or more))


def _end(signature: str) -> str:
    return signature.rpartition(" ")[2]


def _unknown_errors(signature: str) -> str:
    codes = [folded(part) for part in parts(signature) if part.endswith("=-1")]
    return " ".join(dict.fromkeys(codes))


ABOUT: dict[str, Callable[[str], str]] = {
    "answers_in_time": _end,
    "speaks_frames": _end,
    "keeps_the_connection": _end,
    "answers_or_hangs_up": _end,
    "answers_nothing_to_acks_0": lambda signature: "answer",
    "correlates": lambda signature: "",
    "parses": lambda signature: " ".join(sorted(set(UNREADABLE.findall(signature)))),
    "knows_its_errors": _unknown_errors,
    "refuses_wrong_checksums": lambda signature: "stored",
}
"""What of a signature an oracle complains about; all of it where an oracle has no row."""


def cause_of(finding: Finding) -> Cause:
    if finding.expected is not None:
        behaviour = difference(finding.expected, finding.signature)
    else:
        behaviour = ABOUT.get(finding.oracle, folded)(finding.signature)
    sent = sent_frame(finding.wire)
    known = sent.key in API and API[sent.key].request.has(sent.version)
    return Cause(finding.oracle, sent.key if known else NO_PAIR, behaviour)


def grouped(findings: Iterable[Finding]) -> dict[Cause, list[Finding]]:
    """Findings by cause, the shortest first, so that the first one stands for its group.

    A case counts once, with the complaint of the first oracle: bytes that are no frames also have
    the wrong correlation id, and are one defect.
    """
    order = {name: number for number, name in enumerate(ORACLES)}
    first: dict[tuple[str, int, int], Finding] = {}
    for finding in findings:
        case = (finding.campaign, finding.seed, finding.index)
        other = first.setdefault(case, finding)
        if order.get(finding.oracle, len(order)) < order.get(other.oracle, len(order)):
            first[case] = finding
    groups: dict[Cause, list[Finding]] = defaultdict(list)
    for finding in first.values():
        groups[cause_of(finding)].append(finding)
    return {cause: sorted(members, key=size) for cause, members in sorted(groups.items())}


def size(finding: Finding) -> tuple[int, int, int]:
    """Steps, bytes, index: what makes one finding shorter than another."""
    steps = finding.as_script.steps
    return len(steps), sum(len(step.wire) for step in steps), finding.index
