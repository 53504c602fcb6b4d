"""What a workload promises: every client has a turn, and each one's counts are kept."""

from __future__ import annotations

import threading

from touchstone.harness.driver.workload import Plan
from touchstone.harness.driver.workload.member import Member
from touchstone.harness.driver.workload.recorder import Recorder
from touchstone.harness.model import history as histories
from touchstone.reference_impl.client.flow import ClientError

NOWHERE = Plan(("127.0.0.1:1",), ("t",), pause_s=0.0)


class Fails(Member):
    """Its cluster is never well."""

    turns = 0

    def begin(self, client) -> None:
        pass

    def turn(self) -> None:
        self.turns += 1
        raise ClientError("not now")


def test_who_comes_late_has_a_turn_all_the_same():
    over = threading.Event()
    over.set()
    late = Fails("late", NOWHERE, None, over)
    late.run()
    assert (late.turns, late.fault) == (1, None)


def test_what_was_done_is_counted_and_whose_and_can_be_read_meanwhile(tmp_path):
    path = tmp_path / "h.jsonl"
    recorder = Recorder(path, NOWHERE.promised)
    for process in ("a", "a", "b"):
        asked = {"topic": "t", "partition": 0, "value": process, "acks": -1}
        recorder.end(recorder.begin(process, "send", **asked), offset=7)
    assert [recorder.counts[what] for what in ("send ok", "a send ok", "b send ok")] == [3, 2, 1]
    with path.open(encoding="utf-8") as lines:
        assert len(histories.read(lines, str(path)).operations) == 3
    recorder.close()
