"""What a type checker knows of the public face, from a program outside of this tree.

`py.typed` promises that annotations are there and true. The program uses every public name and the
fixtures, is checked strictly, and may not contain an expression of type Any: a public method that
answers for every name, or for none, shows here before it shows to a user.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap

import pytest

import touchstone
from touchstone.checkout import ROOT

pytestmark = pytest.mark.slow  # a type checker, without its cache

PROGRAM = """
    from typing import assert_type

    import pytest

    from touchstone import BadRule, Client, Cluster, KafkaCluster, Plan, Rule, serve


    def embedded() -> int:
        rule = Rule(action="error", api="Produce", nth=3, error="NOT_LEADER_OR_FOLLOWER")
        with serve(brokers=3, release="4.3", racks=["a", "b", "c"], faults=[rule]) as cluster:
            assert_type(cluster, Cluster)
            assert_type(cluster.bootstrap, list[str])
            assert_type(cluster.faults, Plan)
            return talk(cluster.bootstrap)


    def talk(bootstrap: list[str]) -> int:
        with Client(bootstrap, client_id="mine") as client:
            producer = client.producer(acks=-1)
            offset = producer.send("t", b"value", key=b"key", partition=0).offset
            assert_type(producer.flush(), None)
            consumer = client.consumer([("t", 0)])
            consumer.seek(("t", 0), offset)
            values = [record.value for record in consumer.poll(timeout_ms=100)]
            assert_type(values, list[bytes | None])
            assert_type(consumer.end_offsets([("t", 0)]), dict[tuple[str, int], int])
            member = client.consumer(group="g", topics=["t"])
            assert_type(member.commit(), None)
            served = client.consumer(group="g2", protocol="consumer")
            served.subscribe(pattern="t.*")
            transaction = client.transactional_producer("id")
            transaction.begin()
            transaction.commit()
            assert_type(client.admin.list_topics(), list[str])
            return len(values)


    @pytest.mark.kafka(brokers=3)
    def test_mine(kafka_cluster: KafkaCluster, kafka_topic: str, kafka_faults: Plan) -> None:
        assert_type(kafka_cluster.bootstrap, str)
        assert_type(kafka_cluster.create_topic("orders", partitions=3), str)
        number = kafka_faults.add(Rule(action="drop", api="Fetch"))
        assert_type(number, int)
        kafka_cluster.advance(1000)
        kafka_cluster.kill(0)


    def plan(text: str) -> Plan:
        try:
            return Plan([Rule(action=text)])
        except BadRule as wrong:
            raise SystemExit(str(wrong)) from wrong
"""
WRONG = """
    from touchstone import Client, Rule, serve

    serve(brokers="3")
    Rule(acton="error")
    Client("127.0.0.1:9092").admin.make_topic("t")
    Client("127.0.0.1:9092").producer().send(b"t", b"v")
    Client("127.0.0.1:9092").consumer([("t", 0)]).commit()
"""


def checked(folder, program, *options):
    """What mypy says of a program that stands in a folder of its own: exit code and lines."""
    (folder / "program.py").write_text(textwrap.dedent(program))
    argv = [
        sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--no-pretty",
        "--follow-imports", "silent", "--cache-dir", str(folder.parent / "cache"),
        "--config-file", "", *options, "program.py",
    ]  # fmt: skip
    done = subprocess.run(
        argv, cwd=folder, env=os.environ | {"MYPYPATH": str(ROOT)}, check=False, text=True,
        capture_output=True,
    )  # fmt: skip
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout.splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("mypy")
    found = tmp_path_factory.mktemp("user") / "program"
    found.mkdir()
    return found


def test_a_program_is_checked_strictly_and_without_any(folder):
    assert checked(folder, PROGRAM, "--disallow-any-expr") == (0, [])
    assert all(re.search(rf"\b{name}\b", PROGRAM) for name in touchstone.__all__)


def test_what_is_wrong_is_told(folder):
    code, lines = checked(folder, WRONG)
    told = {int(line.split(":")[1]): re.search(r"\[([a-z-]+)\]$", line)[1]
            for line in lines if " error: " in line}  # fmt: skip
    assert code == 1
    assert told == {
        4: "arg-type", 5: "call-arg", 6: "attr-defined", 7: "arg-type", 8: "attr-defined",
    }  # fmt: skip
