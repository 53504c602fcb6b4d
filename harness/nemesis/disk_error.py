"""A broker's disk answers every access with an I/O error, as one does whose cable was pulled.

What the broker had flushed is there when it comes back; what was only in the page cache is not,
which is more than a kill takes. The file system is shut down under it (FS_IOC_SHUTDOWN), and in the
end mounted again, whose journal it replays. Evidence: a new file on it fails with EIO.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from touchstone.harness.nemesis.fault_target import FaultTarget, given

SENTENCE = "A broker's disk answers with I/O errors; later it is back and the broker starts again."
ISOLATION = "disks"


def unsupported(cluster: FaultTarget) -> str | None:
    return None if cluster.disks else "its brokers have no disk of their own here"


@contextmanager
def inflicted(cluster: FaultTarget, broker: int, random: Random) -> Iterator[Any]:
    disks, node = given(cluster.disks), cluster.node(broker)
    try:
        disks.fail(broker)
        yield lambda: _fails(disks.mounts[broker])
    finally:
        node.kill()
        disks.unmount(broker)
        disks.mount(broker)
        node.start()


def _fails(folder: Path) -> str | None:
    try:
        with (folder / "proof").open("wb", buffering=0) as file:
            file.write(b"proof")
            os.fsync(file.fileno())
    except OSError as error:
        return f"a new file says {error.strerror}" if error.errno == errno.EIO else None
    return None
