"""Runs a flow by hand: a function answers its asks, time passes only where it says so."""

from collections.abc import Callable
from typing import Any

from touchstone.reference_impl.client.flow import (
    Answer,
    Ask,
    Failed,
    Flow,
    Inbox,
    NetworkPoll,
    Outcome,
    Pause,
)
from touchstone.reference_impl.client.metadata import View

Script = Callable[[Ask], dict[str, Any] | Failed]


def brokers(*nodes: int) -> list[dict[str, Any]]:
    return [{"node_id": n, "host": "h", "port": 9000 + n, "rack": None} for n in nodes]


def topic(name: str, *leaders: int, epoch: int = 0, id_: bytes = bytes(16), error: int = 0) -> dict:
    return {
        "error_code": error,
        "name": name,
        "topic_id": id_,
        "is_internal": False,
        "partitions": [
            {
                "error_code": 0 if leader >= 0 else 5,
                "partition_index": i,
                "leader_id": leader,
                "leader_epoch": epoch,
                "replica_nodes": [leader],
                "isr_nodes": [leader],
            }
            for i, leader in enumerate(leaders)
        ],
    }


def metadata(*topics: dict[str, Any], nodes: tuple[int, ...] = (0, 1), controller: int = 0) -> dict:
    return {"brokers": brokers(*nodes), "controller_id": controller, "topics": list(topics)}


def view(*topics: dict[str, Any], now: int = 1_000_000) -> View:
    made = View([("boot", 1)], now)
    if topics:
        made.update(metadata(*topics))
    return made


class Runner:
    """Keeps what was asked and how long the flow paused; each round trip costs `trip_ms`."""

    def __init__(self, seen: View, script: Script, *, trip_ms: int = 1, most: int = 500):
        self.view = seen
        self.script = script
        self.trip_ms = trip_ms
        self.most = most
        self.asks: list[Ask] = []
        self.pauses: list[int] = []
        self.under_way: list[tuple[Ask, Inbox]] = []
        self.most_under_way = 0

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
            if isinstance(wanted, NetworkPoll):
                self._poll(wanted)
                given = []
                continue
            given = self._answers(wanted)

    def _answers(self, asks: list[Ask]) -> list[Outcome]:
        assert len(self.asks) < self.most, "the flow never ends"
        self.asks += asks
        self.view.now += self.trip_ms
        return [self._answer(ask) for ask in asks]

    def _poll(self, wanted: NetworkPoll) -> None:
        """An instant that has come brings no answers; otherwise all that are out arrive at once.

        Brokers see a request when its answer arrives; what was sent and not answered they have not.
        """
        self.under_way += [(ask, wanted.inbox) for ask in wanted.asks]
        self.most_under_way = max(self.most_under_way, len(self.under_way))
        if wanted.inbox or wanted.until <= self.view.now:
            return
        if self.under_way and self.view.now + self.trip_ms <= wanted.until:
            arrived, self.under_way = self.under_way, []
            outcomes = self._answers([ask for ask, _ in arrived])
            cut: set[int | str] = set()
            for (_, inbox), outcome in zip(arrived, outcomes, strict=True):
                if outcome.ask.node in cut:  # what came after on that connection went with it
                    outcome = Failed(outcome.ask, "closed", "the connection was cut")
                elif isinstance(outcome, Failed) and outcome.kind in ("closed", "timeout"):
                    cut.add(outcome.ask.node)
                inbox.append(outcome)
        else:
            self.pauses.append(wanted.until - self.view.now)
            self.view.now = wanted.until

    def _answer(self, ask: Ask) -> Answer | Failed:
        said = self.script(ask)
        return said if isinstance(said, Failed) else Answer(ask, ask.versions[1], said)

    def sent(self, api: str) -> list[Ask]:
        """The requests that were answered and those under way."""
        return self.asked(api) + [ask for ask, _ in self.under_way if ask.api == api]

    def asked(self, api: str) -> list[Ask]:
        return [ask for ask in self.asks if ask.api == api]
