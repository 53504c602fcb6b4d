"""A broker spoils the requests that its fault plan picks.

Before the handler: a rule may keep the request from being carried out at all. After it: whatever
the request comes to, at once or when a wait for it ends, passes here once, and the rule's way of
spoiling it takes its place. One request of a connection is in work at a time (WIRE-10), so the
connection tells which rule is due.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from touchstone.reference_impl.broker.effects import (
    Ask,
    Close,
    Connection,
    Effect,
    Reply,
    Request,
    Unmute,
)
from touchstone.reference_impl.broker.faults.fault_plan import Plan, RequestView, Rule

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker


class FaultInjector:
    """The requests of one broker that are in work and shall not end well."""

    def __init__(self, broker: Broker, plan: Plan) -> None:
        self._broker = broker
        self.plan = plan
        self._due: dict[Connection, tuple[Rule, Request]] = {}
        # The one answer that a connection waits for, with the rule that holds it back.
        self._held: dict[Connection, tuple[Rule, tuple[str, int]]] = {}
        self._late = 0

    def __bool__(self) -> bool:
        return bool(self.plan) or bool(self._due)

    def before(self, request: Request) -> list[Effect] | None:
        """The effects that take the place of carrying the request out; None: go on."""
        header = request.header
        self._due.pop(request.connection, None)
        self._held.pop(request.connection, None)
        asked = RequestView(
            self._broker.id, header.key, header.version, header.client_id, request.body,
            getattr(request.connection, "sender", None) is not None, self._name_of,
        )  # fmt: skip
        rule = self.plan.pick(asked)
        if rule is None:
            return None
        if rule.carries_out:
            self._due[request.connection] = rule, request
            return None
        return _WAYS[rule.action](self, rule, request, Unmute(request.connection))

    def after(self, effects: list[Effect]) -> list[Effect]:
        """The same effects, with those of requests that are due spoiled."""
        found: list[Effect] = []
        for effect in effects:
            due = None if isinstance(effect, Ask) else self._due.pop(effect.connection, None)
            if due is None:
                found.append(effect)
            else:
                rule, request = due
                found += _WAYS[rule.action](self, rule, request, effect)
        return found

    def closed(self, connection: Connection) -> None:
        self._due.pop(connection, None)
        held = self._held.pop(connection, None)
        if held is not None:
            self._broker.purgatory.forget_alarm(held[1])

    def release(self) -> int:
        """Give at the next tick what rules held back that are in force no more; how many answers
        that are.
        """
        free = [one for one, (rule, _) in self._held.items() if not self.plan.holds(rule)]
        for connection in free:
            self._broker.purgatory.hurry(self._held.pop(connection)[1])
        return len(free)

    def _name_of(self, topic_id: bytes) -> str | None:
        topic = self._broker.cluster.by_id.get(topic_id)
        return None if topic is None else topic.name

    # --- the ways: the effects in place of one ------------------------------------------------

    def _error(self, rule: Rule, request: Request, effect: Effect) -> list[Effect]:
        return [self._broker.refuse(request, rule.code)]

    def _delay(self, rule: Rule, request: Request, effect: Effect) -> list[Effect]:
        self._late += 1
        key = ("late answer", self._late)
        self._held[request.connection] = rule, key
        self._broker.later(key, rule.ms, effect)
        return []

    def _drop(self, rule: Rule, request: Request, effect: Effect) -> list[Effect]:
        return []

    def _close(self, rule: Rule, request: Request, effect: Effect) -> list[Effect]:
        return [Close(request.connection, "the fault plan says so")]

    def _truncate(self, rule: Rule, request: Request, effect: Effect) -> list[Effect]:
        return _changed(effect, lambda frame: frame[: rule.keep])

    def _corrupt(self, rule: Rule, request: Request, effect: Effect) -> list[Effect]:
        def turned(frame: bytes) -> bytes:
            at = rule.at % len(frame)
            return frame[:at] + bytes((frame[at] ^ 0xFF,)) + frame[at + 1 :]

        return _changed(effect, turned)


def _changed(effect: Effect, change: Callable[[bytes], bytes]) -> list[Effect]:
    """Only an answer has bytes; an end without one stays what it is."""
    if not isinstance(effect, Reply):
        return [effect]
    return [Reply(effect.connection, (change(b"".join(map(bytes, effect.parts))),))]


_WAYS: dict[str, Callable[[FaultInjector, Rule, Request, Effect], list[Effect]]] = {
    "error": FaultInjector._error,
    "delay": FaultInjector._delay,
    "drop": FaultInjector._drop,
    "close": FaultInjector._close,
    "truncate": FaultInjector._truncate,
    "corrupt": FaultInjector._corrupt,
}
