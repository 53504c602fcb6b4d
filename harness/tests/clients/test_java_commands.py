"""AclCommand, ConfigCommand, DelegationTokenCommand of 4.3.1 print the same of both brokers.

All of them run in one JVM for our broker and in another for Kafka 4.3.1, of the same settings. What
they print is compared line by line, in no order, as they print sets; ids, secrets, times and ports
are of chance, so they stand there by their form.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest
import trustme

from touchstone.harness.adapters.program import QUICK
from touchstone.harness.targets.java import find_java
from touchstone.harness.targets.maven import class_path, kafka_home
from touchstone.harness.tests.clients import logins
from touchstone.harness.tests.clients.logins import BY_TOKEN, KINDS, PLAIN, PROTOCOLS, Listeners
from touchstone.harness.tests.clients.programs import PATIENCE_S, VERSION

pytestmark = [
    pytest.mark.slow, pytest.mark.java, pytest.mark.maven,
    pytest.mark.timeout(8 * PATIENCE_S), pytest.mark.usefixtures("java"),
]  # fmt: skip
ACLS = "org.apache.kafka.tools.AclCommand"
CONFIGS = "kafka.admin.ConfigCommand"
TOKENS = "org.apache.kafka.tools.DelegationTokenCommand"
TOPICS = "org.apache.kafka.tools.TopicCommand"
AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS;User:alice",
}
Step = tuple[str, ...]
ADD, REMOVE = (ACLS, "--add"), (ACLS, "--remove", "--force")
OF_ACLS: list[Step] = [
    (*ADD, "--allow-principal", "User:alice", "--producer", "--topic", "orders"),
    (*ADD, "--allow-principal", "User:bob", "--consumer", "--topic", "orders", "--group", "g"),
    (*ADD, "--deny-principal", "User:eve", "--deny-host", "10.0.0.1", "--operation", "Write",
     "--topic", "or", "--resource-pattern-type", "prefixed"),
    (*ADD, "--allow-principal", "User:*", "--operation", "Describe", "--operation", "Alter",
     "--cluster"),
    (*ADD, "--allow-principal", "User:alice", "--producer", "--topic", "x", "--transactional-id",
     "t"),
    (*ADD, "--allow-principal", "User:alice", "--operation", "CreateTokens", "--user-principal",
     "User:bob"),
    (*ADD, "--allow-principal", "User:bob", "--operation", "Describe", "--delegation-token", "*"),
    (*ADD, "--allow-principal", "bob", "--operation", "Read", "--topic", "x"),
    (*ADD, "--allow-principal", "User:bob", "--operation", "Commit", "--topic", "x"),
    (ACLS, "--list"),
    (ACLS, "--list", "--topic", "orders", "--resource-pattern-type", "match"),
    (ACLS, "--list", "--principal", "User:bob"),
    (*REMOVE, "--allow-principal", "User:bob", "--consumer", "--topic", "orders", "--group", "g"),
    (*REMOVE, "--topic", "or", "--resource-pattern-type", "any"),
    (*REMOVE, "--topic", "nothing"),
    (ACLS, "--list"),
]  # fmt: skip


def _configs(entity: str, settings: str, names: str = "") -> list[Step]:
    """Describe, change, refuse and unset settings of KIND=NAME+KIND=NAME."""
    words = [word for part in entity.split("+") for word in _entity(*part.split("="))]
    names = names or ",".join(pair.partition("=")[0] for pair in settings.split(","))
    alter = (CONFIGS, *words, "--alter")
    return [
        (CONFIGS, *words, "--describe"),
        (*alter, "--add-config", settings),
        (CONFIGS, *words, "--describe"),
        (*alter, "--add-config", "no.such.setting=1"),
        (*alter, "--delete-config", names),
        (CONFIGS, *words, "--describe"),
    ]


def _entity(kind: str, name: str) -> list[str]:
    which = ["--entity-name", name] if name else ["--entity-default"]
    return ["--entity-type", kind, *which]


OF_CONFIGS: list[Step] = [
    (TOPICS, "--create", "--topic", "orders", "--partitions", "1"),
    *_configs("topics=orders", "cleanup.policy=[compact,delete]", "cleanup.policy"),
    *_configs("topics=orders", "retention.ms=1000,max.message.bytes=2000"),
    *_configs("topics=nothing", "retention.ms=1000"),
    *_configs("brokers=0", "log.cleaner.threads=2"),
    *_configs("brokers=", "log.retention.ms=100000,compression.type=zstd"),
    *_configs("users=bob", "SCRAM-SHA-256=[iterations=8192,password=b],SCRAM-SHA-512=[password=c]",
              "SCRAM-SHA-256,SCRAM-SHA-512"),
    *_configs("users=bob", "producer_byte_rate=1000,consumer_byte_rate=2000"),
    *_configs("users=", "request_percentage=50"),
    *_configs("users=bob+clients=app", "producer_byte_rate=3000"),
    *_configs("users=+clients=", "controller_mutation_rate=3"),
    *_configs("clients=app", "consumer_byte_rate=100"),
    *_configs("ips=10.0.0.1", "connection_creation_rate=5"),
    *_configs("groups=g", "consumer.session.timeout.ms=50000,streams.num.standby.replicas=1"),
    *_configs("client-metrics=m", "interval.ms=1000,metrics=org.apache.kafka,match=[client_id=a]",
              "interval.ms,metrics,match"),
    (CONFIGS, "--entity-type", "topics", "--describe", "--entity-name", "orders", "--all"),
    (CONFIGS, "--entity-type", "topics", "--alter", "--entity-name", "orders", "--add-config",
     "retention.ms=x"),
    (CONFIGS, "--entity-type", "brokers", "--alter", "--entity-name", "0", "--add-config",
     "log.dirs=/nowhere"),
    (CONFIGS, "--entity-type", "users", "--alter", "--entity-name", "bob", "--add-config",
     "SCRAM-SHA-256=[iterations=10,password=b]"),
    (CONFIGS, "--entity-type", "users", "--alter", "--entity-name", "bob", "--delete-config",
     "SCRAM-SHA-256"),
    (CONFIGS, "--entity-type", "ips", "--alter", "--entity-name", "no host", "--add-config",
     "connection_creation_rate=1"),
    *((CONFIGS, "--entity-type", kind, "--describe") for kind in (
        "topics", "users", "clients", "ips", "groups", "client-metrics",
    )),
]  # fmt: skip


DESCRIBED: list[Step] = [
    (TOKENS, "--describe"),
    (TOKENS, "--describe", "--owner-principal", "User:alice"),
    (TOKENS, "--describe", "--owner-principal", "User:bob"),
]
CREATED: list[Step] = [
    *DESCRIBED,
    (TOKENS, "--create", "--max-life-time-period", "-1", "--renewer-principal", "User:bob"),
    (TOKENS, "--create", "--max-life-time-period", "1000000", "--owner-principal", "User:bob"),
]


def _ended(hmac: str) -> list[Step]:
    """Of the token that has this HMAC."""
    expire = (TOKENS, "--expire", "--expiry-time-period")
    return [
        *DESCRIBED,
        (TOKENS, "--renew", "--renew-time-period", "-1", "--hmac", hmac),
        (TOKENS, "--renew", "--renew-time-period", "-1", "--hmac", "bm9ib2R5"),
        (*expire, "100000", "--hmac", hmac),
        (*expire, "-1", "--hmac", hmac),
        (*expire, "-1", "--hmac", hmac),
        *DESCRIBED,
    ]


def _steps(hmac: str) -> list[Step]:
    return [*CREATED, *OF_ACLS, *OF_CONFIGS, *_ended(hmac)]


def _printed(folder: Path, where: Mapping[str, str], steps: list[Step]) -> list[list[str]]:
    """Of each command its lines, in no order and without what is of chance."""
    login = Listeners(VERSION, where, ("", "")).right(PROTOCOLS[0], PLAIN)
    told = folder / "client.properties"
    lines = (f"{key}={value}\n" for key, value in login.java("").items() if value)
    told.write_text("".join(lines).replace("\\", "\\\\"))
    plain = ("--bootstrap-server", where["PLAINTEXT"])
    at = {TOKENS: ("--bootstrap-server", where[PROTOCOLS[0]], "--command-config", str(told))}
    rows = ("\t".join((main, *at.get(main, plain), *more)) for main, *more in steps)
    done = subprocess.run(
        [str(find_java().executable), *QUICK, "-cp", class_path(kafka_home(VERSION)),
         str(Path(__file__).with_name("Commands.java"))],
        input="".join(f"{row}\n" for row in rows), capture_output=True, text=True,
        timeout=6 * PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    *parts, _ = re.split(r"^== \d+$", done.stdout, flags=re.MULTILINE)
    assert len(parts) == len(steps)
    return [sorted(filter(None, map(_fixed, part.splitlines()))) for part in parts]


CHANCE = {
    r"^\s*at .*": "",  # where in the command it failed
    r"[\w+/]{86}==": "HMAC",
    r"(?<![\w-])[\w-]{22}(?![\w-])": "ID",
    r"\d{4}-\d\d-\d\dT\d\d:\d\d": "WHEN",
    r"127\.0\.0\.1:\d+": "AT",
}
SETS = re.compile(r"(?<=operations \[)[^]]*|(?<= are )SCRAM-.*")  # of enums, in Java's own order


def _fixed(line: str) -> str:
    for form, name in CHANCE.items():
        line = re.sub(form, name, line)
    line = SETS.sub(lambda found: ", ".join(sorted(found[0].split(", "))), line)
    return " ".join(line.split())


Started = Callable[[dict[str, str]], AbstractContextManager[Listeners]]


def _of(start: Started, folder: Path, steps: Callable[[str], list[Step]]) -> list[list[str]]:
    """What the commands print of a broker."""
    mechanisms = [each for each in KINDS if each not in BY_TOKEN]
    config = logins.settings(trustme.CA(), folder, mechanisms) | AUTHORIZER
    with start(config) as running:
        return _printed(folder, running.where, steps(running.token[1]))


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> list[list[list[str]]]:
    """What they print of ours, and of Kafka."""
    brokers = {"ours": partial(logins.ours, "4.3"), "kafka": partial(logins.kafka, "4.3")}
    return [_of(start, tmp_path_factory.mktemp(name), _steps) for name, start in brokers.items()]


@pytest.mark.live
@pytest.mark.parametrize("number", range(len(_steps(""))))
def test_a_command_prints_the_same(both, number):
    ours, kafkas = (each[number] for each in both)
    assert ours == kafkas, _steps("HMAC")[number]


@pytest.mark.nightly
def test_acls_that_stay_are_seen(tmp_path_factory):
    """The comparison is red where a broker keeps ACLs that it was told to remove."""
    switches = ("deleted-acls-kept",)
    brokers = partial(logins.ours, "4.3"), partial(logins.ours, "4.3", switches=switches)
    sound, harmed = (_of(each, tmp_path_factory.mktemp("x"), lambda _: OF_ACLS) for each in brokers)
    apart = [step for step, *said in zip(OF_ACLS, sound, harmed, strict=True) if said[0] != said[1]]
    assert apart == [OF_ACLS[-1]]
