"""Brokers come and go, and this module says what has to happen before one may.

A broker that was killed or frozen keeps its session for a while and is given up when it ends; one
that stops in order asks the controller to take its leaders first, again and again while some stay
with it; one that starts waits until the session of its former life is over, as Kafka's retry of a
refused registration amounts to. Time is an argument: `deadline` says when `tick` has work, `tick`
says what came of it, and whoever runs the brokers acts on that.

Sources: BRK-30..32, CTL-23; KafkaServer.controlledShutdown@1.0.2, 2.8.2 (retries, backoff);
BrokerLifecycleManager@3.9.2 (registration is retried while another incarnation is alive).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import NamedTuple

from touchstone.reference_impl.cluster.controller import Controller
from touchstone.reference_impl.cluster.sessions import Sessions

REGISTRY = 100  # ZooKeeper or the quorum, as an end of links that can be cut


class Event(Enum):
    MAY_START = "its old session is over, it can register"
    MAY_GO = "the controller has done what it can, the broker can end"


class MembershipEvent(NamedTuple):
    event: Event
    broker: int


@dataclass(frozen=True, slots=True)
class MembershipRules:
    session_ms: int = 9_000
    shutdown_tries: int = 3  # controlled.shutdown.max.retries; 0 where it is not enabled
    shutdown_backoff_ms: int = 5_000  # controlled.shutdown.retry.backoff.ms
    balance_ms: int = 0  # leader.imbalance.check.interval.seconds; 0 for never
    first_balance_ms: int = 5_000  # a ZooKeeper controller's first look comes sooner (CTL-23)


Answered = Callable[[Sequence[object] | None, int], None]
AskToStop = Callable[[int, int, Answered], None]
_UNANSWERED = 1 << 62


class Membership:
    """`ask(broker, now, answered)` has a broker ask for its shutdown; `answered` gets what the
    broker still leads, or None where the controller said nothing, or no."""

    def __init__(self, controller: Controller, rules: MembershipRules) -> None:
        self.controller = controller
        self.rules = rules
        self.sessions = Sessions(rules.session_ms)
        self._clean: set[int] = set()  # ended in order: their logs are whole (KIP-966)
        self._starting: list[int] = []
        self._stopping: dict[int, tuple[int, int]] = {}  # broker -> (tries left, next at)
        self._balance_at: int | None = None
        self.ask: AskToStop = self._ask_at_once

    # --- what happens to brokers ------------------------------------------------------------

    def began(self, now: int) -> None:
        """The cluster runs: the controller looks after leaders from now on."""
        if self.rules.balance_ms:
            self._balance_at = now + min(self.rules.first_balance_ms, self.rules.balance_ms)

    def killed(self, broker: int, now: int) -> None:
        """The broker ended without a word, or is silent from now on."""
        self._stopping.pop(broker, None)
        self._clean.discard(broker)
        if self.controller.alive(broker):
            self.sessions.silent(broker, now)
            if broker == self.controller.cluster.controller_id:
                self.controller.set_reachable(False)

    def resumed(self, broker: int) -> None:
        """The broker speaks again; if it was given up meanwhile, it registers anew (BRK-31)."""
        if self.sessions.lasts(broker):
            self.sessions.spoke(broker)
            if broker == self.controller.cluster.controller_id:
                self.controller.set_reachable(True)
        elif not self.controller.alive(broker):
            self.join(broker, clean=True)

    def stop(self, broker: int, now: int) -> None:
        """The broker wants to end; `tick` says when it may."""
        self._stopping[broker] = self.rules.shutdown_tries, now

    def ended(self, broker: int) -> None:
        """The broker closed its session itself: everybody knows at once."""
        self._clean.add(broker)
        self.sessions.spoke(broker)
        self.controller.left(broker)

    def start(self, broker: int) -> None:
        """The broker wants to come back; `tick` says when it may."""
        self._starting.append(broker)

    def join(self, broker: int, *, clean: bool | None = None) -> None:
        """Register the broker. `clean` says how it had ended, None: as far as is known here."""
        known = broker in self._clean
        self._clean.discard(broker)
        self.controller.register(broker)
        self.controller.joined(broker, clean=known if clean is None else clean)

    # --- time -------------------------------------------------------------------------------

    def deadline(self) -> int | None:
        """When `tick` has something to do: an instant, 0 for at once, None for never."""
        if any(not self.sessions.lasts(broker) for broker in self._starting):
            return 0
        instants = [at for _, at in self._stopping.values() if at != _UNANSWERED]
        instants += [at for at in (self.sessions.deadline(), self._balance_at) if at is not None]
        return min(instants, default=None)

    def tick(self, now: int) -> list[MembershipEvent]:
        for broker in self.sessions.ended(now):
            self.controller.left(broker)
        happened = [*self._shutdowns(now)]
        for broker in [b for b in self._starting if not self.sessions.lasts(b)]:
            self._starting.remove(broker)
            happened.append(MembershipEvent(Event.MAY_START, broker))
        if self._balance_at is not None and self._balance_at <= now:
            self._balance_at = now + self.rules.balance_ms
            self.controller.balance()
        return happened

    def _shutdowns(self, now: int) -> list[MembershipEvent]:
        done = []
        for broker, (tries, at) in list(self._stopping.items()):
            if at > now:
                continue
            self._stopping[broker] = 0, now
            if tries:
                self._stopping[broker] = tries, _UNANSWERED
                self.ask(broker, now, partial(self._answered, broker, tries))
            if self._stopping[broker] == (0, now):
                del self._stopping[broker]
                done.append(MembershipEvent(Event.MAY_GO, broker))
        return done

    def _ask_at_once(self, broker: int, now: int, answered: Answered) -> None:
        answered(self.controller.shutdown(broker), now)

    def _answered(
        self, broker: int, tries: int, remaining: Sequence[object] | None, now: int
    ) -> None:
        if self._stopping.get(broker) != (tries, _UNANSWERED):
            return  # it was killed meanwhile
        again = tries > 1 and (remaining is None or len(remaining) > 0)
        after = now + self.rules.shutdown_backoff_ms
        self._stopping[broker] = (tries - 1, after) if again else (0, now)
