"""A thread of a soak's client: it works until `over`, and notes what only a cluster does to it."""

from __future__ import annotations

import threading
import traceback
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random

from touchstone.harness.checkers.soaks.group_ledger import GroupLedger
from touchstone.harness.checkers.soaks.log_ledger import LogLedger
from touchstone.harness.driver.soak.plan import SoakPlan
from touchstone.reference_impl.client.defects.planting import Defect
from touchstone.reference_impl.client.flow import ClientError
from touchstone.reference_impl.io.client import Client

AGAIN_S = 0.1


@dataclass(slots=True)
class Shared:
    """What all threads have; `lock` is held while a ledger is told or asked."""

    plan: SoakPlan
    log: LogLedger
    groups: dict[str, GroupLedger]
    login: Mapping[str, str] = field(default_factory=dict)  # properties of every client
    errors: Counter[str] = field(default_factory=Counter)  # how often a call raised what
    findings: list[str] = field(default_factory=list)  # that no ledger sees
    lock: threading.RLock = field(default_factory=threading.RLock)
    sending_is_over: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)

    def client(self, name: str = "soak") -> Client:
        """A client of the cluster; whoever asks for it closes it."""
        return Client(self.plan.bootstrap, self.login, client_id=name)

    def note(self, error: BaseException) -> None:
        with self.lock:
            self.errors[str(getattr(error, "name", type(error).__name__))] += 1


class Role(threading.Thread):
    """`turn` until `until` is set; a ClientError is counted and tried again. `fault` is ours."""

    def __init__(self, name: str, shared: Shared, until: threading.Event) -> None:
        super().__init__(name=name, daemon=True)
        self.shared, self.plan, self.until = shared, shared.plan, until
        self.random = Random(f"{shared.plan.seed}/{name}")
        self.fault = ""

    def run(self) -> None:
        try:
            self.begin()
            while not self.until.is_set():
                try:
                    self.turn()
                except ClientError as error:
                    self.shared.note(error)
                    self.until.wait(AGAIN_S)
            self.end()
        except BaseException:
            self.fault = traceback.format_exc()

    def plant(self, core: object, table: Iterable[Defect]) -> None:
        """Give this core those of the plan's defects that are in the table."""
        for each in table:
            if each.name in self.plan.defects:
                each.plant(core)

    def begin(self) -> None:
        """Before the first turn."""

    def turn(self) -> None:
        raise NotImplementedError

    def end(self) -> None:
        """After the last turn."""
