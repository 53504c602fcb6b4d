"""A corpus made small: the fewest frames that together still show all that it shows.

Every frame is played alone: what it runs in the reference broker, where that is in this process,
and how any target behaves, is what it shows.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path

from touchstone.fuzz.campaign import play
from touchstone.fuzz.corpus_folder import load, replace_all, smallest
from touchstone.fuzz.novelty import Novelty, novelty
from touchstone.fuzz.oracles import sent_frame
from touchstone.fuzz.outcome import signature
from touchstone.fuzz.runner import Link
from touchstone.fuzz.share import Where, silent_broker

RENEW_EVERY = 200


def minimise(folder: Path, where: Where) -> tuple[int, int]:
    """Remove from the folder what shows nothing of its own: (frames before, frames now)."""
    wires = load(folder)
    with where.link() as link, silent_broker():
        watching = novelty() if where.address is None else None
        try:
            shown = shown_by(wires, where, link, watching)
        finally:
            if watching is not None:
                watching.stop()
    kept = smallest(shown)
    replace_all(folder, kept)
    return len(wires), len(kept)


def shown_by(
    wires: Iterable[bytes], where: Where, link: Link, watching: Novelty | None
) -> dict[bytes, frozenset[Hashable]]:
    """What each frame shows when it is played."""
    shown: dict[bytes, frozenset[Hashable]] = {}
    for number, wire in enumerate(wires):
        if number % RENEW_EVERY == 0:
            where.prepare(link)
        if watching is not None:
            watching.forget()
        sent = sent_frame(wire)
        outcome = play(link, sent)
        ran = watching.new_places() if watching is not None else frozenset()
        shown[wire] = ran | {(sent.key, signature(sent.key, sent.version, outcome))}
    return shown
