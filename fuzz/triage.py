"""From many findings to few files: grouped by behaviour, made smaller, written so that they replay.

A group is one (oracle, key, signature): what complained, about which API, on what behaviour. Of a
group only the shortest finding is worth reading; it is shortened further as long as the same oracle
keeps complaining about the same key, and written like a file of the frozen corpus. A finding's
file needs nothing of the run that made it: bytes, not a seed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from touchstone.fuzz.campaign import Campaign, Finding, judge, play
from touchstone.fuzz.oracles import Oracle, SentFrame, sent_frame
from touchstone.fuzz.outcome import Outcome, signature
from touchstone.fuzz.runner import Link
from touchstone.fuzz.segments import SIZE, frames_in
from touchstone.reference_impl.wire.headers import decode_request

Group = tuple[str, int, str]
TRIES = 60
"""Cases spent on making one finding smaller."""


def group_of(finding: Finding) -> Group:
    return (finding.oracle, sent_frame(finding.wire).key, finding.signature)


def grouped(findings: Iterable[Finding]) -> dict[Group, list[Finding]]:
    """Findings by group, the shortest first, so that the first one stands for its group."""
    groups: dict[Group, list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[group_of(finding)].append(finding)
    return {
        group: sorted(members, key=lambda finding: (len(finding.wire), finding.index))
        for group, members in sorted(groups.items())
    }


def still_complains(
    oracle: Oracle, key: int, play_it: Callable[[SentFrame], Outcome], wire: bytes
) -> bool:
    """Whether the same oracle still complains about the same key when these bytes are sent."""
    sent = sent_frame(wire)
    return sent.key == key and oracle(sent, play_it(sent)) is not None


def shorter_candidates(wire: bytes) -> Iterable[bytes]:
    """Shorter frames to try instead, the boldest first: one frame of several, then cuts."""
    frames, whole = frames_in(wire)
    if len(frames) > 1:
        for frame in frames:
            yield framed(frame)
    if not whole or len(frames) != 1:
        return
    body = wire[SIZE:]
    step = (len(body) - 8) // 2
    while step >= 1:
        for at in range(8, len(body) - step + 1, step):
            yield framed(body[:at] + body[at + step :])
        step //= 2


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(SIZE, "big") + body


def minimised(finding: Finding, still: Callable[[bytes], bool], tries: int = TRIES) -> Finding:
    """The finding with the shortest bytes found that `still` holds for."""
    wire = finding.wire
    shorter = True
    while shorter and tries > 0:
        shorter = False
        for candidate in shorter_candidates(wire):
            tries -= 1
            if tries < 0:
                break
            if len(candidate) < len(wire) and still(candidate):
                wire, shorter = candidate, True
                break
    return replace(finding, wire=wire)


def minimised_on_target(finding: Finding, campaign: Campaign, link: Link) -> Finding:
    """`minimised` against a live target; a finding that needs a name (frozen) stays as it is."""
    oracle = campaign.oracles.get(finding.oracle)
    if oracle is None:
        return finding
    key, good = sent_frame(finding.wire).key, readable(finding.wire)

    def still(wire: bytes) -> bool:
        # A complaint about a good request is not the same complaint about a broken one.
        return readable(wire) == good and still_complains(
            oracle, key, lambda s: play(link, s), wire
        )

    return minimised(finding, still)


def readable(wire: bytes) -> bool:
    """Whether this is one request, whole, with nothing behind it."""
    frames, whole = frames_in(wire)
    try:
        return whole and len(frames) == 1 and decode_request(frames[0]).end == len(frames[0])
    except ValueError:
        return False


def write(finding: Finding, folder: Path, number: int) -> Path:
    """One TOML file in the corpus's own format, with the finding's story as comments."""
    sent = sent_frame(finding.wire)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{number:02}-{finding.oracle.replace('_', '-')}-key-{sent.key}.toml"
    story = f"{finding.campaign}, seed {finding.seed}, case {finding.index}"
    sentence = finding.sentence.replace("\\", "/").replace('"', "'")
    path.write_text(
        f"# {story}: {' '.join(finding.faults) or 'no fault'}\n"
        f"# signature: {finding.signature}\n"
        "class = 0\n"
        f'oracle = "{finding.oracle}"\n'
        f'sentence = "{sentence}"\n'
        f"key = {sent.key}\nversion = {sent.version}\ncorrelation_id = {sent.correlation_id}\n"
        f'segments = ["{finding.wire.hex()}"]\n'
        f"probe = {str(frames_in(finding.wire)[1]).lower()}\n"
    )
    return path


def replay(campaign: Campaign, wire: bytes, link: Link) -> tuple[str, list[Finding]]:
    """(signature, findings) of stored bytes sent once more."""
    sent = sent_frame(wire)
    outcome = play(link, sent)
    return signature(sent.key, sent.version, outcome), judge(campaign, sent, outcome, 0, 0, ())
