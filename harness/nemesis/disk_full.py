"""A broker's disk has not a byte left.

Kafka takes the log directory offline at the first write that fails, and halts when it has no other
(LOG: log dir failure). The file that fills the disk is removed in the end and the broker started
again, which must find its log as it was after its last complete write. Evidence: a write to that
disk fails with "No space left on device".
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

from touchstone.harness.nemesis.fault_target import FaultTarget, given

SENTENCE = "A broker's disk has not a byte left; later there is room and the broker starts again."
ISOLATION = "disks"
BALLAST, PROOF = "ballast", "proof"
_CHUNKS = (1 << 20, 1 << 12, 1)


def unsupported(cluster: FaultTarget) -> str | None:
    return None if cluster.disks else "its brokers have no disk of their own here"


@contextmanager
def inflicted(cluster: FaultTarget, broker: int, random: Random) -> Iterator[Any]:
    # Beside the log directory's own files; Kafka looks at folders only.
    folder = given(cluster.disks).mounts[broker]
    try:
        _fill(folder / BALLAST)
        yield lambda: _full(folder / PROOF)
    finally:
        (folder / BALLAST).unlink(missing_ok=True)
        (folder / PROOF).unlink(missing_ok=True)
        cluster.node(broker).kill()
        cluster.node(broker).start()


def _fill(path: Path) -> None:
    with path.open("ab", buffering=0) as file:
        for size in _CHUNKS:
            with suppress(OSError):
                while True:
                    file.write(bytes(size))
        os.fsync(file.fileno())


def _full(path: Path) -> str | None:
    try:
        with path.open("ab", buffering=0) as file:
            file.write(bytes(1 << 16))
            os.fsync(file.fileno())
    except OSError as error:
        return f"a write says {error.strerror}" if error.errno == errno.ENOSPC else None
    return None
