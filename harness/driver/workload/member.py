"""One client of a workload: a thread with its own connections, and a name in the history.

A member that meets an error of the cluster notes it and goes on; one that raises anything else is
a mistake of ours, kept in `fault` for whoever runs the workload, never turned into an outcome.
"""

from __future__ import annotations

import threading
from random import Random
from typing import TYPE_CHECKING

from touchstone.harness.driver.workload.recorder import Recorder
from touchstone.harness.targets import reach
from touchstone.reference_impl.client.flow import ClientError
from touchstone.reference_impl.io.client import Client

if TYPE_CHECKING:
    from touchstone.harness.driver.workload.workload import Plan

CONNECT_S = 2.0


class Member(threading.Thread):
    """`turn` is done once, and again and again until `over` is set."""

    def __init__(self, name: str, plan: Plan, recorder: Recorder, over: threading.Event) -> None:
        super().__init__(name=name, daemon=True)
        self.plan, self.recorder, self.over = plan, recorder, over
        self.random = Random(f"{plan.seed}/{name}")
        self.fault: BaseException | None = None

    def client(self) -> Client:
        seed = self.random.randrange(1 << 30)
        return Client(
            self.plan.bootstrap, reach.client_properties(self.plan.bootstrap),
            client_id=self.name, seed=seed, connect_timeout_s=CONNECT_S,
        )  # fmt: skip

    def run(self) -> None:
        try:
            with self.client() as client:
                self.begin(client)
                self._turn()  # also of one that comes late: a short run says something of everybody
                while not self.over.is_set():
                    self._turn()
        except BaseException as fault:
            self.fault = fault

    def _turn(self) -> None:
        try:
            self.turn()
        except ClientError:
            self.over.wait(self.plan.pause_s)  # the cluster is not well; try again

    def begin(self, client: Client) -> None:
        """What is made once, with this thread's client."""
        raise NotImplementedError

    def turn(self) -> None:
        """One round of work. A ClientError that leaves it has been noted."""
        raise NotImplementedError
