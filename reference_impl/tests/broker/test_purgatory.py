"""The purgatory: each request answered exactly once, whichever comes first (APPEND-24)."""

from __future__ import annotations

from types import SimpleNamespace

from touchstone.reference_impl.broker.effects import NEVER, Connection, Wait
from touchstone.reference_impl.broker.purgatory import ANY, Purgatory
from touchstone.reference_impl.ticket import Ticket


def parked(purgatory: Purgatory, name: str, deadline: int, *keys: str, ready: list | None = None):
    """A request that is answered once `ready` is not empty."""
    request = SimpleNamespace(name=name, connection=Connection(0))
    waits = Wait(deadline, keys, lambda now: "done" if ready else None, lambda _: "late")
    purgatory.park(waits, request)
    return request


def names(answers) -> list[tuple[str, str]]:
    return [(request.name, answer) for request, answer in answers]


def test_a_touch_attempts_only_what_watches_the_key():
    purgatory, ready = Purgatory(), ["yes"]
    parked(purgatory, "a", 10, "x", ready=ready)
    parked(purgatory, "b", 10, "y", ready=ready)
    purgatory.touch("x")
    assert names(purgatory.settle(1)) == [("a", "done")]
    assert names(purgatory.settle(1)) == []


def test_an_attempt_may_fail_and_be_repeated():
    purgatory, ready = Purgatory(), []
    parked(purgatory, "a", 10, "x", ready=ready)
    purgatory.touch("x")
    assert names(purgatory.settle(1)) == []
    ready.append("yes")
    purgatory.touch("x")
    assert names(purgatory.settle(2)) == [("a", "done")]
    assert names(purgatory.expire(99)) == []


def test_time_answers_in_order_of_deadlines():
    purgatory = Purgatory()
    parked(purgatory, "late", 20, "x")
    parked(purgatory, "soon", 10, "x")
    assert purgatory.deadline() == 10
    assert names(purgatory.expire(10)) == [("soon", "late")]
    assert names(purgatory.expire(20)) == [("late", "late")]
    assert purgatory.deadline() is None


def test_the_oldest_request_is_answered_first():
    purgatory, ready = Purgatory(), ["yes"]
    for name in "abc":
        parked(purgatory, name, 10, "x", ready=ready)
    purgatory.touch("x")
    assert names(purgatory.settle(1)) == [("a", "done"), ("b", "done"), ("c", "done")]


def test_a_peer_that_left_gets_nothing():
    purgatory = Purgatory()
    request = parked(purgatory, "a", 10, "x", ready=["yes"])
    purgatory.drop(request.connection)
    purgatory.touch("x")
    assert names(purgatory.settle(1)) == names(purgatory.expire(99)) == []


def test_a_ticket_wakes_its_own_request_and_no_other():
    purgatory, tickets = Purgatory(), [Ticket(), Ticket()]
    for name, ticket in zip("ab", tickets, strict=True):
        request = SimpleNamespace(name=name, connection=Connection(0))
        answer = lambda now, ticket=ticket: ticket.answer  # noqa: E731
        purgatory.park(Wait(NEVER, (), answer, answer, ticket), request)
    assert names(purgatory.settle(1)) == [] and purgatory.deadline() is None
    tickets[1].give({"error_code": 0})
    assert purgatory.deadline() == 0
    assert names(purgatory.settle(1)) == [("b", {"error_code": 0})]
    assert names(purgatory.expire(NEVER - 1)) == [] and len(purgatory) == 1


def test_far_deadlines_of_answered_requests_do_not_pile_up():
    purgatory = Purgatory()
    for number in range(5000):
        request = parked(purgatory, str(number), 2**60, "x")
        purgatory.drop(request.connection)
    assert len(purgatory._deadlines) < 200
    assert not purgatory._watched


def test_who_watches_any_key_is_asked_at_every_touch():
    purgatory, ready = Purgatory(), ["yes"]
    parked(purgatory, "a", 10, ANY, ready=ready)
    purgatory.touch("x")
    assert names(purgatory.settle(1)) == [("a", "done")]


def test_touches_are_told_once_each_in_their_order_to_whoever_remembers_a_place():
    purgatory = Purgatory()
    purgatory.touch("before")
    place = purgatory.touches
    for key in "yxyz":
        purgatory.touch(key)
    assert list(purgatory.since(place)) == ["y", "x", "z"]
    assert list(purgatory.since(purgatory.touches)) == []


def test_touches_of_long_ago_are_forgotten_and_it_is_told_so():
    purgatory = Purgatory()
    for number in range(100_000):
        purgatory.touch(number)
    assert purgatory.touches == 100_000
    assert purgatory.since(0) is None
    assert list(purgatory.since(99_000)) == list(range(99_000, 100_000))
