"""Runs consumers' flows by hand: what was sent ahead is answered when somebody looks for it.

`scripted.Runner` answers what a flow asks; here an `Exchange` may leave requests under way, whose
answers are made up when they are collected: a script that changes meanwhile changes them too.
"""

from typing import Any

from touchstone.reference_impl.client.flow import Answer, Ask, Exchange, Failed, Flow, Inbox, Pause
from touchstone.reference_impl.client.metadata import View

from . import scripted
from .scripted import Script


class Runner(scripted.Runner):
    """As `scripted.Runner`; `under_way` are the requests that nobody has answered yet."""

    def __init__(self, seen: View, script: Script, *, trip_ms: int = 1, most: int = 500):
        super().__init__(seen, script, trip_ms=trip_ms, most=most)
        self.under_way: list[tuple[Ask, Inbox]] = []  # type: ignore[assignment]

    def run(self, flow: Flow) -> Any:
        given: Any = None
        while True:
            try:
                wanted = flow.send(given)
            except StopIteration as end:
                return end.value
            if isinstance(wanted, Pause):
                self.pauses.append(wanted.until - self.view.now)
                assert self.pauses[-1] > 0, "a pause that does not pass is a busy loop"
                self.view.now = wanted.until
                given = []
                continue
            if isinstance(wanted, Exchange):
                self._exchange(wanted)
                given = []
                continue
            given = self._answers(wanted)

    def _answers(self, asks: list[Ask]) -> list[Answer | Failed]:
        assert len(self.asks) < self.most, "the flow never ends"
        self.asks += asks
        self.view.now += self.trip_ms
        return [self._answer(ask) for ask in asks]

    def _exchange(self, wanted: Exchange) -> None:
        """What is sent is answered by the next exchange at the latest; one that waits sees it now.

        Nothing under way, nothing to be sent: time passes.
        """
        self.under_way += ((ask, wanted.inbox) for ask in wanted.asks)
        waits = wanted.until > self.view.now and not wanted.inbox
        if waits and not self.under_way:
            self.pauses.append(wanted.until - self.view.now)
            self.view.now = wanted.until
        elif waits or not wanted.asks:
            given, self.under_way = self.under_way, []
            outcomes = self._answers([ask for ask, _ in given])
            for (_, inbox), outcome in zip(given, outcomes, strict=True):
                inbox.append(outcome)
