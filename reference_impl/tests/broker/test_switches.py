"""Every planted defect is planted, by a table outside the code that it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from touchstone.reference_impl.broker.faults.switches import (
    FUZZ_SWITCHES,
    LISTENER_SWITCHES,
    SWITCHES,
)
from touchstone.reference_impl.tests.broker.one_broker import OneBroker

SOURCE = Path(__file__).resolve().parents[2]


def test_every_switch_is_planted_by_a_table_and_read_nowhere_else():
    tables = set((SOURCE / "broker" / "defects").glob("*.py"))
    lists = ("known", "fuzz", "streams", "quota", "security", "listener", "value")
    names = {SOURCE / "broker" / "faults" / f"{name}_faults.py" for name in lists}
    names.add(SOURCE / "broker" / "faults" / "switches.py")
    switches = SWITCHES | FUZZ_SWITCHES | LISTENER_SWITCHES
    planted = "".join(path.read_text() for path in tables)
    assert [name for name in switches if f'"{name}"' not in planted] == []
    for room in ("broker", "group", "log", "cluster", "io", "txn", "share"):
        for path in {*(SOURCE / room).rglob("*.py")} - tables - names:
            code = path.read_text()
            assert [name for name in switches if f'"{name}"' in code] == [], path


@pytest.mark.parametrize("release", ["2.8", "4.3"])
def test_the_planted_controller_takes_any_name(release):
    codes = []
    for switches in ((), ("topic-created-without-validation",)):
        broker = OneBroker(release, switches=switches)
        topic = {"name": "a b", "num_partitions": 1, "replication_factor": 1}
        body = {"topics": [topic], "timeout_ms": 1000}
        codes.append(broker.ask("CreateTopics", 4, body)["topics"][0]["error_code"])
    assert codes == [17, 0]
