"""Which settings of a claim's cluster only set its pace, and what follows where they are not set.

A claim asks for settings for one of two reasons. Some set the pace: the claim holds under any value
and ours only makes it quick (the delay of a first rebalance, how often a cleaner looks, the lowest
session timeout, how many partitions an internal topic has). The others are what the claim is about.
On a cluster that cannot be configured the first kind is dropped, and what its value in force costs
is paid: waits are longer by it, timeouts that it forbids are raised to what it allows. The second
kind is needed: without it the claim is not run, and says which setting it wants.

Two kinds of setting are set for the length of a run and put back after it, where the cluster takes
them by IncrementalAlterConfigs: pace that is dynamic, for the whole run, and a subject that is
dynamic, for one case that then has the cluster to itself.

Pure: no target, no time. Sources: Kafka's configuration reference of each release; values in force
by DescribeConfigs; defaults of internal settings from KafkaConfig at 1.0.2 to 4.3.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from touchstone.harness.model.scenario import Inflict, Scenario
from touchstone.harness.model.target import Setting, Shape

WAITS, LEAST, FREE, AT_ONCE = "waits", "least", "free", "at once"
LONG_MS = 30_000  # a timeout that a scenario means not to end
MOST_SESSION_MS = 300_000  # group.max.session.timeout.ms before 2.3 (KIP-389 raised it)
TURNS = 2  # what is done at intervals may have just been done, and be done late
FIRST_TASKS = "log.initial.task.delay.ms"
FIRST_TASKS_MS = 30_000  # where that cannot be set: before 3.6
LONGEST_MS = 60_000  # a wait that is longer by more than this is not waited for
SILENCE, SILENCE_MS = "request.timeout.ms", 30_000  # of a broker that was asked, and its default


@dataclass(frozen=True, slots=True)
class Pace:
    """One setting that sets a claim's pace.

    `effect`: "waits" (what the claim waits for comes later by its value in ms), "least" (timeouts
    below its value are refused), "free" (nothing follows) or "at once" (until its value has passed
    answers are other ones, and no step waits: a longer one is as a subject that is not there).
    `default` is Kafka's, for a cluster that does not tell.
    """

    effect: str
    default: str


PACE: Mapping[str, Pace] = {
    "broker.heartbeat.interval.ms": Pace(WAITS, "2000"),
    "broker.session.timeout.ms": Pace(WAITS, "9000"),
    "controlled.shutdown.retry.backoff.ms": Pace(WAITS, "5000"),
    "group.consumer.assignment.interval.ms": Pace(AT_ONCE, "1000"),
    "group.consumer.min.heartbeat.interval.ms": Pace(LEAST, "5000"),
    "group.consumer.min.session.timeout.ms": Pace(LEAST, "45000"),
    "group.consumer.session.timeout.ms": Pace(FREE, "45000"),
    "group.initial.rebalance.delay.ms": Pace(WAITS, "3000"),
    "group.min.session.timeout.ms": Pace(LEAST, "6000"),
    "group.share.assignment.interval.ms": Pace(AT_ONCE, "1000"),
    "group.share.min.heartbeat.interval.ms": Pace(LEAST, "5000"),
    "group.share.min.record.lock.duration.ms": Pace(LEAST, "15000"),
    "group.share.min.session.timeout.ms": Pace(LEAST, "45000"),
    "group.streams.assignment.interval.ms": Pace(AT_ONCE, "1000"),
    "group.streams.initial.rebalance.delay.ms": Pace(WAITS, "3000"),
    "group.streams.min.heartbeat.interval.ms": Pace(LEAST, "5000"),
    "group.streams.min.session.timeout.ms": Pace(LEAST, "45000"),
    "log.cleaner.backoff.ms": Pace(WAITS, "15000"),
    "log.cleaner.dedupe.buffer.size": Pace(FREE, "134217728"),
    "log.initial.task.delay.ms": Pace(FREE, "30000"),  # over, on a broker that runs already
    "log.retention.check.interval.ms": Pace(WAITS, "300000"),
    # A log starts later and reads anew at once; only its files stay for so long (UnifiedLog).
    "log.segment.delete.delay.ms": Pace(FREE, "60000"),
    "offsets.retention.check.interval.ms": Pace(WAITS, "600000"),
    "offsets.topic.num.partitions": Pace(FREE, "50"),
    "producer.id.expiration.check.interval.ms": Pace(WAITS, "600000"),
    "share.coordinator.state.topic.min.isr": Pace(FREE, "2"),
    "share.coordinator.state.topic.num.partitions": Pace(FREE, "50"),
    "share.coordinator.state.topic.prune.interval.ms": Pace(WAITS, "300000"),
    "share.coordinator.state.topic.replication.factor": Pace(FREE, "3"),
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": Pace(WAITS, "10000"),
    "transaction.remove.expired.transaction.cleanup.interval.ms": Pace(WAITS, "3600000"),
    "transaction.state.log.num.partitions": Pace(FREE, "50"),
    "zookeeper.session.timeout.ms": Pace(WAITS, "18000"),
}  # fmt: skip

# What answers say for as long as a pace lasts: by setting an API, a field of a row and its value. A
# case that met it is not what its claim is about, and one that did not is judged.
SHOWN: Mapping[str, tuple[str, str, int]] = {
    "group.streams.initial.rebalance.delay.ms": ("StreamsGroupHeartbeat", "status_code", 5),
}

# Settings that a suite's cluster has for a few of its claims; those name them as their subject.
SHARED = frozenset({"group.max.size", "group.consumer.max.size", "auto.leader.rebalance.enable"})

# Subjects that are not set on somebody else's broker although they are dynamic: they decide who
# may connect, and a broker that takes nobody cannot be told to take back the change.
_NEVER_SET = re.compile(r"connections|threads|listener")

# Values of requests that a "least" setting bounds from below: by API and field, by group setting.
SESSIONS = {("JoinGroup", "session_timeout_ms"): "group.min.session.timeout.ms"}
GROUP_SETTINGS = {
    "consumer.session.timeout.ms": "group.consumer.min.session.timeout.ms",
    "consumer.heartbeat.interval.ms": "group.consumer.min.heartbeat.interval.ms",
    "share.session.timeout.ms": "group.share.min.session.timeout.ms",
    "share.heartbeat.interval.ms": "group.share.min.heartbeat.interval.ms",
    "share.record.lock.duration.ms": "group.share.min.record.lock.duration.ms",
    "streams.session.timeout.ms": "group.streams.min.session.timeout.ms",
    "streams.heartbeat.interval.ms": "group.streams.min.heartbeat.interval.ms",
}
ALTERING = ("AlterConfigs", "IncrementalAlterConfigs")


@dataclass(frozen=True, slots=True)
class Least:
    """A lower bound: values from `asked` (what the claim's cluster allows) below `least` rise."""

    asked: int
    least: int

    def shifted(self, value: int) -> int:
        """Raised by the same amount, so that what was longer stays longer.

        Settings of groups have an upper bound as well (60 s), which leaves no room to scale.
        """
        return value + self.least - self.asked if self.asked <= value < self.least else value

    def scaled(self, value: int, smallest: int) -> int:
        """Raised by one factor, that which brings the scenario's smallest value to `least`: some
        cases use one session as a clock for another.
        """
        if not self.asked <= smallest < self.least or value < self.asked:
            return value
        most = max(value, MOST_SESSION_MS) if value >= LONG_MS else value * self.least
        return min(-(-value * self.least // smallest), most)


@dataclass(frozen=True)
class Fit:
    """What it costs to run a claim on a cluster that has other settings than it asks for.

    `patience_ms` is what waits are longer by; `slow` are settings whose value is too long to be
    waited for; `shown` are longer paces that answers tell, with the value that is wanted;
    `missing` are subjects that the cluster does not have (`settable`: dynamic ones among them, with
    the value that is wanted).
    """

    patience_ms: int = 0
    least: Mapping[str, Least] = field(default_factory=dict)
    slow: Mapping[str, str] = field(default_factory=dict)
    shown: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    settable: Mapping[str, str] = field(default_factory=dict)


NOTHING_TO_DO = Fit()


def fit(
    shape: Shape,
    subject: Iterable[str],
    in_force: Mapping[str, Setting],
    age_s: float | None = None,
    not_awaited: Iterable[str] = (),
) -> Fit:
    """How the settings of this shape stand to those in force, on a cluster that was started so long
    ago; None: by somebody else, at some time. For those `not_awaited` the claim does not wait.
    """
    subject, free = frozenset(subject), frozenset(not_awaited)
    least: dict[str, Least] = {}
    slow: dict[str, str] = {}
    shown: dict[str, str] = {}
    missing: dict[str, str] = {}
    settable: dict[str, str] = {}
    patience = until_first_tasks_ms(shape, age_s)
    for name, wanted in shape.config:
        value = _value(name, in_force)
        if value == wanted or (name in SHARED and name not in subject):
            continue
        if name in free:  # yet a cluster that is in no hurry may have other things to do first
            patience += FIRST_TASKS_MS
            continue
        pace = None if name in subject else PACE.get(name)
        if pace is None:
            here = in_force.get(name)
            can_be_set = here is not None and here.dynamic and not _NEVER_SET.search(name)
            into = settable if can_be_set else missing
            into[name] = wanted
        elif pace.effect == AT_ONCE and value is not None:
            if int(value) > int(wanted):
                missing[name] = wanted
        elif pace.effect == LEAST and value is not None:
            if int(value) > int(wanted):
                least[name] = Least(int(wanted), int(value))
        elif pace.effect == WAITS and value is not None:
            more = max(0, int(value) - int(wanted))
            if more and name in SHOWN:
                shown[name] = wanted
            if more > LONGEST_MS:
                slow[name] = value
            else:
                patience += TURNS * more
    return Fit(0 if slow else patience, least, slow, shown, missing, settable)


def met(shown: Mapping[str, str], answers: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """Those of these paces that the answers, each with its API, show to have lasted."""
    rows = [(api, answer) for api, answer in answers if isinstance(answer, Mapping)]
    return {
        setting: wanted
        for setting, wanted in shown.items()
        if any(api == SHOWN[setting][0] and _has(answer, *SHOWN[setting][1:])
               for api, answer in rows)
    }  # fmt: skip


def _has(value: Any, name: str, wanted: int) -> bool:
    if isinstance(value, Mapping):
        return value.get(name) == wanted or any(_has(v, name, wanted) for v in value.values())
    return isinstance(value, list) and any(_has(one, name, wanted) for one in value)


def until_first_tasks_ms(shape: Shape, age_s: float | None) -> int:
    """How much longer to wait for what brokers do from time to time with their logs, on a cluster
    that was started so long ago: before 3.6 they begin 30 s after their start, whatever is set
    and whatever else is in force. Somebody else's brokers have begun.
    """
    if age_s is None or FIRST_TASKS not in dict(shape.config):
        return 0
    return max(0, FIRST_TASKS_MS - int(age_s * 1000))


def until_given_up_ms(scenario: Scenario, in_force: Mapping[str, Setting]) -> int:
    """How much longer to wait where a broker is paused, as brokers that have asked it something do.

    In 1.0 the follower that is to lead after it takes the office when its fetcher has ended, whose
    last fetch is still open (KAFKA-6051, ReplicaFetcherThread.shutdown). Before KRaft a controller
    that was telling it of an ISR that grew, up to 7.5 s ago, handles no lost session meanwhile
    (ControllerChannelManager.removeExistingBroker, KafkaController.IsrChangeNotification).
    """
    if not any(isinstance(step, Inflict) and step.fault == "pause" for step in scenario.steps):
        return 0
    here = in_force.get(SILENCE)
    return int(here.value) if here is not None and here.value is not None else SILENCE_MS


def _value(name: str, in_force: Mapping[str, Setting]) -> str | None:
    if name in in_force:
        return in_force[name].value
    return PACE[name].default if name in PACE else None


def quick(
    shapes: Iterable[Shape], in_force: Mapping[str, Setting], *, told: bool
) -> dict[str, str]:
    """Dynamic settings that bring these shapes to their pace here: setting -> value.

    `told`: those that a topic's configs tell as their default, which a claim that did not ask for
    them would see; the others are nobody's business.
    """
    found: dict[str, str] = {}
    for shape in shapes:
        for name, value in shape.config:
            here = in_force.get(name)
            shortens = name in PACE and PACE[name].effect in (WAITS, AT_ONCE)
            paces = shortens and name.startswith("log.") == told
            if paces and here is not None and here.dynamic and here.value != value:
                found.setdefault(name, value)
    return dict(sorted(found.items()))


class RaisedTimeouts:
    """Raises what a request asks for to what the cluster allows, and remembers what it raised."""

    def __init__(self, least: Mapping[str, Least], asked: Iterable[tuple[str, Any]] = ()) -> None:
        """`asked`: the API and body of every request of the scenario."""
        self.least = least
        self.configs: dict[str, dict[str, str]] = {}  # setting -> {value sent: value meant}
        self.more_ms = 0  # by how much the longest raised timeout is longer
        self._smallest = {
            name: min((b[name] for a, b in asked if a == api and _in(b, name, LONG_MS)), default=0)
            for api, name in SESSIONS
        } if least else {}  # fmt: skip

    def request(self, api: str, body: Any) -> Any:
        """The body with timeouts that the cluster allows."""
        if not self.least or not isinstance(body, Mapping):
            return body
        out = dict(body)
        for (wanted, name), setting in SESSIONS.items():
            bound = self.least.get(setting)
            if api == wanted and bound is not None and isinstance(out.get(name), int):
                value = out[name]
                out[name] = self._noted(value, bound.scaled(value, self._smallest[name]))
        if api in ALTERING:
            out["resources"] = [self._resource(row) for row in out.get("resources") or ()]
        return out

    def _resource(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return {**row, "configs": [self._config(one) for one in row.get("configs") or ()]}

    def _config(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        name, value = str(config.get("name")), config.get("value")
        bound = self.least.get(GROUP_SETTINGS.get(name, ""))
        if bound is None or not isinstance(value, str) or not value.isdigit():
            return config
        sent = str(self._noted(int(value), bound.shifted(int(value))))
        if sent != value:
            self.configs.setdefault(name, {})[sent] = value
        return {**config, "value": sent}

    def _noted(self, value: int, sent: int) -> int:
        if value < LONG_MS:  # a longer one is not waited for
            self.more_ms = max(self.more_ms, sent - value)
        return sent


def _in(body: Any, name: str, below: int) -> bool:
    value = body.get(name) if isinstance(body, Mapping) else None
    return isinstance(value, int) and 0 < value < below
