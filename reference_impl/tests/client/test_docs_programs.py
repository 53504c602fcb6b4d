"""The programs of docs/howto/client.md: ten lines each, and they run as they stand."""

import re
from pathlib import Path

import pytest

import touchstone.reference_impl
from touchstone.reference_impl.io.server import serve

PAGE = Path(touchstone.reference_impl.__file__).resolve().parents[1] / "docs/howto/client.md"
PROGRAMS = dict(re.findall(r"```python title=\"(.*?)\"\n(.*?)```", PAGE.read_text(), re.S))


@pytest.fixture(scope="module")
def bootstrap():
    with serve(brokers=1, config={"group.initial.rebalance.delay.ms": "0"}) as cluster:
        yield ",".join(cluster.bootstrap)


def said(capsys, name: str, bootstrap: str) -> list[str]:
    exec(compile(PROGRAMS[name], name, "exec"), {"bootstrap": bootstrap})
    return capsys.readouterr().out.splitlines()


@pytest.mark.slow
def test_they_run_and_say_what_they_did(capsys, bootstrap):
    assert PROGRAMS.keys() == {"administer.py", "produce.py", "consume.py"}
    errors, retention, offsets = said(capsys, "administer.py", bootstrap)
    assert errors == "{'bills': KafkaError('bills: UNKNOWN_TOPIC_OR_PARTITION')}"
    assert retention == "orders 86400000"
    assert offsets == "{('orders', 0): OffsetAndTimestamp(offset=0, timestamp=-1)}"
    produced = said(capsys, "produce.py", bootstrap)
    consumed = [line.split()[:2] for line in said(capsys, "consume.py", bootstrap)]
    assert consumed == [line.split() for line in produced] and len(produced) == 3


@pytest.mark.parametrize("name", PROGRAMS)
def test_they_are_ten_lines(name):
    lines = [line for line in PROGRAMS[name].splitlines() if line.strip()]
    assert len(lines) <= 10
