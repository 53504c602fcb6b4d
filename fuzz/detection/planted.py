"""The planted defects by group, and a broker that has one of them, as a target file.

The first four groups are ten each. The others stand for what somebody planted who had not read the
fuzzer (2026-11-28), one class each: they were written down before anything that finds them.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

DEFECTS: dict[str, tuple[str, ...]] = {
    "decode": (
        "unknown-version-answered",
        "newer-api-versions-refused",
        "unserved-versions-advertised",
        "acks-zero-answered",
        "every-500th-correlation-id-wrong",
        "every-500th-answer-longer",
        "every-500th-answer-cut",
        "unreadable-requests-unanswered",
        "unreadable-requests-answered-minus-one",
        "silent-after-40-unreadable",
    ),
    "log": (
        "crc-not-checked",
        "lost-write",
        "offset-off-by-one",
        "duplicate-appended",
        "aborted-visible",
        "compaction-drops-last-value",
        "every-20th-crc-stored-wrong",
        "half-the-log-lost-on-restart",
        "cleaner-ends-at-an-unreadable-request",
        "every-10th-batch-stored-twice",
    ),
    "coordinator": (
        "committed-offset-off-by-one",
        "commit-metadata-lost",
        "strangers-commit",
        "stale-generation-committed",
        "assignment-truncated",
        "marker-not-written",
        "torn-transaction",
        "fencing-skipped",
        "heartbeats-refused-after-40-unreadable",
        "leaders-change-at-40-unreadable",
    ),
    "resource": (
        "sockets-kept",
        "a-file-left-open-per-unreadable",
        "memory-kept-per-request",
        "memory-kept-per-unreadable",
        "memory-kept-per-connection",
        "a-page-logged-per-unreadable",
        "a-page-logged-per-request",
        "slower-with-each-unreadable",
        "a-timer-left-per-unreadable",
        "500-connections-and-no-more",
    ),
    "null": (
        "ends-at-a-cursor-of-the-lowest-partition",
        "ends-at-a-forgotten-partition-of-the-highest",
        "ends-at-an-endpoint-of-port-0",
    ),
    "edge": (
        "ends-at-a-timestamp-of-2-to-62",
        "ends-at-an-epoch-next-to-the-highest",
        "ends-at-a-committed-offset-of-128",
    ),
    "exception": (
        "a-fetch-of-one-byte-fails",
        "an-offset-of-an-epoch-fails",
        "a-join-of-the-lowest-timeout-fails",
        "a-join-of-no-timeout-is-never-answered",
    ),
    "codec": ("crc-of-lz4-not-checked", "crc-of-zstd-not-checked"),
    "others": (
        "answers-that-waited-are-exchanged",
        "a-deletion-without-a-name-deletes-another",
        "a-group-without-a-name-is-all-groups",
        "a-refused-batch-removes-the-last-one",
    ),
    "size": (
        "64-kib-kept-per-list-of-groups",
        "a-limit-is-reserved",
        "described-configs-are-quadratic",
    ),
    "order": (
        "ends-at-a-session-that-was-closed",
        "ends-at-the-third-transaction",
        "ends-when-a-static-member-joins-again",
    ),
}

_FILE = """
name = "planted"
about = "the reference broker in a process of its own, with planted defects"
version = "{release}"
release = "{release}"

[start]
command = [
    "{{python}}", "-m", "touchstone", "broker", "--release", "{release}", "--port", "{{port}}",
    "--data", "{{data}}", {switches} "{{settings}}",
]
per = "broker"
brokers = 1

[start.settings]
as = "arguments"
each = ["--config", "{{key}}={{value}}"]

[ready]
output = '^ready '
"""


def target_file(folder: Path, switches: Iterable[str], release: str = "4.3") -> Path:
    """A target file (harness/targets/files/README.md) for the broker with these switches."""
    words = "".join(f'"--switch", "{switch}", ' for switch in switches)
    path = folder / "planted.toml"
    path.write_text(_FILE.format(release=release, switches=words))
    return path
