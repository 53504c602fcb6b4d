"""A cluster that wants a login is asked as a plain one is, and refusals are one line each."""

from __future__ import annotations

import re
import socket
import struct
import time

import pytest

from touchstone.harness.driver.line import Line
from touchstone.harness.driver.turns import CAPABILITIES
from touchstone.harness.model.target import Endpoint, Shape, StartFailed
from touchstone.harness.run.judge import judge_for
from touchstone.harness.targets import command_config, parse, probe, reach
from touchstone.harness.targets.login import BadLogin, Login
from touchstone.harness.tests.targets.secured import jaas, secured, written
from touchstone.reference_impl.client.security.token_settings import HANDLER, HANDLERS, URL
from touchstone.reference_impl.tests.client.security.listeners import (
    MECHANISMS,
    PACKAGE,
    PASSWORD,
    USER,
)
from touchstone.reference_impl.tests.security.signed_tokens import PAST, part
from touchstone.reference_impl.wire import headers

WAYS = [
    *((listener, one) for listener in ("SASL_PLAINTEXT", "SASL_SSL") for one in MECHANISMS),
    ("SSL", "a certificate"),
]
PATIENCE_S = 30.0


@pytest.fixture(scope="module")
def broker():
    with secured() as found:
        yield found


def refusal(broker, listener, properties) -> str:
    """Why the target cannot be had, which is one line."""
    found = broker.target(listener, properties).available()
    assert found is not None
    assert "\n" not in found
    assert PASSWORD not in found
    return found.removeprefix(f"{broker.where[listener]}: ")


@pytest.mark.parametrize(("listener", "mechanism"), WAYS)
def test_every_way_to_log_in_leads_to_a_plain_stream(broker, listener, mechanism):
    target = broker.target(listener, broker.properties(listener, mechanism))
    assert target.available() is None
    assert target.release == "4.3"
    address = broker.address(listener)
    assert target.start(Shape()).bootstrap == (address,)
    assert probe.metadata(address).brokers == {0: address}


@pytest.mark.parametrize(
    ("listener", "wanted"),
    [
        ("SASL_PLAINTEXT", "the listener wants SASL (PLAIN, SCRAM-SHA-512, SCRAM-SHA-256,"
         " OAUTHBEARER): give --command-config FILE, with Kafka's client properties"
         " (security.protocol=SASL_PLAINTEXT)"),
        ("SASL_SSL", "what answers there wants TLS: give --command-config FILE, with Kafka's client"
         " properties (security.protocol=SSL, or SASL_SSL)"),
        ("SSL", "what answers there wants TLS: give --command-config FILE, with Kafka's client"
         " properties (security.protocol=SSL, or SASL_SSL)"),
    ],
)  # fmt: skip
def test_a_listener_that_wants_a_login_and_gets_none_says_what_to_give(broker, listener, wanted):
    assert refusal(broker, listener, None) == wanted
    assert refusal(broker, listener, {"security.protocol": "PLAINTEXT"}) == wanted


def test_tls_alone_is_not_enough_where_sasl_is_wanted(broker):
    only_tls = broker.properties("SSL")
    assert "wants SASL (PLAIN" in refusal(broker, "SASL_SSL", only_tls)
    assert "(security.protocol=SASL_SSL)" in refusal(broker, "SASL_SSL", only_tls)


@pytest.mark.parametrize("listener", ["SASL_PLAINTEXT", "SASL_SSL"])
@pytest.mark.parametrize("mechanism", MECHANISMS[:3])
def test_a_wrong_password_is_refused_in_the_brokers_words(broker, listener, mechanism):
    said = refusal(broker, listener, broker.properties(listener, mechanism, password="wr0ng-one"))
    assert said.startswith("the login is refused: Authentication failed")
    assert said.endswith(f"({listener} {mechanism} by mine.properties)")
    assert "wr0ng-one" not in said


