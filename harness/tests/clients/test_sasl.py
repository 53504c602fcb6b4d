"""Other people's clients say who they are: each mechanism, on both kinds of listener.

A client with the right secret writes a record and reads it; with a wrong one it says so, in its own
words and the broker's, and they are the same on real Kafka. Delegation tokens are for the clients
that can log in with one, Java's and franz-go.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Set
from contextlib import ExitStack
from functools import cache, partial
from typing import Any

import pytest
import trustme

from touchstone.harness.tests.clients import logins, sasl_clients
from touchstone.harness.tests.clients.logins import (
    BY_TOKEN,
    KINDS,
    OAUTHBEARER,
    OLDEST,
    PLAIN,
    PROTOCOLS,
    SCRAM,
    Listeners,
    Login,
)
from touchstone.harness.tests.clients.programs import PATIENCE_S
from touchstone.harness.tests.clients.sasl_clients import ONE, UNHEARD

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(8 * PATIENCE_S),
    # kafka-python and aiokafka leave sockets behind that were refused.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
# What a client says of a refusal, with the broker's own words in it.
SAID = {
    "librdkafka": "_AUTHENTICATION: SASL authentication error: {}",
    "kafka-python": "SaslAuthenticationFailedError: {}",
    "aiokafka": "SaslAuthenticationFailed: {}",
    "franz-go": "{}: SASL_AUTHENTICATION_FAILED: SASL Authentication failed.",
    "java": "SaslAuthenticationException: {}",
}
# These do not say the byte that the broker answers its words to (RFC 7628, 3.2.3).
SAID_OF_A_BEARER = SAID | {
    "aiokafka": "UnknownTopicOrPartitionError",
    "franz-go": "unexpected data in oauth response",
}
LIVE = [pytest.mark.live, pytest.mark.java, pytest.mark.maven]
WHERE = {
    "reference@1.0": [],
    "reference@2.8": [],
    "reference@4.3": [],
    "kafka@4.3": LIVE,
}
# By day older releases are spoken to without TLS, and Java speaks once: to the newest, over TLS.
BY_NIGHT = {(f"reference@{release}", PROTOCOLS[1]) for release in ("1.0", "2.8")}
JAVA_BY_NIGHT = {(f"reference@{release}", PROTOCOLS[0]) for release in ("2.8", "4.3")} | BY_NIGHT
DEFECTS = {
    PLAIN: "sasl-passwords-not-checked",
    **dict.fromkeys(SCRAM, "scram-proofs-not-checked"),
    OAUTHBEARER: "bearer-tokens-not-checked",
}
_numbers = itertools.count()


def kinds(where: str) -> tuple[str, ...]:
    return OLDEST if where.endswith("1.0") else KINDS


def places(by_night: Set[tuple[str, str]]) -> list[Any]:
    return [
        pytest.param(
            where, protocol,
            marks=[*marks, *([pytest.mark.nightly] if (where, protocol) in by_night else [])],
        )
        for where, marks in WHERE.items() for protocol in PROTOCOLS
    ]  # fmt: skip


CASES = [
    pytest.param(*place.values, kind, marks=place.marks)
    for place in places(BY_NIGHT) for kind in kinds(place.values[0])
]  # fmt: skip
WITHOUT_TOKENS = [case for case in CASES if case.values[2] not in BY_TOKEN]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def trusted(authority, tmp_path_factory) -> str:
    file = tmp_path_factory.mktemp("trusted") / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    return str(file)


@pytest.fixture(scope="module")
def running(authority, tmp_path_factory) -> Iterator[Callable[[str], Listeners]]:
    """Starts what is named, once; a fixture with a parameter would start it for each case."""
    with ExitStack() as stack:

        @cache
        def start(where: str) -> Listeners:
            kind, _, release = where.partition("@")
            mechanisms = [each for each in kinds(release) if each not in BY_TOKEN]
            config = logins.settings(authority, tmp_path_factory.mktemp("keys"), mechanisms)
            begin = logins.kafka if kind == "kafka" else logins.ours
            return stack.enter_context(begin(release, config))

        yield start


@pytest.fixture
def listeners(request, running) -> Listeners:
    """Of the broker that a test names."""
    return running(request.param)


def topic() -> str:
    return f"sasl-{next(_numbers)}"


def refused(client: str, kind: str, release: str) -> str:
    if kind == OAUTHBEARER:
        status = '{"status":"insufficient_scope", "scope":"[orders]"}'
        return SAID_OF_A_BEARER[client].format(status)
    if kind == PLAIN:
        return SAID[client].format("Authentication failed: Invalid username or password")
    when = "" if release == "1.0" else " during authentication"
    why = f"due to invalid credentials with SASL mechanism {kind.split()[0]}"
    return SAID[client].format(f"Authentication failed{when} {why}")


def wanted(listeners: Listeners, protocol: str, kind: str, client: str) -> dict[Login, str]:
    """Each login, and what the client must say of it."""
    wrong = dict.fromkeys(listeners.wrong(protocol, kind), refused(client, kind, listeners.release))
    return {listeners.right(protocol, kind): ONE} | wrong


def check(
    listeners: Listeners, protocol: str, kind: str, client: str, run: Callable[..., str]
) -> None:
    asked = wanted(listeners, protocol, kind, client)
    said = {login: run(listeners.where[protocol], topic(), login) for login in asked}
    unheard = {login for login, words in said.items() if words == UNHEARD and asked[login] != ONE}
    assert said == asked | dict.fromkeys(unheard, UNHEARD)


@pytest.mark.parametrize(("listeners", "protocol", "kind"), WITHOUT_TOKENS, indirect=["listeners"])
@pytest.mark.parametrize("client", ["librdkafka", "kafka-python", "aiokafka"])
def test_python(listeners, protocol, kind, client, trusted):
    run = getattr(sasl_clients, client.replace("-", "_"))
    check(listeners, protocol, kind, client, partial(run, authority=trusted))


@pytest.mark.parametrize(("listeners", "protocol", "kind"), CASES, indirect=["listeners"])
def test_franz_go(listeners, protocol, kind, trusted, franz):
    run = partial(sasl_clients.franz_go, franz, authority=trusted)
    check(listeners, protocol, kind, "franz-go", run)


@pytest.mark.java
@pytest.mark.maven
@pytest.mark.usefixtures("java")
@pytest.mark.parametrize(
    ("listeners", "protocol"),
    [each for each in places(JAVA_BY_NIGHT) if "1.0" not in each.values[0]],  # 4.3's does not
    indirect=["listeners"],
)
def test_java(listeners, protocol, trusted, tmp_path):
    """Of all mechanisms at once: starting its JVM is most of the work."""
    asked = [wanted(listeners, protocol, kind, "java") for kind in KINDS]
    expected = {login: said for each in asked for login, said in each.items()}
    where = listeners.where[protocol]
    assert sasl_clients.java(tmp_path, where, topic(), expected, trusted) == expected


@pytest.mark.parametrize("kind", DEFECTS)
def test_a_broker_that_takes_any_secret_is_noticed(kind, authority, trusted, tmp_path):
    config = logins.settings(authority, tmp_path, [*OLDEST, OAUTHBEARER])
    run = partial(sasl_clients.librdkafka, authority=trusted)
    with (
        logins.ours("4.3", config, (DEFECTS[kind],)) as harmed,
        pytest.raises(AssertionError, match="secret='"),
    ):
        check(harmed, PROTOCOLS[0], kind, "librdkafka", run)
