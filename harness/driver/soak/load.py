"""`python -m touchstone.harness.driver.soak.load PLAN`: our client at work, and nothing else.

How it logs in stands in the first line of its standard input, as JSON of a client's properties:
arguments of a process are everybody's to read.

Says what it came to in a line of JSON every second (`counts`, `errors`, new `findings`, `open`
records; `object_bytes`, looked up every few seconds), until another line there asks it to finish:
then senders end, readers read to the end of every partition, and the last line has `finished`. An
end of its input ends it at once. Exit code 0, or 2 with the stack where a thread failed by a
mistake of ours.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from touchstone.harness.checkers.soaks.group_ledger import GroupLedger
from touchstone.harness.checkers.soaks.log_ledger import LogLedger
from touchstone.harness.driver.object_sizes import object_sizes
from touchstone.harness.driver.soak import plan as plans
from touchstone.harness.driver.soak.following import Following
from touchstone.harness.driver.soak.grouped import Grouped
from touchstone.harness.driver.soak.role import Role, Shared
from touchstone.harness.driver.soak.sending import Sending
from touchstone.reference_impl.client.flow import ClientError

SAYS_EVERY_S = 1.0
LOOKS_EVERY_S = 5.0  # at what its objects take, which costs a tenth of a second of CPU
FINISH_S = 240.0  # for a delivery that is under way (120 s), and the reading to the end


class Load:
    def __init__(self, plan: plans.SoakPlan, login: Mapping[str, str]) -> None:
        groups = {name: GroupLedger(f"{plan.topic}-{name}", plan.places) for name in plan.protocols}
        self.shared = Shared(plan, LogLedger(plan.places), groups, login)
        self.senders = [
            Sending(f"producer-{i}", self.shared, self.shared.sending_is_over)
            for i in range(plan.producers)
        ]
        self.reader = Following("reader", self.shared, self.shared.over)
        self.members = [
            Grouped(f"{protocol}-{i}", protocol, self.shared)
            for protocol in plan.protocols for i in range(plan.members)
        ]  # fmt: skip
        self._object_bytes, self._look_at = 0, 0.0

    @property
    def roles(self) -> list[Role]:
        return [*self.senders, self.reader, *self.members]

    @property
    def fault(self) -> str:
        return next((each.fault for each in self.roles if each.fault), "")

    def start(self) -> None:
        plan = self.shared.plan
        with self.shared.client() as client:
            client.admin.create_topic(plan.topic, plan.partitions, plan.replication)
        for each in self.roles:
            each.start()

    def finish(self) -> bool:
        """Whether everything was read to its end in time."""
        until = time.monotonic() + FINISH_S
        self.shared.sending_is_over.set()
        for sender in self.senders:
            sender.join(max(0.0, until - time.monotonic()))
        whole = _wait(self._is_read, until)
        self.shared.over.set()
        for reader in (self.reader, *self.members):
            reader.join(max(0.0, until - time.monotonic()))
        with self.shared.lock:
            self.shared.log.count_unread()
            for each in self.shared.groups.values():
                each.count_again()
        return whole and not any(each.is_alive() for each in self.roles)

    def _is_read(self) -> bool:
        if self.fault:
            return True
        try:
            ends = self.reader.ends()
        except ClientError:
            return False
        with self.shared.lock:
            read = all(at >= ends[place] for place, at in self.shared.log.next_offset.items())
            return read and not any(each.behind(ends) for each in self.shared.groups.values())

    def say(self, **more: Any) -> None:
        """A line for whoever started this; a finding stands in one line only."""
        shared, now = self.shared, time.monotonic()
        if now >= self._look_at:
            self._object_bytes, self._look_at = object_sizes().total(), now + LOOKS_EVERY_S
        with shared.lock:
            groups = shared.groups.values()
            findings = shared.log.findings + shared.findings
            findings = [*findings, *(text for each in groups for text in each.findings)]
            shared.findings, shared.log.findings = [], []
            for each in groups:
                each.findings = []
            row = {
                "counts": dict(shared.log.counts), "open": shared.log.open,
                "groups": {each.name: dict(each.counts) for each in groups},
                "errors": dict(shared.errors), "findings": findings,
                "object_bytes": self._object_bytes,
                "fault": self.fault, **more,
            }  # fmt: skip
        print(json.dumps(row), flush=True)


def _wait(look: Callable[[], bool], until: float) -> bool:
    while not look():
        if time.monotonic() > until:
            return False
        time.sleep(0.2)
    return True


def main(text: str) -> int:
    load = Load(plans.load(text), json.loads(sys.stdin.readline()))
    asked = threading.Event()

    def listen() -> None:
        if not sys.stdin.readline():
            os._exit(1)  # who asked for this is gone
        asked.set()

    load.start()
    threading.Thread(target=listen, daemon=True).start()
    while not asked.wait(SAYS_EVERY_S) and not load.fault:
        load.say()
    whole = not load.fault and load.finish()
    load.say(finished=True, whole=whole)
    return 2 if load.fault else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
