"""The whole workload: topics made, members started, ended, and everything read to the end.

    with Workload(plan, path) as workload:    the topics exist and everybody works
        ...                                   whatever happens to the cluster meanwhile
        workload.finish(60)                   everybody stops; each partition is read to its end

Who harms the brokers notes it with `workload.note`, so that a reader of the history sees why a send
took five seconds. Equal plans make equal choices, not equal histories: threads race, as clients do.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from touchstone.harness.driver.workload.consumers import ISOLATIONS, Follower, drain, recall
from touchstone.harness.driver.workload.group_members import GroupMember
from touchstone.harness.driver.workload.member import CONNECT_S, Member
from touchstone.harness.driver.workload.producers import Producer
from touchstone.harness.driver.workload.recorder import Recorder
from touchstone.harness.driver.workload.transactions import TransactionalProducer, producer_of
from touchstone.harness.targets import reach
from touchstone.reference_impl.client.flow import ClientError
from touchstone.reference_impl.client.metadata import know, refresh
from touchstone.reference_impl.io.client import Client

COORDINATORS_MS = 30_000  # a first one makes its topic of fifty partitions
CREATE_S, AGAIN_S = 30.0, 0.5
END_S = 60.0  # for a member to end its round, many times what any of its requests may take
IN_SYNC_S = 60.0  # for replicas to catch up once every fault is undone


class NotReady(Exception):
    """The cluster would not take a topic; nothing was asked of it yet."""


class Broken(Exception):
    """A member of the workload failed by a mistake of ours; the run says nothing of the target."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Who does what, from one seed. Times are milliseconds where they say so, else seconds."""

    bootstrap: tuple[str, ...]
    topics: tuple[str, ...]
    target: str = ""
    seed: int = 0
    partitions: int = 3
    replication: int = 1
    producers: int = 3
    transactional: int = 1
    followers: int = 2
    members: int = 3  # of one group
    acks: tuple[int, ...] = (-1,)  # the producers' in turn
    idempotent: tuple[bool, ...] = (True, True, False)
    burst: int = 12
    pause_s: float = 0.02
    delivery_ms: int = 8_000
    request_ms: int = 3_000
    configs: tuple[tuple[str, str], ...] = ()  # of the topics
    release: str | None = None  # which promises its producers can make (KIP-360)

    @property
    def places(self) -> list[tuple[str, int]]:
        return [(topic, index) for topic in self.topics for index in range(self.partitions)]

    @property
    def promised(self) -> dict[str, Any]:
        unclean = dict(self.configs).get("unclean.leader.election.enable") == "true"
        named = {"release": self.release} if self.release else {}
        return {"target": self.target, "seed": self.seed, "unclean": unclean, **named,
                "replication": self.replication, **dict(self.configs)}  # fmt: skip


class Workload:
    """The members of one plan at work. `recorder.counts` may be read for progress."""

    def __init__(self, plan: Plan, path: Path) -> None:
        self.plan = plan
        self.recorder = Recorder(path, plan.promised)
        self.over = threading.Event()
        self.members = self._members()
        self.stuck: list[str] = []  # members that did not end when they were told to

    def __enter__(self) -> Workload:
        try:
            with self._client() as client:
                for topic in self.plan.topics:
                    self._create(client, topic, time.perf_counter() + CREATE_S)
                self._warm(client)
        except ClientError as error:
            self.recorder.close()
            raise NotReady(str(error)) from error
        except BaseException:
            self.recorder.close()
            raise
        for member in self.members:
            member.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.halt()
        self.recorder.close()

    def note(self, what: str, **about: Any) -> None:
        """A fault, for whoever reads the history."""
        self.recorder.end(self.recorder.begin("nemesis", "fault", what=what, **about))

    def halt(self) -> None:
        """Everybody ends the round they are in; who does not in `END_S` is left, and is `stuck`."""
        self.over.set()
        until = time.perf_counter() + END_S
        for member in self.members:
            if member.ident is not None:
                member.join(max(0.0, until - time.perf_counter()))
        self.stuck = [member.name for member in self.members if member.is_alive()]

    def finish(self, seconds: float) -> bool:
        """Halt, wait for the replicas, read all to the end; whether that came about in time."""
        self.halt()
        for member in self.members:
            if member.fault is not None:
                raise Broken(f"{member.name} failed") from member.fault
        until = time.perf_counter() + seconds
        with self._client() as client:
            whole = self._in_sync(client, min(until, time.perf_counter() + IN_SYNC_S))
            done = [
                drain(client, self.recorder, where, isolation, until)
                for isolation in ISOLATIONS
                for where in self.plan.places
            ]
        return whole and all(done)

    def _members(self) -> list[Member]:
        plan = self.plan
        rest = (plan, self.recorder, self.over)
        made: list[Member] = [
            Producer(
                f"producer-{i}", *rest, acks=plan.acks[i % len(plan.acks)],
                idempotent=plan.idempotent[i % len(plan.idempotent)],
            )
            for i in range(plan.producers)
        ]  # fmt: skip
        made += [TransactionalProducer(f"transactor-{i}", *rest) for i in range(plan.transactional)]
        made += [
            Follower(f"consumer-{i}", *rest, isolation=ISOLATIONS[i % 2])
            for i in range(plan.followers)
        ]
        made += [GroupMember(f"member-{i}", *rest) for i in range(plan.members)]
        return made

    def _create(self, client: Client, topic: str, until: float) -> None:
        """Make the topic; a cluster that was harmed a moment ago may need to be asked again."""
        plan = self.plan
        while True:
            try:
                client.admin.create_topic(
                    topic, plan.partitions, plan.replication, configs=dict(plan.configs)
                )
                return
            except ClientError as error:
                if getattr(error, "name", "") == "TOPIC_ALREADY_EXISTS":
                    client.run(know(client.view, [topic]))
                    return
                if time.perf_counter() > until:
                    raise NotReady(f"cannot make {topic}: {error}") from error
                self.over.wait(AGAIN_S)

    def _warm(self, client: Client) -> None:
        """Coordinators exist and have loaded, so that the first members do not only wait."""
        if self.plan.transactional:
            name = f"{self.plan.topics[0]}.first"
            client.run(producer_of(client.view, name, COORDINATORS_MS).init())
        if self.plan.followers or self.plan.members:
            client.run(recall(client.view, "first", self.plan.places, COORDINATORS_MS))

    def _client(self) -> Client:
        login = reach.client_properties(self.plan.bootstrap)
        return Client(self.plan.bootstrap, login, client_id="workload", connect_timeout_s=CONNECT_S)

    def _in_sync(self, client: Client, until: float) -> bool:
        """Whether every replica comes to be in sync again."""
        while time.perf_counter() < until:
            try:
                client.run(refresh(client.view, self.plan.topics, timeout_ms=5_000))
            except ClientError:
                continue
            known = [client.view.topic(topic) for topic in self.plan.topics]
            parts = [part for topic in known if topic for part in topic.partitions.values()]
            wanted = len(self.plan.places)
            if len(parts) == wanted and all(
                part.leader >= 0 and len(part.isr) == len(part.replicas) for part in parts
            ):
                return True
            time.sleep(0.1)
        return False
