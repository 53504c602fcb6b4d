"""The registry on a real ZooKeeper: the only door to kazoo.

The cluster's own registry stays the authority; this writes what it holds, as Kafka would
(`cluster.znodes`), and reads back what tools put there. The loop draws a tree and hands it to one
thread, which alone talks to ZooKeeper, so a slow one never holds a request up; it also means that
an answer may leave a moment before its znode stands. Ephemeral nodes belong to the process's
session and go with the broker they name, or with the process.

Read back: topics that old tools create, ACLs, /admin/delete_topics,
/admin/preferred_replica_election, /admin/reassign_partitions, /config/changes with the settings
they announce, and what brokers leave for their controller (/isr_change_notification,
/log_dir_event_notification), ours as well.

Sources: KafkaZkClient@2.8.2, ZkUtils@1.0.2, BRK-16..20, BRK-30, CTL-15, CTL-19, CTL-20, DYN-03
(notifications are purged after 15 minutes).
"""

from __future__ import annotations

import json
import logging
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import partial
from typing import Any

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import KazooException, NodeExistsError, NoNodeError, NotEmptyError
from kazoo.handlers.threading import KazooTimeoutError

from touchstone.reference_impl.cluster import acl_znodes, znodes
from touchstone.reference_impl.cluster.acls import Entry, Pattern
from touchstone.reference_impl.cluster.announcements import ISR_CHANGES, LOG_DIR_EVENTS
from touchstone.reference_impl.cluster.controller import PREFERRED
from touchstone.reference_impl.cluster.topology import Cluster
from touchstone.reference_impl.cluster.znodes import Form, RegistryError, Step, Times, Znode
from touchstone.reference_impl.cluster.zookeeper_controller import ZooKeeperController

LOG = logging.getLogger("touchstone.zookeeper")
CHANGES, RESERVED = "/config/changes", 1000
ANNOUNCED = (CHANGES, *acl_znodes.CHANGES)
PURGED_AFTER_MS = 15 * 60 * 1000
TRIES = 5
Job = Callable[[], None]
Tree = dict[str, Znode]
Caller = Callable[[Callable[[int], None]], "Future[None]"]


