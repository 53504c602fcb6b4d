"""A request can be sent again by who has Python and nothing of ours."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import pytest

from touchstone.harness import driver
from touchstone.harness.judgement import bundle, card, snippet
from touchstone.harness.judgement.bundle import Bundle
from touchstone.harness.judgement.compare import Difference
from touchstone.harness.judgement.verdict import DIVERGES, Verdict
from touchstone.harness.model.expect import answer
from touchstone.harness.model.placeholders import Name
from touchstone.harness.model.scenario import Raw, Scenario
from touchstone.harness.model.steps import ask, create_topic
from touchstone.harness.results import page
from touchstone.harness.tests.small_kafka import small_kafka, word

STEP = create_topic(Name("t", length=20), partitions=0, version=5, name="create")
WRONG = Verdict(DIVERGES, differences=(Difference("create", "x", 1, 2),))


def asked(*steps, target="somewhere:9092"):
    with small_kafka() as server:
        return driver.run(Scenario(steps), server.endpoint, nonce="n", target=target)


def program(*steps, **how):
    return snippet.of_case(asked(*steps, **how), WRONG)


def test_the_client_prints_the_answer():
    with small_kafka() as server:
        seen = driver.run(Scenario([STEP]), server.endpoint, nonce="n", target=word(server))
        text = snippet.of_case(seen, WRONG)
        command = [sys.executable, "-I", "-c", text]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == seen.by_label["create"].received.raw.hex()


@pytest.mark.parametrize("framed", [True, False])
def test_bytes_are_sent_as_they_were(framed):
    raw = b"\0\3\xff\xff\0\0\0\7\xff\xff\xff" if framed else b"GET / HTTP/1.1\r\n\r\n"
    text = program(Raw(raw, framed=framed, name="create", expect="close"))
    assert raw.hex() in text and ("to_bytes" in text) is framed
    compile(text, "client", "exec")


@pytest.mark.parametrize(
    ("target", "address"),
    [
        ("10.0.0.1:9092", ("10.0.0.1", 9092)),
        ("mine=broker.example:19092,other:1", ("broker.example", 19092)),
        ("[::1]:9092", ("::1", 9092)),
        ("kfake", snippet.NOWHERE),
        ("kafka@4.3.1", snippet.NOWHERE),
        ("a');import os#:1", snippet.NOWHERE),
        ("a\nimport os:1", snippet.NOWHERE),
    ],
)
def test_it_goes_where_the_target_was(target, address):
    seen = dataclasses.replace(asked(STEP))
    header = dataclasses.replace(seen.header, target=target)
    text = snippet.of_case(dataclasses.replace(seen, header=header), WRONG)
    assert f"socket.create_connection({address!r}, 10)" in text
    compile(text, "client", "exec")


def test_a_login_is_in_none():
    secret = b"\0somebody\0open sesame"
    login = ask("SaslAuthenticate", 0, {"auth_bytes": secret}, name="login")
    for steps in ((login, STEP), (dataclasses.replace(login, name="create"),)):
        assert program(*steps) == ""


def test_a_long_frame_is_left_to_the_bundle():
    assert program(Raw(b"\0" * (snippet.LONGEST + 1), name="create", expect="close")) == ""


def test_bundle_and_page_have_it(tmp_path):
    seen = asked(STEP)
    expected = answer("create", "topics[0].error_code").is_(0)
    words = "demo.case", "demo.case", "It is.", (), "4.3", {"kind": DIVERGES}
    made = Bundle(*words, Scenario([STEP]), expected, seen, None)
    text = card.of_bundle(made).client
    assert seen.by_label["create"].sent.raw.hex()[:60] in text
    assert text.splitlines()[0] in bundle.dumps(made)
    assert bundle.read(bundle.write(made, tmp_path)).judge() == made.judge()
    assert "bytes.fromhex(" in page.show_card(card.of_bundle(made))
