"""What a difference does, and to whom: the order in which causes are told. Pure.

Effects from the gravest: the target ends; an answer that nobody can read; one at which its reader
raises; a fenced producer or member that goes on, which nobody notices until data is wrong; no
answer; another error code, or an end of the connection in its place; another value. Of the light
ones no client can tell (`grades.NUMBER`, `grades.FILLER`, null against empty, a field that nobody
reads, text for people): they stand below the causes and are counted apart.
"""

from __future__ import annotations

from touchstone.harness.checkers.answer_parses import ANSWER
from touchstone.harness.judgement import grades, readers
from touchstone.harness.judgement.marks import ENDED, RAISING, Mark, is_empty

ENDS, UNREADABLE, RAISES, ACCEPTS, SILENT, REFUSES, ODD, LIGHT, FOLLOWS = (
    "ends the target", "cannot be read", "raises", "lets the fenced go on", "no answer",
    "another code", "another value", "nobody can tell", "follows from a number of Kafka's",
)  # fmt: skip
EFFECTS = (ENDS, UNREADABLE, RAISES, ACCEPTS, SILENT, REFUSES, ODD, LIGHT, FOLLOWS)
ASIDE = frozenset({LIGHT, FOLLOWS})
# What a client meets whatever it was told before: no earlier step explains them.
INEXCUSABLE = frozenset({ENDS, UNREADABLE})
CHECKSUM = ".crc"  # of a batch: clients check it and raise (check.crcs)
ANSWERED, DECODES, GARBLED = "answered", "decodes", "garbled"
NO_ANSWER = frozenset({"closed", "reset", "hung"})
ENDINGS = frozenset({*NO_ANSWER, "none", ANSWERED, "refused"})
# Codes by which Kafka keeps apart who writes now and who did before.
FENCES = frozenset({22, 47, 74, 82, 90, 110, 113})
LIGHT_KINDS = frozenset({
    grades.NUMBER, grades.STALE, grades.FILLER, grades.ORDER, grades.PROSE,
})  # fmt: skip


def of(mark: Mark) -> str:
    """Return what the difference does to whom it hits."""
    identity, (oracle, target) = mark.identity, mark.pair
    if target == ENDED:
        return ENDS
    if (identity.path == ANSWER and oracle == DECODES) or target == GARBLED:
        return UNREADABLE
    if identity.path.endswith(CHECKSUM) and str(target).startswith("wrong"):
        return UNREADABLE
    if identity.manner == RAISING:
        return RAISES
    if is_light(mark):
        return FOLLOWS if identity.kind == grades.STALE else LIGHT
    if identity.kind == grades.CODE:
        return ACCEPTS if oracle in FENCES and target == 0 else REFUSES
    if identity.kind == grades.CONNECTION and {oracle, target} <= ENDINGS:
        return SILENT if oracle == ANSWERED and target in NO_ANSWER else REFUSES
    return ODD


def who(mark: Mark) -> str:
    """Return whom the difference hits; whom a target that ends serves is everybody."""
    effect = of(mark)
    if effect == ENDS:
        return readers.CLIENT
    if effect in ASIDE or mark.identity.path == grades.UNOFFERED:
        return readers.NOBODY
    return readers.who(mark.identity.api, mark.identity.path)


def is_light(mark: Mark) -> bool:
    """Return whether no client can tell; of a wait in vain somebody can."""
    identity = mark.identity
    if identity.kind in LIGHT_KINDS:
        return True
    if identity.kind not in (grades.VALUE, grades.ABSENCE) or identity.manner == RAISING:
        return False
    unread = readers.who(identity.api, identity.path) == readers.NOBODY
    return not identity.awaited and (is_empty(mark.pair) or unread)


def rank(effect: str, hit: str) -> tuple[bool, bool, int, int]:
    """Return what causes are sorted by: what only brokers meet comes after all that others do."""
    aside = hit in (readers.BROKERS, readers.NOBODY)
    return effect in ASIDE, aside, EFFECTS.index(effect), readers.WHO.index(hit)
