"""`touchstone fuzz`: what it refuses, what it finds, and with which exit code it ends."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

import pytest
from click.testing import CliRunner

from touchstone.fuzz import __main__ as fuzz
from touchstone.fuzz.cases import corpus
from touchstone.fuzz.outcome import CLOSED, GARBLED, KEPT, RESET, SILENT
from touchstone.fuzz.runner import Link, NotLoopback, require_loopback
from touchstone.fuzz.tests.seeded import SWITCHED
from touchstone.fuzz.tests.seeded_bench import bench
from touchstone.fuzz.triage import framed, write
from touchstone.harness.__main__ import main
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.headers import encode_request

NO_SUCH_KEY = framed((999).to_bytes(2, "big") + bytes(10))


def run(*arguments: str):
    return CliRunner().invoke(main, ["fuzz", *arguments])


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "127.8.8.8"])
def test_this_machine_is_loopback(host):
    assert require_loopback(host, is_mine=False) is None


def test_another_machine_is_refused():
    with pytest.raises(NotLoopback, match="--this-target-is-mine"):
        require_loopback("192.0.2.1", is_mine=False)


def test_another_machine_that_is_mine_is_not_refused():
    assert require_loopback("192.0.2.1", is_mine=True) is None


def test_the_command_refuses_another_machine_before_it_connects(monkeypatch):
    def connects(*_, **__):
        raise AssertionError("a byte went to another machine")

    monkeypatch.setattr(socket, "create_connection", connects)
    result = run("--target", "192.0.2.1:9092")
    assert (result.exit_code, "not a loopback address" in result.output) == (3, True)


def test_a_target_that_is_not_there_is_incomplete():
    with socket.socket() as taken:  # bound and not listening: nobody else gets the port
        taken.bind(("127.0.0.1", 0))
        result = run("--target", f"127.0.0.1:{taken.getsockname()[1]}", "--campaign", "valid")
    assert result.exit_code == 3


@pytest.mark.parametrize("arguments", [["--target", "no such"], ["--campaign", "no such"]])
def test_a_word_that_names_nothing_is_a_usage_error(arguments):
    assert run(*arguments).exit_code == 4


def test_our_own_defect_has_the_code_of_a_broken_fuzzer(monkeypatch):
    def breaks(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(fuzz, "run_on_target", breaks)
    assert run("--campaign", "frames").exit_code == 2


@pytest.mark.slow
def test_the_corpus_campaign_finds_only_what_is_reviewed(tmp_path):
    result = run("--campaign", "corpus", "--target", "reference@4.3", "--out", str(tmp_path))
    assert (result.exit_code, f"{len(corpus())} cases" in result.output) == (0, True), result.output


@pytest.mark.slow
def test_a_planted_defect_is_found(tmp_path):
    planted = "reference@4.3+crc-not-checked"
    result = run("--campaign", "corpus", "--target", planted, "--out", str(tmp_path))
    assert (result.exit_code, "33-crc-off-by-one-bit" in result.output) == (1, True)


@pytest.mark.slow
def test_campaigns_go_on_behind_one_whose_findings_restarted_the_target(tmp_path):
    planted = "reference@4.3+crc-not-checked"
    result = run(
        "--campaign", "smoke", "--cases", "20", "--target", planted, "--out", str(tmp_path)
    )
    assert (result.exit_code, "records: 20 cases" in result.output) == (1, True), result.output


def test_a_finding_replays_as_the_same_finding(tmp_path):
    path = tmp_path / "finding.toml"
    path.write_text(
        'class = 0\noracle = "keeps_the_connection"\nsentence = "s"\nkey = 999\nversion = 0\n'
        f'segments = ["{NO_SUCH_KEY.hex()}"]\n'
    )
    result = run("--replay", str(path))
    assert (result.exit_code, "keeps_the_connection" in result.output) == (1, True), result.output


def test_a_good_frame_replays_without_a_finding(tmp_path):
    path = tmp_path / "good.toml"
    good = framed(encode_request(18, 0, 1, "fuzz", {}))
    path.write_text(
        f'class = 0\nsentence = "s"\nkey = 18\nversion = 0\nsegments = ["{good.hex()}"]\n'
    )
    assert run("--replay", str(path)).exit_code == 0


def test_a_finding_of_two_steps_replays(tmp_path):
    one = next(one for one in SWITCHED if one.name == "sequence-gap-accepted")
    with bench(one) as made:
        path = str(write(made.complains(one.by_hand)[0], tmp_path, 0))
    planted = run("--target", "reference@4.3+sequence-gap-accepted", "--replay", path)
    assert (planted.exit_code, "differs" in planted.output) == (1, True), planted.output
    assert run("--target", "reference@4.3", "--replay", path).exit_code == 0


@pytest.mark.slow
def test_a_campaign_of_machines_says_what_it_tried(tmp_path):
    result = run("--campaign", "sessions", "--cases", "12", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "sasl_on_plaintext: 6 of 6 transitions" in result.output


@pytest.mark.slow
def test_a_finding_of_a_machine_replays_from_its_file(tmp_path):
    planted = "reference@4.3+generation-not-bumped"
    found = run("--campaign", "groups", "--target", planted, "--cases", "9", "--out", str(tmp_path))
    assert found.exit_code == 1, found.output
    path = next((tmp_path / "groups").glob("*-as-expected-key-11.toml"))
    again = run("--replay", str(path), "--target", planted)
    assert (again.exit_code, "as_expected" in again.output) == (1, True), again.output
    assert run("--replay", str(path)).exit_code == 0


@pytest.mark.slow
def test_sequences_begin_with_what_a_file_holds(tmp_path):
    stored = str(written_script(tmp_path))
    result = run(
        "--campaign", "sequences", "--cases", "8", "--from", stored, "--out", str(tmp_path)
    )
    assert (result.exit_code, "8 cases" in result.output) == (0, True), result.output


def written_script(folder):
    path = folder / "script.toml"
    wire = framed(encode_request(18, 0, 1, "fuzz", {})).hex()
    path.write_text(f'[[steps]]\nwire = "{wire}"\n' * 3)
    return path


def test_a_file_without_requests_is_named(tmp_path):
    path = tmp_path / "empty.toml"
    path.write_text("steps = []\n")
    result = run("--campaign", "sequences", "--cases", "1", "--from", str(path))
    assert (result.exit_code, "empty.toml" in result.output) == (3, True), result.output


class Peer:
    """A listener that accepts one connection and says what it was told to, at once."""

    def __init__(self, words: bytes | None, late: bytes | None = None) -> None:
        self.words, self.late = words, late
        self.listener = socket.create_server(("127.0.0.1", 0))

    def __enter__(self) -> Link:
        settle = (lambda: None) if self.late is None else lambda: self.connection.sendall(self.late)
        self.link = Link(*self.listener.getsockname(), timeout_s=0.05, settle=settle)
        connection = self.link._connected()
        self.connection, _ = self.listener.accept()
        if self.words is not None:
            self.connection.sendall(self.words)
        assert connection.fileno() > 0
        return self.link

    def __exit__(self, *_: object) -> None:
        self.link.close()
        self.connection.close()
        self.listener.close()


PROBED = b"\0\0\0\4prob"


@pytest.mark.parametrize(
    ("words", "end", "answers"),
    [
        (b"", SILENT, 0),
        (b"\0\0\0\4answ" + PROBED, KEPT, 1),
        (PROBED, KEPT, 0),
        (b"HTTP/1.1 400 Bad Request\r\n", GARBLED, 0),
    ],
)
def test_how_a_case_ends(words, end, answers):
    with Peer(words) as link:
        outcome = link.play([NO_SUCH_KEY])
    assert (outcome.end, len(outcome.answers)) == (end, answers)


@pytest.mark.parametrize(("late", "end"), [(None, SILENT), (PROBED, KEPT), (b"", SILENT)])
def test_silence_is_believed_when_everything_is_done(late, end):
    with Peer(None, late) as link:
        assert link.play([NO_SUCH_KEY]).end == end


@contextlib.contextmanager
def asked_elsewhere(late: Callable[[socket.socket], object]) -> Iterator[Link]:
    """A link to a peer that is silent on its first connection until it is asked on others: then it
    does `late` with the first, and answers there.
    """

    def answer() -> None:
        with contextlib.suppress(OSError), listener.accept()[0] as first:
            while True:  # until the listener is shut down
                with listener.accept()[0] as other:
                    late(first)
                    other.sendall(PROBED)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer)
        thread.start()
        try:
            with Link(*listener.getsockname(), timeout_s=0.05) as link:
                yield link
        finally:
            listener.shutdown(socket.SHUT_RDWR)  # wakes who waits in accept
            thread.join()


@pytest.mark.parametrize(
    ("late", "end"),
    [
        (lambda first: first.shutdown(socket.SHUT_WR), CLOSED),
        (lambda first: first.sendall(PROBED), KEPT),
        (lambda first: None, SILENT),
    ],
)
def test_silence_is_believed_when_the_peer_has_answered_elsewhere(late, end):
    with asked_elsewhere(late) as link:
        assert link.play([NO_SUCH_KEY]).end == end


def test_the_silence_of_a_request_that_may_wait_is_believed_at_once():
    asked: list[socket.socket] = []
    with asked_elsewhere(asked.append) as link:
        assert link.play([NO_SUCH_KEY], may_wait=True).end == SILENT
    assert asked == []


def test_a_peer_that_hangs_up_is_met_again_on_a_new_connection():
    with serve() as cluster:
        host, _, port = cluster.bootstrap[0].rpartition(":")
        with Link(host, int(port)) as link:
            ends = [link.play([NO_SUCH_KEY]).end, link.play([b""]).end]
            assert (ends[0] in ("closed", RESET), ends[1], link.tally.connects) == (True, KEPT, 2)