@pytest.mark.parametrize(
    ("listener", "like", "words"),
    [
        ("PLAINTEXT", "SASL_PLAINTEXT", "a listener without SASL wants security.protocol=PLAIN"),
        ("PLAINTEXT", "SSL", "does the listener speak TLS at all?"),
        ("SASL_PLAINTEXT", "SASL_SSL", "does the listener speak TLS at all?"),
        ("SASL_SSL", "SASL_PLAINTEXT", "a listener with TLS wants security.protocol=SASL_SSL"),
        ("SSL", "SASL_SSL", "ssl.keystore.location names the certificate to show"),
    ],
)  # fmt: skip
def test_the_protocol_of_another_listener_is_refused_in_one_line(broker, listener, like, words):
    assert words in refusal(broker, listener, broker.properties(like))


def test_a_mechanism_that_is_not_enabled_is_named_with_those_that_are():
    with secured(sasl_enabled_mechanisms="PLAIN") as broker:
        said = refusal(
            broker, "SASL_PLAINTEXT", broker.properties("SASL_PLAINTEXT", "SCRAM-SHA-256")
        )
    assert "'SCRAM-SHA-256' not enabled in the server, enabled mechanisms are [PLAIN]" in said


def test_nobody_is_believed_whom_nobody_vouches_for(broker):
    with secured() as other:
        wrong = broker.properties("SASL_SSL") | {
            name: text
            for name, text in other.properties("SASL_SSL").items()
            if name == "ssl.truststore.certificates"
        }
    said = refusal(broker, "SASL_SSL", wrong)
    assert said.startswith("its certificate is refused: ")
    assert "ssl.truststore.location names whom to trust" in said


def test_a_certificate_is_for_the_host_that_was_given_unless_nobody_asks(broker):
    properties = broker.properties("SASL_SSL")
    address = ("localhost", broker.address("SASL_SSL")[1])
    for asks, refused in (("https", True), ("", False)):
        told = properties | {"ssl.endpoint.identification.algorithm": asks}
        reach.log_in([address], Login(told, "mine.properties"))
        if refused:
            with pytest.raises(reach.NotLoggedIn, match="ssl.endpoint.identification.algorithm="):
                Line(address, PATIENCE_S)
        else:
            Line(address, PATIENCE_S).end()


@pytest.mark.parametrize(
    ("like", "anonymous"),
    [(None, True), ("SASL_PLAINTEXT", False), ("SASL_SSL", False), ("SSL", False)],
)
def test_claims_about_strangers_want_that_nobody_logs_in(broker, like, anonymous):
    listener = like or "PLAINTEXT"
    broker.target(listener, like and broker.properties(like))
    endpoint = Endpoint((broker.address(listener),))
    assert CAPABILITIES["anonymous-clients"](endpoint, {}) is anonymous


# what passes a connection that is logged in


def line_of(broker, listener="SASL_SSL", **settings) -> Line:
    broker.target(listener, broker.properties(listener) | settings)
    return Line(broker.address(listener), PATIENCE_S)


def asked(line: Line, number: int = 7) -> tuple[str, bytes]:
    frame = headers.encode_request(18, 0, number, "test", {})
    deadline = time.perf_counter() + PATIENCE_S
    assert line.write(struct.pack(">i", len(frame)) + frame, deadline) is None
    return line.read(deadline)


@pytest.mark.parametrize("listener", ["SASL_PLAINTEXT", "SASL_SSL"])
def test_a_broker_that_closes_a_connection_is_seen_to_close_it(broker, listener):
    line = line_of(broker, listener)
    deadline = time.perf_counter() + PATIENCE_S
    assert line.write(struct.pack(">ihhih", 10, 31000, 0, 1, -1), deadline) is None
    assert line.read(deadline)[0] == "closed"
    line.end()


@pytest.mark.parametrize("listener", ["SASL_PLAINTEXT", "SASL_SSL"])
def test_half_a_close_of_ours_is_heard_by_the_broker(broker, listener):
    line = line_of(broker, listener)
    how, raw = asked(line)
    assert (how, raw[:4]) == ("received", struct.pack(">i", 7))
    line.socket.shutdown(socket.SHUT_WR)
    assert line.read(time.perf_counter() + PATIENCE_S)[0] == "closed"
    line.end()


