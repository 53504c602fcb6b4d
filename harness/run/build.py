"""Which build a run is of: of the target that was judged, and of the Touchstone that judged it.

Reports call a case flaky only where one build gave several verdicts, so a name that two builds may
share is none: a wheel's version counts for a build of our own broker only with the commit or the
checksum that pip kept of it, and a checkout with local changes ends with "+", which equals nothing.
"""

from __future__ import annotations

import functools
import importlib.metadata
import json
import subprocess
from typing import Any

from touchstone.checkout import ROOT
from touchstone.harness.model.target import Target

PACKAGE = "kafka-touchstone"
NO_GIT = "unknown"
DIGITS = 12  # of a commit or a checksum
OURS = ("reference", "recorded")  # kinds of targets that are part of this package
RELEASED = ("process", "container")  # that are a release of Apache Kafka, named with it


def build_of(target: Target, given: str | None = None) -> str | None:
    """Return the build of `target`: `given` if somebody said it (--build), else the version that
    its target file states, the release of an Apache Kafka that we start, or our own version with
    its commit for the reference broker. None where nobody knows.
    """
    described = getattr(target, "described", None)
    if given:
        return given
    if described is not None:
        return str(described.version)
    if target.kind in RELEASED:
        return getattr(target, "build", None)
    return own() if target.kind in OURS else None


def own() -> str | None:
    """Return our version with the commit, or the checksum of the wheel; None where neither is
    known."""
    found = commit()
    version = importlib.metadata.version(PACKAGE)
    if ROOT is not None:
        return None if found == NO_GIT else f"{version} {found}"
    return None if found == version else found


@functools.cache
def commit() -> str:
    """Return the commit of this checkout, "+" behind it where it has local changes, "unknown"
    outside of git. Of an installed package: its version, and what pip kept of where it is from.
    """
    if ROOT is None:
        found = importlib.metadata.distribution(PACKAGE)
        return " ".join(filter(None, (found.version, origin(found.read_text("direct_url.json")))))
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=12"],
            cwd=ROOT, capture_output=True, text=True, timeout=10, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return NO_GIT
    return done.stdout.strip()


def origin(direct_url: str | None) -> str | None:
    """Return the commit or the checksum in pip's `direct_url.json`; None where it has neither."""
    if direct_url is None:  # installed from an index
        return None
    said: dict[str, Any] = json.loads(direct_url)
    vcs, archive = said.get("vcs_info") or {}, said.get("archive_info") or {}
    sums = archive.get("hashes") or {}
    found = vcs.get("commit_id") or sums.get("sha256")
    return str(found)[:DIGITS] if found else None
