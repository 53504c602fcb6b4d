"""Which release a target is held against, and why: as a user says, else as the target shows.

Whatever decides is said in words, for a release chosen in silence is a verdict nobody can check: a
broker that advertises a little of everything is held against the nearest release, and its user may
have meant another.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace

from touchstone.harness.driver.turns import SHARED_KINDS
from touchstone.harness.model import advertised
from touchstone.harness.model.advertised import HeldAgainst
from touchstone.harness.model.provenance import NotRecorded
from touchstone.harness.model.target import StartFailed, Target, Unavailable
from touchstone.harness.targets import matrix, probe
from touchstone.harness.targets.per_shape import PerShape

FLAG = "--release"
_SILENT = (probe.NotReady, Unavailable, StartFailed, OSError)


def choose(target: Target, wanted: str | None = None) -> HeldAgainst:
    """Return the release of a target and why it is that one.

    `wanted` is what a user asks for. Without it a target that names its release has that one, a
    stranger the nearest, and one that does not answer the newest. Raise UnknownRelease if no
    release has the name that is wanted.
    """
    if wanted is not None:
        found = _wanted(target, matrix.release(wanted).name)
    elif (stated := _stated(target)) is not None:
        found = stated
    else:
        try:
            found = advertised.held_against(target.advertised())
        except _SILENT:
            newest = list(advertised.tables())[-1]
            found = HeldAgainst(newest, "it does not answer ApiVersions, and this is the newest")
    return _with_cases(_with_versions(target, found))


def check(target: Target, wanted: str) -> None:
    """Raise ValueError if no release has this name, or if the target is a release by its own."""
    matrix.release(wanted)
    if target.kind not in SHARED_KINDS and target.release is not None:
        raise ValueError(
            f"{FLAG} {wanted}: {target.name} is Kafka {target.release} by its name; a release is"
            " named for a target that somebody else runs"
        )


def check_recorded(target: Target) -> None:
    """Raise NotRecorded for a Kafka that we start which is not one of those that are recorded."""
    if isinstance(target, PerShape) and target.kafka not in matrix.recorded():
        raise NotRecorded(f"{target.name} is not in ci/matrix.toml, and only its versions are")


def _wanted(target: Target, release: str) -> HeldAgainst:
    """Return the release that a user names, with how well what the target advertises fits it."""
    reason = f"{FLAG} says so"
    with contextlib.suppress(*_SILENT):
        fit = advertised.fits(release, target.advertised())
        reason += f"; {fit} ranges of its ApiVersions are as there"
    return HeldAgainst(release, reason)


def _with_cases(found: HeldAgainst) -> HeldAgainst:
    """Return the choice with what its reader may wonder about: that its cases are few."""
    if not found.reason or not advertised.is_between(found.release):
        return found
    return replace(
        found, reason=f"{found.reason}; of {found.release} one case a claim is recorded"
    )  # fmt: skip


def _with_versions(target: Target, found: HeldAgainst) -> HeldAgainst:
    """Return the choice with a warning where a Kafka of another version than the recorded one is
    judged: that it differs is no fault of anybody.
    """
    recorded = matrix.release(found.release).version
    if not isinstance(target, PerShape) or target.kafka.version == recorded:
        return found
    told = (
        f"it is Kafka {target.kafka.version} and {recorded} was recorded: what differs may be a"
        " change of Kafka's own between the two"
    )
    return HeldAgainst(found.release, "; ".join(filter(None, (found.reason, told))))


def _stated(target: Target) -> HeldAgainst | None:
    """Return the release that its name or its target file gives it, None where neither does."""
    described = getattr(target, "described", None)
    if described is not None and described.release is not None:
        return HeldAgainst(described.release, "its target file says so")
    if target.kind in SHARED_KINDS or target.release is None:
        return None
    return HeldAgainst(target.release)
