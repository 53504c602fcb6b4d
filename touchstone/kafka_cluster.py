"""A cluster for tests, as the pytest fixture `kafka_cluster` gives it; needs no pytest itself.

It is the reference broker in this process with the settings of the profile `test`: no rebalance
delay, short sessions, internal topics of one partition.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from touchstone.reference_impl.broker.configs import config_values, profiles, setting_names
from touchstone.reference_impl.broker.configs.config_view import broker_definitions
from touchstone.reference_impl.broker.control.topic_changes import TopicChanges
from touchstone.reference_impl.broker.control.topic_outcomes import NewTopic
from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.io.server import LIFE_SECONDS, serve
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.control.topic_outcomes import Outcome
    from touchstone.reference_impl.broker.faults.fault_plan import Plan
    from touchstone.reference_impl.io.server import RunningCluster

T = TypeVar("T")
MOST_BROKERS = 100
MOST_CHARACTERS = 200  # of a topic's name, which may have 249 with what is added
TIMEOUT_MS = 30_000
_numbers = itertools.count(1)


class WrongCluster(ValueError):
    """There is no such cluster; the message says in one line what is wrong."""


@dataclass(frozen=True)
class ClusterSpec:
    """Which cluster a test wants.

    brokers: how many, by default one for each rack, or 1.
    racks: the rack of each broker, None for one without.
    release: the Kafka release that it is, such as "2.8"; by default the newest there is.
    settings: broker settings over those of the profile `test`, as in server.properties.
    shared: False for a cluster that no other test gets; only its time can be advanced.

    Raises WrongCluster, also for a setting that the release does not have.
    """

    brokers: int | None = None
    racks: Sequence[str | None] = ()
    release: str = RELEASES[-1]
    settings: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    shared: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.racks, str) or not isinstance(self.racks, Sequence):
            raise WrongCluster(f"racks: a list with the rack of each broker, not {self.racks!r}")
        if self.brokers is None:
            object.__setattr__(self, "brokers", len(self.racks) or 1)
        if type(self.brokers) is not int or not 1 <= self.brokers <= MOST_BROKERS:
            raise WrongCluster(f"brokers: 1 to {MOST_BROKERS}, not {self.brokers!r}")
        if self.racks and len(self.racks) != self.brokers:
            raise WrongCluster(f"racks: {len(self.racks)} for {self.brokers} brokers")
        if self.release not in RELEASES:
            raise WrongCluster(f"release: one of {', '.join(RELEASES)}, not {self.release!r}")
        if not isinstance(self.settings, Mapping):
            raise WrongCluster(f"settings: a dict of broker settings, not {self.settings!r}")
        for name, value in self.config.items():
            self._check(name, value)

    @property
    def config(self) -> dict[str, str]:
        """The settings as text."""
        return {name: _text(value) for name, value in self.settings.items()}

    def _check(self, name: str, value: str) -> None:
        known = broker_definitions(self.release)
        if name in known:
            try:
                config_values.read(known[name], value)
            except config_values.ValueRefused as wrong:
                raise WrongCluster(f"settings: {wrong}") from None
        elif not name.startswith(setting_names.PREFIXES):
            hint = setting_names.nearest(name, known)
            raise WrongCluster(f"settings: Kafka {self.release} has no {name!r}{hint}")


def _text(value: str | int | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class KafkaCluster:
    """Brokers that serve on free ports of 127.0.0.1 until `stop`, or the end of the `with`."""

    def __init__(self, wanted: ClusterSpec | None = None) -> None:
        self.wanted = wanted or ClusterSpec()
        self.size = self.wanted.brokers or 1
        self.running: RunningCluster = serve(
            self.size, racks=self.wanted.racks, release=self.wanted.release,
            profile="test", config=self.wanted.config,
        )  # fmt: skip

    def __enter__(self) -> KafkaCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<KafkaCluster {self.wanted.release} at {self.bootstrap}>"

    @property
    def bootstrap(self) -> str:
        """What clients call bootstrap servers: "HOST:PORT,HOST:PORT"."""
        return ",".join(self.running.bootstrap)

    @property
    def brokers(self) -> dict[int, str]:
        """HOST:PORT of each broker by its id, also of one that does not run now."""
        return dict(zip(sorted(self.running.cluster.brokers), self.running.bootstrap, strict=True))

    @property
    def topics(self) -> list[str]:
        """The names of all topics but internal ones, in order."""
        topics = self.running.cluster.topics
        return self._call(lambda: sorted(n for n in topics if not topics[n].internal))

    @property
    def faults(self) -> Plan:
        """Rules that spoil requests; the fixture `kafka_faults` takes them away after a test."""
        return self.running.faults

    # --- topics -------------------------------------------------------------------------------

    def create_topic(
        self,
        name: str = "",
        *,
        partitions: int = 1,
        replicas: int | None = None,
        settings: Mapping[str, str | int | float | bool] | None = None,
    ) -> str:
        """Make a topic; its name. No rule of `faults` spoils that.

        name: by default one that no other topic has.
        replicas: of each partition; by default 3, or as many as there are brokers.
        settings: of the topic, as {"retention.ms": 60_000}.

        ValueError where Kafka refuses it, with Kafka's error and message.
        """
        name = name or f"topic-{next(_numbers)}"
        configs = tuple((key, _text(value)) for key, value in (settings or {}).items())
        replicas = replicas or min(self.size, profiles.MOST_REPLICAS)
        topic = NewTopic(name, partitions, replicas, configs=configs)

        def create(broker: Broker) -> list[Outcome]:
            return broker.room(TopicChanges).create_topics(
                [topic], timeout=TIMEOUT_MS, validate_only=False, client="touchstone"
            )

        (outcome,) = self._control(create)
        if outcome.code:
            raise ValueError(f"topic {name}: {_error(outcome)}")
        return name

    def fresh_topic(self, about: str) -> str:
        """Make a topic whose name no other has and begins with `about`; its name."""
        name = re.sub(r"[^a-zA-Z0-9.-]+", "-", about)[:MOST_CHARACTERS]
        return self.create_topic(f"{name}-{next(_numbers)}")

    def delete_topic(self, name: str) -> None:
        """Delete a topic with its records; one that does not exist any more is no error."""
        if name not in self.topics:
            return

        def delete(broker: Broker) -> list[Outcome]:
            rows = [(name, bytes(16))]
            return broker.room(TopicChanges).delete_topics(rows, timeout=TIMEOUT_MS, version=4)

        (outcome,) = self._control(delete)
        if outcome.code:
            raise ValueError(f"topic {name}: {_error(outcome)}")

    # --- time and harm ------------------------------------------------------------------------

    def advance(self, ms: int) -> None:
        """Let `ms` milliseconds pass for the brokers at once: retention, sessions, transactions.

        Clients do not live through that time. A member of a group that heartbeats is removed like
        one that is silent where its session is shorter, and joins again.

        RuntimeError in a cluster that tests share: what they do later would be in its past.
        """
        if self.wanted.shared:
            raise RuntimeError(
                "time can be advanced where a test has the cluster to itself: "
                "@pytest.mark.kafka(shared=False)"
            )
        self.running.advance(ms)

    def kill(self, broker: int) -> None:
        """End a broker, by its id, without a word to the others. Its records stay.

        ValueError, here and below, for an id that no broker has.
        """
        self.running.kill(broker)

    def start(self, broker: int) -> None:
        """Start a broker that was killed. It waits while its old session lasts, here 1 s."""
        self.running.start_broker(broker)

    def pause(self, broker: int) -> None:
        """Freeze a broker with its connections open."""
        self.running.pause(broker)

    def resume(self, broker: int) -> None:
        """Let a paused broker go on."""
        self.running.resume(broker)

    def stop(self) -> None:
        """End all brokers; ports and threads are free when it returns."""
        self.running.stop()

    # --- in the thread of the brokers ---------------------------------------------------------

    def _call(self, job: Callable[[], T]) -> T:
        found: T = self.running.server.call(lambda now: job()).result(LIFE_SECONDS)
        return found

    def _control(self, change: Callable[[Broker], list[Outcome]]) -> list[Outcome]:
        """Have the controller make a change and tell the brokers."""

        def make() -> list[Outcome]:
            cluster, alive = self.running.cluster, self.running.brokers
            if not alive:
                raise ValueError("no broker of this cluster runs")
            first = next((b for b in alive if b.id == cluster.controller_id), alive[0])
            outcomes = change(first)
            cluster.publish()
            return outcomes

        return self._call(make)


def _error(outcome: Outcome) -> str:
    words = [ErrorCode(outcome.code).name, outcome.message]
    return ": ".join(word for word in words if word)
