"""A cluster keeps its registry and each broker's log directories under `--data DIR`.

`DIR/touchstone.json` is the registry, `DIR/broker-N` the log directory of broker N (or, with
`log.dirs`, the named folders in it; absolute names stand as they are). Where DIR is itself a log
directory, a real Kafka's for example, a single broker uses it as it is, under the node and cluster
id that its `meta.properties` says. Topics, settings, users, ACLs and quotas are what its metadata
log says (`quorum_log.py`), and where it has none, topics are what the folders show.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from touchstone.reference_impl.broker.configs.config_view import (
    ConfiguredNode,
    broker_definitions,
    spread_defaults,
)
from touchstone.reference_impl.broker.coordinators.producer_ids import BLOCK
from touchstone.reference_impl.broker.data.log_rules import rules_of
from touchstone.reference_impl.broker.personas.persona import Persona
from touchstone.reference_impl.cluster.image import adopt_folders, restore
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.io.background import Background
from touchstone.reference_impl.io.log_dir import read_owner
from touchstone.reference_impl.io.log_dir_error import LogDirError
from touchstone.reference_impl.io.log_dirs import LogDirRules, LogDirs
from touchstone.reference_impl.io.quorum_log import read_quorum_log
from touchstone.reference_impl.io.registry_file import RegistryFile
from touchstone.reference_impl.log.files import names
from touchstone.reference_impl.log.files.meta_properties import MetaProperties
from touchstone.reference_impl.log.files.partition_metadata import parse_uuid, uuid_text

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

LOG = logging.getLogger("touchstone.log")
_LAST_PRODUCER_ID = 2**63 - 1
_RETENTION = ("log.retention.ms", "log.retention.minutes", "log.retention.hours")
_SPARING = {_RETENTION[0]: "-1", "log.cleaner.enable": "false"}


class DataDir:
    """Opened once for a process; brokers come and go over it."""

    def __init__(self, root: Path, persona: Persona, config: Mapping[str, str]) -> None:
        self.root = root
        self._persona = persona
        self._foreign = (root / names.META_PROPERTIES).exists()
        self.config = _sparing(root, config) if self._foreign else config
        self._registry = RegistryFile(root)
        self._open: dict[int, LogDirs] = {}
        self._met: set[int] = set()  # brokers that were opened before, by this process
        self._known = False  # a registry was there
        self._adopts = True  # topics are what folders say, where nothing says more
        self._elsewhere: AbstractSet[tuple[str, int]] = frozenset()  # in another directory
        self._cluster: Cluster | None = None

    def owner(self, brokers: int) -> int:
        """The id of the broker that a directory of Kafka's belongs to; `brokers` want to use it."""
        if brokers > 1:
            raise LogDirError(f"{self.root} is the log directory of one broker, not of {brokers}")
        return self._owner().node_id or 0

    def _owner(self) -> MetaProperties:
        return read_owner(self.root) or MetaProperties(0)

    def _roots(self, number: int) -> list[Path]:
        if self._foreign:
            return [self.root]
        home = self.root / f"broker-{number}"
        listed = self.config.get("log.dirs") or self.config.get("log.dir") or ""
        found = [home / name.strip() for name in listed.split(",") if name.strip()]
        return found or [home]

    def restore(self, cluster: Cluster) -> None:
        """Tell the cluster what it was; LogDirError when the registry cannot be read."""
        self._cluster = cluster
        try:
            image = self._decided(min(cluster.brokers), self._registry.read())
            if image is not None:
                restore(cluster, image)
                self._known = True
        except (ValueError, KeyError, TypeError) as fault:
            raise LogDirError(f"{self._registry.path} cannot be read: {fault!r}") from None
        if image is None and self._foreign:
            cluster.cluster_id = self._owner().cluster_id or cluster.cluster_id
        # Segments that are opened ask for the index interval of the broker's own settings.
        first = min(cluster.brokers)
        spread_defaults(ConfiguredNode(first, cluster, self._persona, self.config))

    def _decided(self, me: int, kept: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """The registry as it was `kept`, or as a quorum decided in this directory since then."""
        quorum = read_quorum_log(self.root) if self._foreign else None
        if quorum is None:
            return kept
        self._adopts = False
        end = [quorum.end, quorum.epoch]
        self._registry.beside = {"metadata_log_end": end}
        owner = self._owner()
        if owner.directory_id:
            self._elsewhere = quorum.image.elsewhere(me, parse_uuid(owner.directory_id))
        if kept is not None and kept.get("metadata_log_end") == end:
            return kept
        if kept is not None:
            LOG.warning("%s: Kafka has written there since, so its metadata holds", self.root)
        self._refuse_newer(quorum.image.features)
        return quorum.image.image(owner.cluster_id or "", quorum.epoch, quorum.end)

    def _refuse_newer(self, levels: Mapping[str, int]) -> None:
        """LogDirError where the cluster runs at a level that this release does not have."""
        for feature in self._persona.features:
            if levels.get(feature.name, 0) > feature.max_supported:
                raise LogDirError(
                    f"{self.root}: {feature.name} is {levels[feature.name]}, and"
                    f" {self._persona.release} knows it up to {feature.max_supported}"
                )

    def logs(self, number: int, now: int) -> LogDirs:
        """The log directories of a broker that starts: recovered where its last end was rough."""
        cluster, quirk = self._cluster, self._persona.quirk
        assert cluster is not None
        dirs = LogDirs(
            self._roots(number),
            partial(cluster.config_of, broker=number),
            rules=rules_of(self._persona),
            dir_rules=LogDirRules(
                quirk("log-dirs.folders-name-topics"),
                quirk("log-dirs.indexes-name-first-offsets"),
                quirk("log-dirs.clean-end-names-the-epoch"),
                self._foreign,
            ),
            say=LOG.warning,
            background=Background(),
        )
        try:
            self._identify(dirs, number, cluster)
            dirs.elsewhere = self._elsewhere
            dirs.load(now)
        except BaseException:
            dirs.release()
            raise
        if self._adopts and (self._foreign or not self._known):
            adopt_folders(cluster, dirs.partition_ids(), number)
        if not self._known and number not in self._met:
            _skip_producer_ids(cluster, dirs)
        self._met.add(number)
        _catch_up(cluster, dirs)
        for log in dirs.logs().values():
            log.producers.forget_idle(now, self._most_idle_ms())
        self._open[number] = dirs
        return dirs

    def attach(self, broker: Broker, now: int) -> None:
        """Let a broker that starts over these directories hear of them when one fails."""
        dirs = self._open[broker.id]
        dirs.failed = lambda path, keys: broker.replicas.directory_failed(keys)
        dirs.schedule(broker.purgatory, self.number, now)

    def _identify(self, dirs: LogDirs, number: int, cluster: Cluster) -> None:
        quirk = self._persona.quirk
        named = cluster.cluster_id if quirk("log-dirs.name-their-cluster") else None
        ids = []
        if quirk("log-dirs.have-ids"):
            ids = [uuid_text(cluster.fresh_id()) for _ in dirs.dirs]
        written = time.strftime("%a %b %d %H:%M:%S UTC %Y", time.gmtime())
        dirs.identify(MetaProperties(quirk("log-dirs.meta-version"), number, named), ids, written)

    def _most_idle_ms(self) -> int:
        """How long a producer that writes nothing is remembered (LOG-31)."""
        known = broker_definitions(self._persona.release)
        own, older = "producer.id.expiration.ms", "transactional.id.expiration.ms"
        return self.number(own if own in known else older)

    def number(self, name: str) -> int:
        """A broker setting that is a whole number, by this release's default."""
        definition = broker_definitions(self._persona.release).get(name)
        text = self.config.get(name) or (definition.default if definition else None)
        return int(text or 60_000)

    @property
    def foreign(self) -> bool:
        """Whether it is the log directory of a Kafka broker, which has its id there."""
        return self._foreign

    @property
    def known(self) -> bool:
        """Whether it was some cluster's before, and so names one."""
        return self._known or self._foreign

    def keep(self) -> None:
        """Called before answers leave."""
        if self._cluster is not None:
            self._registry.keep(self._cluster)

    def ended(self, number: int, now: int, *, clean: bool) -> None:
        """A broker is gone: closed in order, or as a kill leaves things."""
        dirs = self._open.pop(number, None)
        if dirs is None:
            return
        if clean:
            node = self._cluster.brokers.get(number) if self._cluster else None
            dirs.close(now, node.epoch if node else -1)
        else:
            dirs.release()

    def release(self) -> None:
        """The process never served: leave everything as it was found."""
        for dirs in self._open.values():
            dirs.release()
        self._open.clear()

    def close(self, now: int) -> None:
        """The process ends in order."""
        for number in list(self._open):
            self.ended(number, now, clean=True)
        self.keep()


def _sparing(root: Path, config: Mapping[str, str]) -> Mapping[str, str]:
    """The settings of a broker, which by default remove nothing from a directory of Kafka's.

    How long Kafka keeps records there and whether it compacts them may stand in a server.properties
    that nobody gave us. What a topic itself says of its retention is known, and holds.
    """
    told = not config.keys().isdisjoint(_RETENTION)
    added = {
        name: text
        for name, text in _SPARING.items()
        if name not in config and not (told and name in _RETENTION)
    }
    if added:
        rows = ", ".join(f"{name}={text}" for name, text in added.items())
        LOG.warning("%s was written by Kafka: served with %s unless given otherwise", root, rows)
    return {**added, **config}


def _catch_up(cluster: Cluster, dirs: LogDirs) -> None:
    """Let no leader epoch that the logs have seen be given out again."""
    for (topic, index), log in dirs.logs().items():
        partition = cluster.partition(topic, index)
        if partition is not None:
            partition.leader_epoch = max(partition.leader_epoch, log.epochs.latest)


def _skip_producer_ids(cluster: Cluster, dirs: LogDirs) -> None:
    """Give out none of the ids in logs that came without the registry that gave them out.

    With a registry only that counts, as in Kafka, whose blocks come from the controller or from
    ZooKeeper: a client may write any id into a log. No block of Kafka's ends in the ids left out.
    """
    for log in dirs.logs().values():
        for seen in log.producers.producers:
            if seen < _LAST_PRODUCER_ID - BLOCK:
                cluster.next_producer_id = max(cluster.next_producer_id, seen + 1)
