"""`touchstone.json` in the data directory: the registry's home on disk.

One JSON document, replaced whole (`Disk.write_whole`) before any answer leaves that a change of the
registry caused, so a client that was told of a topic finds it after any end. Kafka keeps these
values in ZooKeeper or in `__cluster_metadata`, and ignores the file in a log directory of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from touchstone.reference_impl.cluster.image import image_of
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.io.disk import Disk
from touchstone.reference_impl.io.log_dir_error import LogDirError
from touchstone.reference_impl.log.rules import LogError

NAME = "touchstone.json"


class RegistryFile:
    def __init__(self, folder: Path, disk: Disk | None = None) -> None:
        self.path = folder / NAME
        self._disk = disk or Disk()
        self._written: object = None
        self.beside: Mapping[str, Any] = {}  # what else the document says, beside the registry

    def read(self) -> dict[str, Any] | None:
        """The image that was written last; ValueError for a file that is no JSON."""
        return json.loads(self.path.read_bytes()) if self.path.exists() else None

    def keep(self, cluster: Cluster) -> None:
        """Write the registry down if it changed since the last call.

        LogDirError where that fails: nobody may be told what a restart would forget, so there is
        nothing left to serve (Kafka halts when its last log directory fails).
        """
        standing = (
            cluster.generation,
            cluster.next_producer_id,
            cluster.next_broker_epoch,
            repr(cluster.dynamic_configs),
            repr(cluster.group_configs),
        )
        if standing != self._written:
            image = json.dumps({**self.beside, **image_of(cluster)}, indent=1)
            try:
                self._disk.make_folder(self.path.parent)
                self._disk.write_whole(self.path, image.encode() + b"\n")
            except LogError as fault:
                raise LogDirError(f"{self.path} cannot be written: {fault}") from None
            self._written = standing