def test_silence_is_a_timeout_and_what_came_late_is_read(broker):
    line = line_of(broker)
    assert line.read(time.perf_counter())[0] == "timeout"
    assert asked(line)[0] == "received"
    line.end()


def test_a_session_that_ends_soon_is_renewed_where_nothing_is_under_way():
    """KIP-368: real Kafka closes a connection on the first request after its session's end."""
    with secured(connections_max_reauth_ms="1") as broker:
        line = line_of(broker, "SASL_PLAINTEXT")
        assert reach.expiring(line.socket)
        line.end()
    with secured(connections_max_reauth_ms="3600000") as broker:
        line = line_of(broker, "SASL_SSL")
        assert not reach.expiring(line.socket)
        reach.renew(line.socket, PATIENCE_S)
        assert asked(line)[0] == "received"
        line.end()


# the file


def test_a_file_of_properties_says_how_to_log_in_to_what_somebody_else_runs(broker, tmp_path):
    path = written(
        tmp_path,
        broker.properties("SASL_SSL") | {"acks": "all", "foo.bar": "1", "sasl.mechanisms": "PLAIN"},
    )
    names = "acks, foo.bar, sasl.mechanisms"  # the last is librdkafka's
    assert command_config.obey(path) == [f"{path}: supplied, but not used here: {names}"]
    assert command_config.words() == ("--command-config", str(path))
    target = parse(broker.where["SASL_SSL"])
    assert target.available() is None
    assert command_config.obey(None) == []
    assert command_config.words() == ()
    assert parse(broker.where["SASL_SSL"]).available() is not None


def test_the_environment_names_the_file_where_nobody_else_does(broker, tmp_path, monkeypatch):
    path = written(tmp_path, broker.properties("SASL_PLAINTEXT"))
    monkeypatch.setenv(command_config.VARIABLE, str(path))
    assert command_config.obey(None) == []
    assert parse(broker.where["SASL_PLAINTEXT"]).available() is None


def test_a_target_file_has_the_same_properties(broker, tmp_path):
    (tmp_path / "ca.pem").write_bytes(broker.authority.cert_pem.bytes())
    (tmp_path / "mine.toml").write_text(f"""
name = "mine"
about = "a secured one"
version = "1"
address = "{broker.where["SASL_SSL"]}"
[client]
security.protocol = "SASL_SSL"
sasl.mechanism = "SCRAM-SHA-512"
"sasl.jaas.config" = '{jaas("SCRAM-SHA-512")}'
ssl.truststore.type = "PEM"
ssl.truststore.location = "ca.pem"
foo.bar = true
""")
    target = parse(str(tmp_path / "mine.toml"))
    assert target.available() is None
    line = f"[client] of {tmp_path / 'mine.toml'}: supplied, but not used here: foo.bar"
    assert judge_for(str(tmp_path / "mine.toml"), nonce="n").quicken([])[0] == line
    assert line not in target.where_clients_go()


STARTED = """
name = "mine"
about = "ours, with one listener"
version = "1"
release = "4.3"
[start]
per = "cluster"
command = [
    "{{python}}", "-m", "touchstone", "broker",
    "--config", "listeners=SASL_PLAINTEXT://127.0.0.1:{{port}}",
    "--config", "security.inter.broker.protocol=SASL_PLAINTEXT",
    "--config", "sasl.mechanism.inter.broker.protocol=PLAIN",
    "--config", "sasl.enabled.mechanisms=PLAIN",
    "--config", 'listener.name.sasl_plaintext.plain.sasl.jaas.config={broker}',
]
{client}
"""
CLIENT = """
[client]
security.protocol = "SASL_PLAINTEXT"
sasl.mechanism = "PLAIN"
"sasl.jaas.config" = '{module}'
"""


