"""One walk for all admin requests: who is to answer each item, one request for each of them, again.

A `Call` says how items become a request and how an answer becomes a value or an error for each.
Where it goes stands in `routes.ROUTES`. The walk looks up who that is, asks each node once for all
of its items, keeps what is settled, and looks up again what somebody else must answer or nobody
answered, with backoff, until the time is up; an item that is left then has its last error.

Source: AdminApiDriver, PartitionLeaderStrategy, CoordinatorStrategy and KafkaAdminClient.Call at
4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.errors import is_retriable
from touchstone.reference_impl.wire.schema import Struct

from ..coordinator import GROUP, MOVED, TRANSACTION, Coordinator
from ..flow import (
    ANY,
    CONTROLLER,
    LATEST_VERSION,
    Ask,
    ClientError,
    Failed,
    Flow,
    KafkaError,
    TimedOut,
    TopicPartition,
    Unreachable,
    named,
)
from ..metadata import STALE, Tries, View, refresh
from .results import Results
from .routes import ROUTES, Where

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def itself(key: Any) -> Any:
    return key


@dataclass(frozen=True, slots=True)
class Call(Generic[K, V]):
    """How items are asked for and answers are read.

    `target` says of an item what its route wants to know (`Where`); with `alone` a request has
    room for one item only. `again` are codes that pass by themselves.
    """

    api: str
    body: Callable[[list[K]], Struct]
    read: Callable[[Struct, list[K]], Mapping[K, V | KafkaError]]
    target: Callable[[K], Any] = itself
    alone: bool = False
    again: frozenset[int] = frozenset()
    versions: tuple[int, int] = (0, LATEST_VERSION)


class _Nodes:
    """Who answers: what is known, how it is found, and which codes say that it is another."""

    elsewhere: frozenset[int] = frozenset()

    def __init__(self, view: View, give_up: int):
        self.view = view
        self.give_up = give_up

    def find(self, targets: Sequence[Any]) -> Flow[dict[Any, ClientError]]:
        """Learn who answers these; the errors of those that nobody can answer."""
        return {}
        yield

    def node(self, target: Any) -> int | str | None:
        """None while nobody is known."""
        return ANY

    def forget(self, target: Any) -> None:
        """Whoever was asked is not the one."""


class _Controller(_Nodes):
    # A broker of 1.0 that has just become the controller answers 14 while it loads.
    elsewhere = frozenset({E.NOT_CONTROLLER, E.COORDINATOR_LOAD_IN_PROGRESS})
    known = True

    def find(self, targets: Sequence[Any]) -> Flow[dict[Any, ClientError]]:
        if self.view.controller_id < 0 or not self.known:
            yield from refresh(self.view, [], timeout_ms=self.give_up - self.view.now)
            self.known = True
        return {}

    def node(self, target: Any) -> int | str | None:
        return CONTROLLER

    def forget(self, target: Any) -> None:
        self.known = False


class _Brokers(_Nodes):
    def find(self, targets: Sequence[Any]) -> Flow[dict[Any, ClientError]]:
        if any(self.view.resolve(target) is None for target in targets):
            yield from refresh(self.view, [], timeout_ms=self.give_up - self.view.now)
        return {
            target: KafkaError(E.BROKER_NOT_AVAILABLE, about=f"broker {target}")
            for target in targets
            if self.view.resolve(target) is None
        }

    def node(self, target: Any) -> int | str | None:
        return target


class _Leaders(_Nodes):
    elsewhere = STALE

    def __init__(self, view: View, give_up: int):
        super().__init__(view, give_up)
        self._stale: set[str] = set()

    def find(self, targets: Sequence[TopicPartition]) -> Flow[dict[Any, ClientError]]:
        unknown = {place[0] for place in targets if self.view.leader(*place) is None}
        wanted = sorted(unknown | self._stale)
        self._stale.clear()
        if not wanted:
            return {}
        errors = yield from refresh(self.view, wanted, timeout_ms=self.give_up - self.view.now)
        return {
            place: KafkaError(errors[place[0]], about=named(place))
            for place in targets
            if place[0] in errors and not is_retriable(errors[place[0]])
        }

    def node(self, target: TopicPartition) -> int | str | None:
        leader = self.view.leader(*target)
        return leader.leader if leader else None

    def forget(self, target: TopicPartition) -> None:
        self._stale.add(target[0])


class _Coordinators(_Nodes):
    elsewhere = MOVED
    kind = GROUP

    def __init__(self, view: View, give_up: int):
        super().__init__(view, give_up)
        self._known: dict[str, Coordinator] = {}

    def find(self, targets: Sequence[str]) -> Flow[dict[Any, ClientError]]:
        errors: dict[Any, ClientError] = {}
        for target in targets:
            fresh = Coordinator(self.view, target, self.kind)
            try:
                yield from self._known.setdefault(target, fresh).find(self.give_up)
            except ClientError as error:
                errors[target] = error
        return errors

    def node(self, target: str) -> int | str | None:
        return self._known[target].node

    def forget(self, target: str) -> None:
        self._known[target].forget()


class _TransactionCoordinators(_Coordinators):
    kind = TRANSACTION


_NODES: dict[Where, type[_Nodes]] = {
    Where.ANY: _Nodes,
    Where.CONTROLLER: _Controller,
    Where.BROKER: _Brokers,
    Where.LEADER: _Leaders,
    Where.GROUP: _Coordinators,
    Where.TRANSACTION: _TransactionCoordinators,
}
_LOADS = frozenset({E.COORDINATOR_LOAD_IN_PROGRESS})


def carry_out(
    view: View, call: Call[K, V], keys: Iterable[K], *, timeout_ms: int
) -> Flow[Results[K, V]]:
    """The value or error of each item, each once; returns when all are settled or time is up."""
    walk = _Walk(view, call, list(dict.fromkeys(keys)), timeout_ms)
    while walk.left:
        yield from walk.round()
    return Results({key: walk.settled[key] for key in walk.keys})


def _timed_out(last: ClientError) -> ClientError:
    return TimedOut(last) if isinstance(last, KafkaError) else last


class _Walk(Generic[K, V]):
    def __init__(self, view: View, call: Call[K, V], keys: list[K], timeout_ms: int):
        self.call = call
        self.keys = keys
        self.left = list(keys)
        self.settled: dict[K, V | ClientError] = {}
        self._view = view
        self._timeout_ms = timeout_ms
        self._tries = Tries(view, view.now + timeout_ms)
        self._nodes = _NODES[ROUTES[call.api]](view, view.now + timeout_ms)
        self._again = self._nodes.elsewhere | call.again
        if isinstance(self._nodes, _Coordinators):
            self._again |= _LOADS

    def round(self) -> Flow[None]:
        """Ask for all that is left, once."""
        yield from self._look_up()
        later: dict[K, ClientError] = {}
        batches = self._batches(later)
        asks = [self._ask(node, keys) for node, keys in batches]
        outcomes = (yield asks) if asks else []
        for (_, keys), outcome in zip(batches, outcomes, strict=True):
            if isinstance(outcome, Failed):
                self._fail(keys, Unreachable(outcome), later)
            else:
                self._take(keys, outcome.body, later)
        self.left = [key for key in self.left if key in later]
        if self.left:
            try:
                yield from self._tries.again(later[self.left[0]])
            except ClientError:
                self.settled |= {key: _timed_out(error) for key, error in later.items()}
                self.left = []

    def _look_up(self) -> Flow[None]:
        targets = list(dict.fromkeys(self.call.target(key) for key in self.left))
        try:
            errors = yield from self._nodes.find(targets)
        except Unreachable as error:
            errors = dict.fromkeys(targets, error)
        lost = {key: self.call.target(key) for key in self.left if self.call.target(key) in errors}
        self.settled |= {key: errors[target] for key, target in lost.items()}
        self.left = [key for key in self.left if key not in lost]

    def _batches(self, later: dict[K, ClientError]) -> list[tuple[int | str, list[K]]]:
        """Node and items of each request to come."""
        batches: dict[Hashable, tuple[int | str, list[K]]] = {}
        for key in self.left:
            target = self.call.target(key)
            node = self._nodes.node(target)
            if node is None:
                later[key] = KafkaError(E.LEADER_NOT_AVAILABLE, about=str(target))
                continue
            apart = key if self.call.alone else None
            batches.setdefault((node, apart), (node, []))[1].append(key)
        return list(batches.values())

    def _ask(self, node: int | str, keys: list[K]) -> Ask:
        timeout = min(self._timeout_ms, self._view.patience_ms) + 5_000
        return Ask(node, self.call.api, self.call.body(keys), timeout, self.call.versions)

    def _fail(self, keys: list[K], error: Unreachable, later: dict[K, ClientError]) -> None:
        for key in keys:
            if error.final:
                self.settled[key] = error
            else:
                later[key] = error
                self._nodes.forget(self.call.target(key))

    def _take(self, keys: list[K], body: Struct, later: dict[K, ClientError]) -> None:
        read = self.call.read(body, keys)
        for key in keys:
            found: V | ClientError
            if key in read:
                found = read[key]
            else:
                found = KafkaError(E.UNKNOWN_SERVER_ERROR, "the answer leaves it out", str(key))
            if isinstance(found, KafkaError) and found.code in self._again:
                later[key] = found
                if found.code in self._nodes.elsewhere:
                    self._nodes.forget(self.call.target(key))
            else:
                self.settled[key] = found


class AdminCore:
    """What the parts of the admin client have in common; `timeout_ms` is for each call."""

    def __init__(self, view: View, *, timeout_ms: int = 30_000):
        self.view = view
        self.timeout_ms = timeout_ms

    def _carry_out(self, call: Call[K, V], keys: Iterable[K]) -> Flow[Results[K, V]]:
        return (yield from carry_out(self.view, call, keys, timeout_ms=self.timeout_ms))

    def _once(self, call: Call[str, V]) -> Flow[V]:
        """A call that is about one thing only; raises its error."""
        results = yield from self._carry_out(call, [call.api])
        return results.all()[call.api]

    def _brokers(self) -> Flow[list[int]]:
        """The ids of all brokers, as Metadata has them now."""
        yield from refresh(self.view, [], timeout_ms=self.timeout_ms)
        return sorted(node for node in self.view.addresses if node >= 0)
