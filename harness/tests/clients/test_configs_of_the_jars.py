"""The client's configuration against Java's of each release: every row, and what is said of values.

`ClientConfigs.java` prints what the jars define, and constructs Java's producer and consumer with
the configurations below; ours must say the same words, or take what Java takes.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from touchstone.harness.adapters.program import QUICK
from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import class_path, kafka_home
from touchstone.reference_impl.client.configs.consumer_config import consumer_config
from touchstone.reference_impl.client.configs.definitions import RELEASES, REQUIRED, definitions
from touchstone.reference_impl.client.configs.parsing import ConfigException
from touchstone.reference_impl.client.configs.producer_config import producer_config

pytestmark = [pytest.mark.maven, pytest.mark.java, pytest.mark.slow]
VERSIONS = dict(zip(RELEASES, ("1.0.2", "2.2.1", "2.8.2", "3.9.2", "4.3.1"), strict=True))
CASES = (
    ("producer", {}),
    ("producer", {"acks": "2"}),
    ("producer", {"acks": " ALL"}),
    ("producer", {"acks": 1}),
    ("producer", {"acks": "1", "enable.idempotence": True}),
    ("producer", {"acks": "1", "transactional.id": "t"}),
    ("producer", {"batch.size": "-1"}),
    ("producer", {"batch.size": " 17 "}),
    ("producer", {"batch.size": "x"}),
    ("producer", {"batch.size": 1 << 31}),
    ("producer", {"batch.size": 1.5}),
    ("producer", {"batch.size": str(1 << 31)}),
    ("producer", {"bootstrap.servers": ""}),
    ("producer", {"buffer.memory": 7}),
    ("producer", {"compression.type": "brotli"}),
    ("producer", {"compression.gzip.level": 10}),
    ("producer", {"compression.lz4.level": "0"}),
    ("producer", {"delivery.timeout.ms": 10, "request.timeout.ms": 20}),
    ("producer", {"enable.idempotence": "yes"}),
    ("producer", {"enable.idempotence": "TRUE"}),
    ("producer", {"enable.idempotence": False, "transactional.id": "t"}),
    ("producer", {"enable.idempotence": True, "retries": 0}),
    ("producer", {"enable.idempotence": True, "max.in.flight.requests.per.connection": 6}),
    ("producer", {"ssl.cipher.suites": "a,,b"}),
    ("producer", {"linger.ms": True}),
    ("producer", {"max.in.flight.requests.per.connection": 0}),
    ("producer", {"metadata.max.idle.ms": 4999}),
    ("producer", {"partitioner.class": "nobody.Partitioner"}),
    ("producer", {"retries": "2147483648"}),
    ("producer", {"retries": 0}),
    ("producer", {"sasl.login.refresh.window.factor": "0.4"}),
    ("producer", {"security.protocol": "TLS"}),
    ("producer", {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": ""}),
    ("producer", {"ssl.protocol": 3}),
    ("producer", {"transaction.two.phase.commit.enable": True, "transaction.timeout.ms": 5}),
    ("consumer", {"auto.offset.reset": "first"}),
    ("consumer", {"auto.offset.reset": "by_duration:PT1H"}),
    ("consumer", {"auto.offset.reset": "by_duration:1H"}),
    ("consumer", {"enable.auto.commit": True}),
    ("consumer", {"fetch.max.bytes": -1}),
    ("consumer", {"group.id": "g", "group.protocol": "consumer", "session.timeout.ms": 9}),
    ("consumer", {"group.id": "g", "group.protocol": "own"}),
    ("consumer", {"group.id": "g", "group.remote.assignor": "uniform"}),
    ("consumer", {"group.id": "g", "group.instance.id": ""}),
    ("consumer", {"isolation.level": "dirty"}),
    ("consumer", {"max.poll.records": 0}),
    ("consumer", {"share.acknowledgement.mode": "never"}),
)


@pytest.fixture(scope="module", params=VERSIONS)
def release(request) -> str:
    try:
        find_java()
        kafka_home(VERSIONS[request.param])
    except Unavailable as missing:
        pytest.skip(f"not run: {missing.reason}")
    return request.param


def said_by_java(release: str, *arguments: str, given: str = "") -> list:
    """What the program printed, a JSON value a line."""
    home = kafka_home(VERSIONS[release])
    program = Path(__file__).with_name("ClientConfigs.java")
    done = subprocess.run(
        [str(find_java().executable), *QUICK, "-cp", class_path(home), program, *arguments],
        input=given, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line[:1] in '["']


def test_every_row_is_the_jars(release):
    rows = {(client, name): rest for client, name, *rest in said_by_java(release)}
    ours = {
        (client, each.name): [
            each.type,
            "REQUIRED" if each.default is REQUIRED else each.default,
            each.valid,
            each.importance,
            each.internal,
        ]
        for client in ("producer", "consumer", "admin")
        for each in definitions(client, release).values()
    }
    assert ours == rows


def test_java_says_the_same_of_these_configurations(release):
    known = {name for kind in ("producer", "consumer") for name in definitions(kind, release)}
    cases = [each for each in CASES if each[1].keys() <= known]
    if release in ("1.0", "2.2", "2.8"):  # there it is JAAS that says no
        cases = [each for each in cases if "sasl.mechanism" not in each[1]]
    given = "\n".join("\t".join((kind, *words(config))) for kind, config in cases)
    answers = said_by_java(release, "ask", given=given)
    pairs = [
        (config, ours(kind, config, release), answer)
        for (kind, config), answer in zip(cases, answers, strict=True)
    ]
    assert "\n".join(map(str, (each for each in pairs if each[1] != each[2]))) == ""


def words(config: dict) -> list[str]:
    """Name, type and value, as the program reads them: 5 is an int, 2**31 a long."""
    found = []
    for name, value in config.items():
        long = isinstance(value, int) and abs(value) >= 1 << 31
        found += [name, f"{'long' if long else type(value).__name__}:{value}"]
    return found


def ours(kind: str, config: dict, release: str) -> str:
    made, end = {
        "producer": (producer_config, "serializer"),
        "consumer": (consumer_config, "deserializer"),
    }[kind]
    own = {"bootstrap.servers": "127.0.0.1:1", f"key.{end}": bytes, f"value.{end}": bytes}
    try:
        made(own | config, release)
    except ConfigException as refused:
        return str(refused)
    return ""