@pytest.mark.slow  # a second: a broker in a process of its own
@pytest.mark.parametrize(
    ("client", "words"),
    [
        (CLIENT.format(module=jaas("PLAIN")), None),
        (CLIENT.format(module=jaas("PLAIN", password="wr0ng")), "the login is refused: "),
        ("", "the listener wants SASL (PLAIN)"),
    ],
)
def test_what_a_target_file_starts_is_logged_in_to_and_not_waited_for_in_vain(
    tmp_path, client, words
):
    module = jaas("PLAIN", more=f' user_{USER}="{PASSWORD}"')
    file = tmp_path / "mine.toml"
    file.write_text(STARTED.format(broker=module, client=client))
    target = parse(str(file))
    try:
        if words is None:
            assert probe.metadata(target.start(Shape()).bootstrap[0]).brokers
        else:
            with pytest.raises(StartFailed, match=re.escape(words)) as failed:
                target.start(Shape())
            assert "\n" not in str(failed.value)
            assert "wr0ng" not in str(failed.value)
    finally:
        target.stop()


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}, "'KafkaClient' entry"),
        ({"security.protocol": "TLS"}, "TLS"),
        ({"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "GSSAPI"}, "is not obeyed"),
        ({"security.protocol": "sasl_ssl"}, "OAUTHBEARER; sasl.mechanism is not given"),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanisms": "PLAIN", "sasl.username": "alice"},
            "sasl.mechanism is not given; sasl.mechanisms is librdkafka's",
        ),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN",
             "config.providers": "file", "sasl.jaas.config": "${file:/run/kafka:jaas}"},
            "(${...}) must be written out here",
        ),
        (
            {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN",
             "sasl.jaas.config": jaas("PLAIN").removesuffix(";")},
            "not terminated by semi-colon",
        ),
        ({"security.protocol": "SSL", "ssl.truststore.location": "/none", "ssl.truststore.type":
          "PEM"}, "Failed to load PEM SSL keystore /none"),
    ],
)  # fmt: skip
def test_properties_that_cannot_be_obeyed_are_one_line_without_secrets(tmp_path, properties, words):
    with pytest.raises(BadLogin) as wrong:
        command_config.obey(written(tmp_path, properties))
    assert words in str(wrong.value)
    assert str(wrong.value).startswith(f"--command-config {tmp_path}")
    assert "\n" not in str(wrong.value)
    assert PASSWORD not in str(wrong.value)


def test_a_token_that_has_ended_is_said_to_have_ended(broker, tmp_path):
    """Of which Kafka says only `{"status":"invalid_token"}`."""
    claims = part({"sub": USER, "iat": PAST, "exp": PAST + 1})
    (tmp_path / "token").write_text(f"{part({'alg': 'none'})}.{claims}.")
    properties = broker.properties("SASL_PLAINTEXT", "OAUTHBEARER") | {
        HANDLER: HANDLERS[0], URL: f"file:{tmp_path / 'token'}",
        "sasl.jaas.config": f"{PACKAGE}.oauthbearer.OAuthBearerLoginModule required;",
    }  # fmt: skip
    said = refusal(broker, "SASL_PLAINTEXT", properties)
    assert said.startswith("the login is refused: ")
    assert "; the token ended at 2001-09-09 01:46:41 UTC" in said


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(BadLogin, match="No such file"):
        command_config.obey(tmp_path / "none.properties")


def test_what_a_peer_says_is_shown_without_secrets():
    """A broker may put anything into its answer, and so may a proxy before it."""
    properties = {
        "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": jaas("PLAIN"), "ssl.keystore.password": "of+the/store",
    }  # fmt: skip
    login = Login(properties, "mine.properties")
    said = login.masked(f"no {PASSWORD}\nand no of+the/store, of%2Bthe%2Fstore b2YrdGhlL3N0b3Jl")
    assert said == "no [hidden] and no [hidden], [hidden] [hidden]"
    assert login.masked("token eyJhbGci.eyJzdWIi.c2ln has ended") == "token [hidden] has ended"
