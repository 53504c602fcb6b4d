"""The programs of docs/howto/client.md: ten lines each, and they run as they stand."""

import re
from pathlib import Path

import pytest
import trustme

import touchstone.reference_impl
from touchstone.reference_impl.client.offsets import READ_COMMITTED
from touchstone.reference_impl.client.security.errors import SaslAuthenticationException
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve

from .security import listeners

PAGE = Path(touchstone.reference_impl.__file__).resolve().parents[1] / "docs/howto/client.md"
PROGRAMS = dict(re.findall(r"```python title=\"(.*?)\"\n(.*?)```", PAGE.read_text(), re.S))


@pytest.fixture(scope="module")
def bootstrap():
    with serve(brokers=1, config={"group.initial.rebalance.delay.ms": "0"}) as cluster:
        yield ",".join(cluster.bootstrap)


def said(capsys, name: str, bootstrap: str, **more: str) -> list[str]:
    exec(compile(PROGRAMS[name], name, "exec"), {"bootstrap": bootstrap, **more})
    return capsys.readouterr().out.splitlines()


@pytest.mark.slow
def test_they_run_and_say_what_they_did(capsys, bootstrap):
    assert PROGRAMS.keys() == {
        "administer.py", "produce.py", "consume.py", "copy.py", "measure.py", "secure.py",
    }  # fmt: skip
    errors, retention, offsets = said(capsys, "administer.py", bootstrap)
    assert errors == "{'bills': KafkaError('bills: UNKNOWN_TOPIC_OR_PARTITION')}"
    assert retention == "orders 86400000"
    assert offsets == "{('orders', 0): OffsetAndTimestamp(offset=0, timestamp=-1)}"
    produced = said(capsys, "produce.py", bootstrap)
    consumed = [line.split()[:2] for line in said(capsys, "consume.py", bootstrap)]
    assert consumed == [line.split() for line in produced] and len(produced) == 3
    sent, retried, failed = said(capsys, "measure.py", bootstrap)
    assert (sent, retried, failed) == (
        "record-send-total 100.0", "record-retry-total 0.0", "record-error-total 0.0",
    )  # fmt: skip


@pytest.mark.slow
def test_the_copy_counts_once_with_its_offsets(capsys):
    config = {"group.initial.rebalance.delay.ms": "0"}
    with serve(config=config) as cluster, Client(cluster.bootstrap) as client:
        for topic in ("orders", "copies"):
            client.admin.create_topic(topic)
        producer = client.producer()
        for rounds in (1, 2):  # begun again, it copies what came since
            for number in range(3):
                producer.send("orders", b"%d of %d" % (number, rounds), partition=0)
            producer.flush()
            assert said(capsys, "copy.py", cluster.bootstrap[0]) == []
        reader = client.consumer([("copies", 0)], reset="earliest", isolation=READ_COMMITTED)
        copies = [record.value for _, record in zip(range(6), reader, strict=False)]
        assert copies == [
            b"%d of %d" % (number, rounds) for rounds in (1, 2) for number in range(3)
        ]
        assert reader.assignment() == {("copies", 0)}
        group = client.consumer(group="copiers")
        assert group.committed([("orders", 0)])["orders", 0].offset == 6


@pytest.mark.slow
def test_the_secure_one_logs_in_and_a_wrong_password_does_not(capsys, tmp_path, monkeypatch):
    authority = trustme.CA()
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SASL_SSL://127.0.0.1:0",
        "connection.failed.authentication.delay.ms": "0",
        **listeners.sasl_settings("SASL_SSL"),
        **listeners.keys(authority.issue_cert("127.0.0.1"), authority),
    }
    (tmp_path / "trusted.pem").write_text(listeners.pem(authority.cert_pem))
    monkeypatch.chdir(tmp_path)
    with serve(config=config, scram=listeners.SCRAM) as cluster:
        with Client(cluster.listeners["PLAINTEXT"][0]) as client:
            client.admin.create_topic("orders")
        bootstrap = cluster.listeners["SASL_SSL"][0]
        assert said(capsys, "secure.py", bootstrap, password=listeners.PASSWORD) == ["['orders']"]
        with pytest.raises(SaslAuthenticationException, match="invalid credentials"):
            said(capsys, "secure.py", bootstrap, password="wrong")


@pytest.mark.parametrize("name", PROGRAMS)
def test_they_are_ten_lines(name):
    lines = [line for line in PROGRAMS[name].splitlines() if line.strip()]
    more = {"secure.py": 1, "copy.py": 2}  # which name the module of SCRAM; the ends of a copy
    assert len(lines) <= 10 + more.get(name, 0)
