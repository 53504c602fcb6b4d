"""One broker that says nothing does not use up the time that there is to ask the others."""

from touchstone.reference_impl.client.flow import Failed
from touchstone.reference_impl.client.metadata import View, refresh


def test_a_silent_broker_is_waited_for_no_longer_than_the_caller_has():
    view = View([("a", 1), ("b", 2)], now=0)
    flow = refresh(view, ["t"], timeout_ms=2_000)
    (ask,) = flow.send(None)
    assert ask.timeout_ms == 2_000


def test_the_next_broker_is_asked_while_there_is_time():
    view = View([("a", 1), ("b", 2)], now=0)
    view.patience_ms = 500
    flow = refresh(view, ["t"], timeout_ms=2_000)
    (ask,) = flow.send(None)
    assert ask.timeout_ms == 500
    view.now = 500
    pause = flow.send([Failed(ask, "timeout", "silent")])
    view.now = pause.until
    (again,) = flow.send([])
    assert again.timeout_ms == 500