class ZooKeeper:
    """`where` is HOST:PORT[,HOST:PORT...][/chroot]."""

    def __init__(
        self, where: str, form: Form, *, clock: Callable[[], int], session_ms: int
    ) -> None:
        hosts, slash, chroot = where.partition("/")
        self.form = form
        self._clock = clock
        retry = {"max_tries": TRIES}
        self._client = KazooClient(hosts, timeout=session_ms / 1000, command_retry=retry)
        try:
            self._client.start(timeout=session_ms / 1000)
        except KazooTimeoutError:
            self._client.close()
            raise RegistryError(f"no ZooKeeper answers at {hosts}") from None
        if slash and chroot:
            self._client.ensure_path(f"/{chroot}")
            self._client.chroot = f"/{chroot}"
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._written: Tree = {}  # the thread's: what stands there, of what is ours
        self._seen_changes: set[str] = set()  # likewise: announcements that need no look
        self._drawn: Tree = {}  # the loop's, from here on
        self._state: object = None
        self._registered: dict[int, tuple[int, int]] = {}  # broker -> its epoch, since when
        self._elected: tuple[object, int] = (None, 0)
        self._moving: str | None = None  # a move that a tool wants, until it is done
        self._unread: set[str] = set()  # left for a controller that is away
        self._lost = False
        self._foreign = _FOREIGN

    @property
    def session(self) -> tuple[int, bytes]:
        """Its id and password."""
        return self._client.client_id

    # --- before the brokers are made --------------------------------------------------------

    def generated_ids(self, count: int, reserved: int = RESERVED) -> list[int]:
        """Ids that no broker ever had: the next versions of /brokers/seqid (BRK-18, BRK-19)."""
        self._client.ensure_path(znodes.SEQUENCE)
        given = (self._client.set(znodes.SEQUENCE, b"").version for _ in range(count))
        return [reserved + version for version in given]

    def restore(self, cluster: Cluster, *, cluster_id: str | None = None) -> None:
        """Take over what stands there; RegistryError where these brokers may not start.

        `cluster_id` is the one that a data directory names, where its release does that.
        """
        if cluster.acls.kept:
            self._foreign -= acl_znodes.ROOTS
        tree = self._walk("")
        for number in cluster.brokers:
            path = f"{znodes.IDS}/{number}"
            if path in tree and (stat := self._client.exists(path)):
                owner, session = stat.owner_session_id, self.session[0]
                raise RegistryError(
                    self.form.taken_id.format(path=path, owner=owner, session=session)
                )
        if znodes.CONTROLLER in tree:
            raise RegistryError("another cluster's brokers keep their registry there")
        if (node := tree.get(znodes.CLUSTER_ID)) and node.text:
            stored = str(json.loads(node.text)["id"])
            if cluster_id not in (None, stored):
                raise RegistryError(_INCONSISTENT.format(stored, cluster_id))
            cluster.cluster_id = stored
        if (node := tree.get("/controller_epoch")) and node.text:
            cluster.controller_epoch = int(node.text) + 1
        if (node := tree.get(znodes.PRODUCER_IDS)) and node.text:
            end = int(json.loads(node.text)["block_end"])
            cluster.next_producer_id = max(cluster.next_producer_id, end + 1)
        for path, node in tree.items():
            parent, _, name = path.rpartition("/")
            if parent == "/config/brokers" and node.text:
                key = "" if name == znodes.DEFAULT else name
                cluster.dynamic_configs[key] = znodes.read_config(node.text)
            elif pattern := acl_znodes.pattern_of(path):
                cluster.acls.replace(pattern, acl_znodes.read(node.text))
            elif who := znodes.read_entity(path.removeprefix("/config/")):
                znodes.read_client(cluster.client_settings, who, znodes.read_config(node.text))
            elif parent == znodes.TOPICS and node.text and name not in cluster.topics:
                settings = tree.get(f"/config/topics/{name}", Znode())
                topic = znodes.read_topic(name, node.text, settings.text, cluster.brokers)
                for each in topic.partitions:
                    state = tree.get(f"{path}/partitions/{each.index}/state", Znode())
                    znodes.goes_on(each, state.text)
                cluster.adopt(topic)
        self._seen_changes = {f"{at}/{name}" for at in ANNOUNCED for name in self._children(at)}
        self._written = {path: node for path, node in tree.items() if _ours(path)}
        self._drawn = dict(self._written)

    # --- in the loop ------------------------------------------------------------------------

    def attach(self, cluster: Cluster, controller: ZooKeeperController, call: Caller) -> None:
        """Write the tree, and follow the cluster from now on; `call` runs a job in the loop."""
        self._cluster, self._controller, self._call = cluster, controller, call
        cluster.announcements.elsewhere = self._leave
        self._client.add_listener(self._session_changed)
        self._thread = threading.Thread(target=self._run, name="touchstone-zk", daemon=True)
        self._thread.start()
        self.follow()
        self._jobs.put(self._look)

    def follow(self) -> None:
        """Queue a write of whatever changed since the last call."""
        cluster = self._cluster
        if self._unread:
            self._remove_read()
        deletions = tuple(self._controller.deletions)
        state = (
            cluster.generation, cluster.controller_id, cluster.controller_epoch,
            cluster.next_producer_id, cluster.next_broker_epoch, repr(cluster.dynamic_configs),
            repr(list(cluster.client_settings.quotas())), deletions,
        )  # fmt: skip
        if state == self._state:
            return
        self._state = state
        times = self._times(cluster)
        tree = znodes.picture(cluster, self.form, times, self._drawn, deletions)
        tree |= acl_znodes.picture(cluster.acls, self.form)
        if self._moving and self._controller.reassigning():
            tree[znodes.REASSIGN] = Znode(self._moving)
        self._drawn = tree
        self._jobs.put(lambda: self._draw(tree))

    def _leave(self, path: str, text: str) -> None:
        """Something for the controller, which reads it when its watch says that it is there."""
        create = self._client.create
        job = partial(self._client.retry, create, path, text.encode(), sequence=True)
        self._jobs.put(job)

    def _times(self, cluster: Cluster) -> Times:
        now = self._clock()
        for node in cluster.alive:
            if self._registered.get(node.id, (-1, 0))[0] != node.epoch:
                self._registered[node.id] = node.epoch, now
        elected = cluster.controller_id, cluster.controller_epoch
        if self._elected[0] != elected:
            self._elected = elected, now
        return Times({i: since for i, (_, since) in self._registered.items()}, self._elected[1])

    def settle(self, seconds: float) -> None:
        """Return when all that was drawn is written; safe from any other thread than the loop."""
        done = threading.Event()
        self._jobs.put(done.set)
        if not done.wait(seconds):
            raise TimeoutError(f"ZooKeeper did not take all within {seconds:.0f} s")

    def close(self) -> None:
        """The session ends, and with it the brokers' nodes."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None
        self._client.stop()
        self._client.close()

    # --- in the thread: writing -------------------------------------------------------------

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except KazooException as fault:
                LOG.warning("ZooKeeper: %r; what stands there is read again", fault)
                self._lost = True

    def _draw(self, tree: Tree) -> None:
        if self._lost:
            self._written = {p: node for p, node in self._walk("").items() if _ours(p)}
            self._lost = False
        told = acl_znodes.announcements(self._written, tree, self.form)
        for step in [*znodes.steps(self._written, tree), *told]:
            self._do(step)
        self._written = tree

    def _do(self, step: Step) -> None:
        client, path = self._client, step.path
        data = None if step.znode.text is None else step.znode.text.encode()
        if step.verb == "notify":
            made = client.retry(client.create, path, data, sequence=True)
            self._seen_changes.add(made)
            self._purge(made.rpartition("/")[0])
        elif step.verb == "delete":
            try:
                client.retry(client.delete, path)
            except NoNodeError:
                LOG.debug("%s was gone already", path)
            except NotEmptyError:  # somebody put something below it
                client.retry(client.delete, path, recursive=True)
        elif step.verb == "set":
            client.retry(client.set, path, data)
        else:
            try:
                client.retry(client.create, path, data, ephemeral=step.znode.ephemeral)
            except NodeExistsError:
                client.retry(client.set, path, data)

    def _purge(self, parent: str) -> None:
        """Announcements older than 15 minutes go when a new one comes (DYN-03)."""
        for name in self._children(parent):
            stat = self._client.exists(f"{parent}/{name}")
            if stat and self._clock() - stat.ctime > PURGED_AFTER_MS:
                self._client.delete(f"{parent}/{name}")

    def _session_changed(self, state: str) -> None:
        """In kazoo's thread: with a lost session the ephemeral nodes are gone."""
        if state == KazooState.LOST:
            self._lost = True
            self._jobs.put(lambda: self._draw(dict(self._written)))

    # --- in the thread: reading -------------------------------------------------------------

    def _look(self) -> None:
        """Everything that tools may have left; called again whenever a watch fires."""
        for name in self._children(znodes.TOPICS, watched=True):
            path = f"{znodes.TOPICS}/{name}"
            if path not in self._written and (text := self._text(path)):
                settings = self._text(f"/config/topics/{name}")
                self._in_loop(partial(self._created, name, text, settings))
        for name in self._children(znodes.DELETED_TOPICS, watched=True):
            path = f"{znodes.DELETED_TOPICS}/{name}"
            if path not in self._written:
                self._written[path] = Znode()
                self._in_loop(partial(self._deleted, name))
        for text in self._announcements(CHANGES):
            entity = znodes.read_change(text)
            changed = znodes.read_config(self._text(f"/config/{entity}"))
            self._in_loop(partial(self._configured, entity, changed))
        for parent in acl_znodes.CHANGES if self._cluster.acls.kept else ():
            for text in self._announcements(parent):
                self._read_acls(text)
        left = {}
        for parent in (ISR_CHANGES, LOG_DIR_EVENTS):
            for name in sorted(self._children(parent, watched=True)):
                if text := self._text(f"{parent}/{name}"):
                    left[f"{parent}/{name}"] = text
        if left:
            self._in_loop(partial(self._announced, left))
        for path, act in ((znodes.PREFER, self._preferred), (znodes.REASSIGN, self._reassigned)):
            found = self._client.retry(self._client.exists, path, watch=self._woken)
            if found and path not in self._written and (text := self._text(path)):
                self._written[path] = Znode(text)
                self._in_loop(partial(act, text))

    def _announcements(self, parent: str) -> Iterator[str]:
        """Those that nobody has looked at yet."""
        paths = {f"{parent}/{name}" for name in self._children(parent, watched=True)}
        for path in sorted(paths - self._seen_changes):
            self._seen_changes.add(path)
            if text := self._text(path):
                yield text

    def _read_acls(self, change: str) -> None:
        try:
            pattern = acl_znodes.read_change(change)
            path = acl_znodes.path_of(pattern)
            text = self._text(path)
            entries = acl_znodes.read(text)
        except (KeyError, ValueError) as fault:
            LOG.warning("ACLs that nobody can read: %r", fault)
            return
        self._written.pop(path, None)
        if text:
            self._written[path] = Znode(text)
        self._in_loop(partial(self._allowed, pattern, entries))

    def _woken(self, event: object) -> None:
        """In kazoo's thread."""
        self._jobs.put(self._look)

    def _in_loop(self, job: Job) -> None:
        def done(future: Future[None]) -> None:
            if fault := future.exception():
                LOG.warning("what somebody wrote into ZooKeeper is of no use: %r", fault)

        self._call(lambda now: job()).add_done_callback(done)

    def _children(self, path: str, *, watched: bool = False) -> list[str]:
        try:
            watch = self._woken if watched else None
            return self._client.retry(self._client.get_children, path, watch=watch)
        except NoNodeError:
            return []

    def _text(self, path: str) -> str | None:
        try:
            data, _ = self._client.retry(self._client.get, path)
        except NoNodeError:
            return None
        return None if data is None else data.decode()

    def _walk(self, path: str) -> Tree:
        try:
            data, stat = self._client.get(path or "/")
            children = sorted(self._client.get_children(path or "/"))
        except NoNodeError:
            return {}
        text = None if data is None else data.decode()
        tree = {path: Znode(text, bool(stat.ephemeralOwner))} if path else {}
        for child in children:
            if f"{path}/{child}" not in self._foreign:
                tree |= self._walk(f"{path}/{child}")
        return tree

    # --- in the loop: what tools want -------------------------------------------------------

    def _created(self, name: str, text: str, settings: str | None) -> None:
        cluster = self._cluster
        if name in cluster.topics:
            return
        live = [node.id for node in cluster.alive]
        topic = znodes.read_topic(name, text, settings, live)
        if cluster.topic_ids and topic.id == bytes(16):
            topic.id = cluster.fresh_id()
        cluster.adopt(topic)
        cluster.unpublished |= {(name, partition.index): True for partition in topic.partitions}
        self._changed()

    def _deleted(self, name: str) -> None:
        if name in self._cluster.topics:
            self._controller.delete(name)
        self._changed()

    def _configured(self, entity: str, settings: dict[str, str]) -> None:
        kind, _, name = entity.partition("/")
        if kind == "topics" and name in self._cluster.topics:
            self._cluster.configure(name, settings)
        elif kind == "brokers":
            self._cluster.dynamic_configs["" if name == znodes.DEFAULT else name] = settings
        elif who := znodes.read_entity(entity):
            znodes.read_client(self._cluster.client_settings, who, settings)
        self._controller.configs_changed()
        self._changed()

    def _allowed(self, pattern: Pattern, entries: list[Entry]) -> None:
        self._cluster.acls.replace(pattern, entries)
        self._cluster.generation += 1
        self._changed()

    def _announced(self, left: dict[str, str]) -> None:
        self._cluster.announcements.standing |= left
        self._unread |= left.keys()
        self._controller.announced()
        self._changed()

    def _remove_read(self) -> None:
        """Brokers are told before a controller removes what it has read."""
        read = self._unread - self._cluster.announcements.standing.keys()
        self._unread -= read
        for path in sorted(read):
            self._jobs.put(partial(self._do, Step("delete", path, Znode())))

    def _preferred(self, text: str) -> None:
        places = [(row["topic"], row["partition"]) for row in _rows(text)]
        self._controller.elect(PREFERRED, places)
        self._changed()

    def _reassigned(self, text: str) -> None:
        for row in _rows(text):
            partition = self._cluster.partition(row["topic"], row["partition"])
            if partition is not None:
                self._controller.reassign(partition, row["replicas"])
        self._moving = text
        self._changed()

    def _changed(self) -> None:
        self._cluster.publish()
        self._state = None
        self.follow()


_FOREIGN = frozenset({"/zookeeper", "/consumers"}) | acl_znodes.ROOTS  # without an authorizer
_NUMBERED = tuple(f"{parent}/" for parent in (*ANNOUNCED, ISR_CHANGES, LOG_DIR_EVENTS))
_INCONSISTENT = (
    "The Cluster ID {} doesn't match stored clusterId Some({}) in meta.properties. The broker is "
    "trying to join the wrong cluster. Configured zookeeper.connect may be wrong."
)


def _ours(path: str) -> bool:
    """What is left alone when the picture lacks it: announcements, and what others keep."""
    return not path.startswith(_NUMBERED)


def _rows(text: str) -> Iterable[dict[str, Any]]:
    return json.loads(text)["partitions"]
