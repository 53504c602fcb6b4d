"""Where clients are sent is said, and whether anybody is there; who was not named is not asked."""

from __future__ import annotations

import socket

import pytest
from click.testing import CliRunner

from touchstone.harness.__main__ import main
from touchstone.harness.model.target import OutOfScope, Shape
from touchstone.harness.results import page, summary
from touchstone.harness.results.summary import Report
from touchstone.harness.run.judge import judge_for
from touchstone.harness.targets import reach, sent_to
from touchstone.harness.targets.external import ExternalTarget
from touchstone.harness.tests.results.runs import head, rows
from touchstone.harness.tests.small_kafka import METADATA, small_kafka, word

STRANGER = ("192.0.2.1", 9092)  # RFC 5737: of nobody


@pytest.fixture
def nobody():
    """An address of this machine where nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()


def advertising(*places):
    """A small Kafka that sends its clients there; None stands for where it is."""
    server = []

    def twist(key, version, answer):
        if key == METADATA:
            here = [place or server[0].address for place in places]
            answer["brokers"] = [
                {"node_id": node, "host": host, "port": port, "rack": None}
                for node, (host, port) in enumerate(here, 1)
            ]
        return answer

    server.append(small_kafka(twist=twist))
    return server[0]


def test_who_is_where_it_says_answers():
    with advertising(None) as server:
        (line,) = ExternalTarget((server.address,)).where_clients_go()
    assert line == f"clients are sent to broker 1 at {word(server)}, which answers from here"


def test_a_broker_that_is_not_where_it_says_is_a_line_that_says_what_to_set(nobody):
    with advertising(None, nobody) as server:
        _, line = ExternalTarget((server.address,)).where_clients_go()
    assert line.startswith(
        f"broker 2 sends its clients to 127.0.0.1:{nobody[1]}, where it does not"
    )
    assert "Connection refused" in line and "set advertised.listeners of broker 2" in line


def test_another_cluster_at_the_address_is_as_bad_as_nobody():
    with advertising(None) as other, advertising(None, other.address) as server:
        _, line = ExternalTarget((server.address,)).where_clients_go()
    assert "(who answers there is another cluster's)" in line


def test_who_was_not_given_is_not_asked_and_not_called_dead(monkeypatch):
    monkeypatch.setattr(reach, "_given", set())
    asked = []
    monkeypatch.setattr(sent_to.probe, "metadata", lambda *where: asked.append(where))
    (found,) = sent_to.look({1: STRANGER})
    assert found.found == sent_to.NOT_ASKED and asked == []
    assert str(found).startswith("broker 1 is not asked: 192.0.2.1:9092 is not on loopback")


def test_of_many_brokers_the_first_are_looked_at(monkeypatch):
    found = sent_to.look(dict.fromkeys(range(1000), ("h", 0)))
    told = sent_to.lines(found, 1000)
    assert len(found) == sent_to.LISTED
    assert told[-1] == "and 990 more brokers, which were not looked at"


def test_a_name_that_is_shown_moves_no_cursor():
    assert "\x1b" not in str(sent_to.look({1: ("\x1b[2J\n", 0)})[0])


def test_what_wants_a_broker_that_is_not_there_is_out_of_scope(nobody):
    with advertising(None, nobody) as server:
        target = ExternalTarget((server.address,))
        target.where_clients_go()
        with pytest.raises(OutOfScope, match="broker 2 sends its clients to"):
            target.start(Shape(2))
        assert target.start(Shape()).bootstrap == (server.address,)


def test_smoke_says_that_clients_do_not_find_it(nobody):
    with advertising(nobody) as server:
        done = CliRunner().invoke(main, ["smoke", "--target", word(server)])
    assert done.exit_code == 3
    assert done.output.splitlines()[-1].endswith("and clients that it sends on do not find it")
    assert "set advertised.listeners of broker 1" in done.output


def test_smoke_does_not_say_what_it_has_not_asked(monkeypatch):
    monkeypatch.setattr(reach, "_given", set())
    with advertising(STRANGER) as server:
        done = CliRunner().invoke(main, ["smoke", "--target", word(server)])
    assert done.exit_code == 0 and "can be judged" not in done.output
    assert done.output.splitlines()[-1].endswith("nobody has asked: --follow does")


def test_a_run_and_its_reports_say_where_clients_go(nobody):
    with advertising(nobody) as server:
        addresses = judge_for(word(server), nonce="n").where_clients_go()
    report = Report(head(addresses=addresses), rows())
    assert len(addresses) == 1
    assert addresses[0] in summary.lines(report) and addresses[0] in page.render([report])
    assert f"- {addresses[0]}" in summary.markdown([report]).replace("\\", "")
