"""A client campaign catches planted defects of a client, and leaves a healthy one alone."""

from __future__ import annotations

import contextlib
import itertools
import json
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from touchstone.fuzz import __main__ as fuzz
from touchstone.fuzz import interrupts
from touchstone.fuzz.account import Account
from touchstone.fuzz.clients import command
from touchstone.fuzz.clients.campaign import (
    NEVER,
    BadFinding,
    NotStarted,
    Players,
    Stage,
    groups,
    load,
    run,
    write,
)
from touchstone.fuzz.clients.case import (
    ALLOCATES,
    COMPUTES,
    DIES,
    HANGS,
    RAISES,
    RECOVERED,
    REPORTED,
    Patience,
    Verdict,
)
from touchstone.fuzz.clients.command import ClientBounds
from touchstone.fuzz.clients.faults import Fault, Spoiler
from touchstone.fuzz.clients.proxy import Proxy
from touchstone.fuzz.clients.session import Player, Program
from touchstone.fuzz.generator import Pair
from touchstone.harness.adapters import adapter_file
from touchstone.harness.adapters.program import MIB
from touchstone.harness.model.target import Unavailable
from touchstone.harness.results import fuzz_rows
from touchstone.reference_impl.io.server import serve

LITTLE = Path(__file__).with_name("little_client.py")
PAIRS = [Pair(3, version) for version in range(14)]
SHORT = Patience(deadline_s=4.0, close_s=4.0)
BUSY = Patience(deadline_s=60.0, close_s=60.0, processor_s=1.5)
"""On a busy machine, too, who loops takes so much processor time before it is said to hang."""
pytestmark = pytest.mark.slow


def little(mode: str) -> Program:
    room = 4096 if mode == "reserves" else 1024
    command = (sys.executable, str(LITTLE), mode)
    return Program(command, keys=(3,), address_space=room * MIB, growth=48 * MIB)


@pytest.fixture(scope="module")
def broker():
    with serve(release="4.3") as cluster:
        host, _, port = cluster.bootstrap[0].rpartition(":")
        yield host, int(port)


@pytest.fixture
def stage(broker):
    """Makes a stage for a mode of the little client, with a proxy of its own, for a proxy has one
    fault at a time; its processes are ended.
    """
    with contextlib.ExitStack() as made:

        def make(mode: str) -> Stage:
            players = Players(little(mode))
            made.callback(players.end)
            proxy = made.enter_context(Proxy(broker))
            numbers = itertools.count()
            patience = BUSY if mode == "computes" else SHORT
            return Stage(players, proxy, lambda: f"t{next(numbers)}", PAIRS, patience)

        yield make


def fault(way: str, seed: str = "s", times: int = 1) -> Fault:
    return Fault(3, None, 2, times, way, seed)


def test_a_healthy_client_is_not_accused(stage):
    tally = run([stage("healthy")], 1, lambda so_far: so_far.cases < 60)
    assert (tally.found, tally.unsteady) == ([], 0)
    assert tally.kinds.keys() <= {RECOVERED, REPORTED, "unfired"}
    assert tally.kinds[REPORTED] >= 10 and tally.kinds[RECOVERED] >= 5


@pytest.mark.parametrize(
    ("mode", "ways", "kind"),
    [
        ("trusts", ["wrong_size"], ALLOCATES),
        ("reserves", ["text"], ALLOCATES),
        ("patient", ["stalled"], HANGS),
        ("computes", ["truncate", "length_lie"], COMPUTES),
        ("dies", ["truncate", "length_lie"], DIES),
        ("raises", ["truncate", "length_lie"], RAISES),
    ],
)
def test_a_planted_defect_is_caught(stage, mode, ways, kind):
    played = stage(mode)
    cases = (fault(way, str(seed)) for seed in range(12) for way in ways)
    assert any(played.play(case)[0].kind == kind for case in cases)


def test_a_defect_is_found_by_a_campaign_written_and_replayed(stage, tmp_path):
    tally = run([stage("dies")], 2, lambda so_far: so_far.cases < 40 and not so_far.found)
    (one,) = groups(tally.found)[0]
    path = write(one, "little", 2, tmp_path, 0)
    assert (load(path), stage("dies").play(load(path))[0].kind) == (one.fault, DIES)
    assert "signal 6" in one.verdict.words


def test_several_clients_at_a_time_share_the_cases(stage):
    tally = run([stage("dies") for _ in range(3)], 2, lambda so_far: so_far.begun < 24)
    found = [one.index for one in tally.found]
    assert (tally.begun, tally.cases, tally.kinds.total()) == (24, 24, 24)
    assert found == sorted(set(found)) and found and found[-1] < 24


def test_one_that_does_not_start_ends_them_all(stage):
    broken = stage("healthy")
    broken.players.program = Program((sys.executable, "-c", "import no_such_module"), keys=(3,))
    with pytest.raises(NotStarted, match="no_such_module"):
        run([stage("healthy"), broken], 1, lambda _: True)


def test_what_was_found_until_an_interrupt_is_kept(stage):
    def interrupted(so_far):
        if so_far.cases == 3:
            raise KeyboardInterrupt
        return True

    tally = run([stage("healthy")], 1, interrupted)
    assert (tally.cases, tally.interrupted) == (3, True)


class Obedient:
    """A stage on which every case is a finding; in its play of number `at` the user wants an end,
    and its client is ended under it.
    """

    def __init__(self, at: int) -> None:
        self.at, self.plays = at, 0
        self.pairs, self.players, self.closed = PAIRS, self, threading.Event()

    def close(self) -> None:
        self.closed.set()

    def play(self, fault: Fault) -> tuple[Verdict, Spoiler]:
        self.plays += 1
        if self.plays == self.at:
            signal.raise_signal(signal.SIGINT)
            assert self.closed.wait(60)
        honest = fault.nth == NEVER
        return Verdict(RECOVERED if honest else DIES, "\x1b[31mred"), Spoiler(fault)


@pytest.mark.parametrize(
    ("at", "steady", "untried"),
    [(1, 0, 0), (2, 0, 1), (3, 0, 1), (4, 1, 0), (5, 1, 1), (8, 2, 1)],
    ids=["first", "again", "honest", "second", "second again", "third again"],
)
def test_what_was_seen_is_written_whenever_a_user_wants_an_end(tmp_path, at, steady, untried):
    account = Account("reference", 1, tmp_path, ("touchstone", "fuzz"))
    bounds = ClientBounds(1, 100, None, account, None, 1)
    with interrupts.listening():
        assert command.play_clients("mine", [Obedient(at)], bounds) == 3
    files = [*tmp_path.rglob("*.toml")]
    rows = [json.loads(line) for line in (tmp_path / fuzz_rows.NAME).read_text().splitlines()]
    assert rows[0]["executions"] == rows[0]["complaints"] == steady + untried
    assert sum(row["members"] for row in rows[1:]) == steady + untried
    assert len(files) == len(rows) - 1 == account.causes + account.unsteady
    assert all((path.parent.name == "unsteady") == (not steady) for path in files[:1])
    assert all(load(path).key == 3 for path in files)


def test_what_shows_without_a_fault_is_no_finding(stage):
    tally = run([stage("slow")], 1, lambda so_far: so_far.cases < 1)
    assert (tally.found, tally.unsteady, dict(tally.kinds)) == ([], 1, {HANGS: 1})


def test_a_program_that_does_not_start_is_named():
    players = Players(Program((sys.executable, "-c", "import no_such_module"), keys=(3,)))
    with pytest.raises(NotStarted, match="no_such_module"):
        players.process()
    players.end()


@pytest.mark.parametrize(
    ("text", "said"), [("key = ", "not TOML"), ("key = 3", "nth"), (None, "no 'no_such'")]
)
def test_a_bad_file_is_named_with_what_is_wrong(tmp_path, text, said):
    path = tmp_path / "bad.toml"
    whole = 'key = 3\nnth = 1\ntimes = 1\nway = "no_such"\nseed = "s"\n'
    path.write_text(whole if text is None else text)
    with pytest.raises(BadFinding, match=f"bad.toml: .*{said}"):
        load(path)


def test_a_client_that_is_not_there_is_incomplete(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        'name = "mine"\nabout = "ours"\nversion = "1"\n'
        '[start]\ncommand = ["{python}"]\nneeds = ["python:no_such_module"]\n'
    )
    result = CliRunner().invoke(fuzz.command, ["--client", str(file)])
    assert (result.exit_code, "'no_such_module'" in result.output) == (3, True), result.output


@pytest.mark.parametrize("word", ["nobody", "nobody.toml"])
def test_a_client_that_nobody_knows_is_named(word):
    result = CliRunner().invoke(fuzz.command, ["--client", word])
    assert (result.exit_code, word in result.output) == (4, True), result.output
    assert "Traceback" not in result.output


def test_the_command_has_the_code_of_what_it_found(monkeypatch, tmp_path):
    for mode, code in (("dies", 1), ("healthy", 0)):
        monkeypatch.setattr(command, "program_of", lambda _, mode=mode: little(mode))
        out = str(tmp_path / mode)
        asked = ["--client", "aiokafka", "--cases", "25", "--seed", "2", "--out", out]
        result = CliRunner().invoke(fuzz.command, asked)
        assert result.exit_code == code, result.output


@pytest.fixture(params=["touchstone", "confluent-kafka", "kafka-python", "aiokafka"])
def released(request):
    try:
        adapter_file.find(request.param).program()
    except Unavailable as missing:
        pytest.skip(f"not run: {missing.reason}")
    return request.param


def test_a_released_client_plays(released, tmp_path):
    asked = ["--client", released, "--cases", "3", "--seed", "357", "--out", str(tmp_path)]
    result = CliRunner().invoke(fuzz.command, asked)
    assert result.exit_code in (0, 1) and "3 cases, answers of" in result.output, result.output


def test_a_released_client_logs_in(released, tmp_path):
    asked = ["--client", released, "--api", "SaslHandshake", "--cases", "2", "--seed", "3"]
    result = CliRunner().invoke(fuzz.command, [*asked, "--out", str(tmp_path)])
    assert result.exit_code in (0, 1) and "never asked: none" in result.output, result.output


def test_an_api_that_no_session_asks_is_named(tmp_path):
    for target, api in (("reference", "EndTxn"), ("reference@2.2", "SaslAuthenticate")):
        asked = ["--target", target, "--client", "aiokafka", "--api", api, "--out", str(tmp_path)]
        result = CliRunner().invoke(fuzz.command, asked)
        assert (result.exit_code, f"is answered no {api} here" in result.output) == (2, True)
        assert "Traceback" not in result.output


def test_one_api_goes_with_a_client():
    result = CliRunner().invoke(fuzz.command, ["--api", "Metadata"])
    assert (result.exit_code, "--api goes with --client" in result.output) == (2, True)


class Said(Player):
    """A player whose adapter says what a test says, and is told nothing."""

    def __init__(self) -> None:
        super().__init__(Program((sys.executable, "-c", "input()"), keys=(3,)))
        self.told: list[dict[str, Any]] = []

    def say(self, line: str) -> None:
        self.told.append(json.loads(line))

    def says(self, name: str, client: str, **fields: Any) -> str | None:
        self._events.put(json.dumps({"name": name, "client": client, **fields}))
        return self.line(0)


@pytest.fixture
def said():
    player = Said()
    yield player
    player.end()


def problem(exception: str, code: int | None = None, operation: str = "tick") -> dict[str, Any]:
    return {"operation": operation, "exception": exception, "message": "m", "code": code}


def test_a_session_writes_and_reads(said):
    said.begin("127.0.0.1:1", "t")
    producer, consumer = (row["client"] for row in said.told)
    assert [row["config"].get("group.id") for row in said.told] == [None, "t"]
    assert said.says("startup_complete", consumer) is None
    assert said.told[-1] == {"command": "subscribe", "client": consumer, "topics": ["t"]}
    record = {"topic": "t", "partition": 0, "offset": 0, "key": None, "value": "a record"}
    assert said.says("producer_send_success", producer, **record) is None
    rows: dict[str, Any] = {"count": 1, "partitions": [], "records": [record]}
    assert said.says("records_consumed", consumer, **rows) == "progress"
    assert said.says("records_consumed", consumer, **rows) is None
    assert said.says("records_consumed", "one of the session before", **rows) is None


@pytest.mark.parametrize(
    ("exception", "code", "told"),
    [
        ("KafkaTimeoutError", 7, "error"), ("NotLeader", None, "error"), ("OSError", None, "error"),
        ("KeyError", 6, "error"), ("KeyError", None, "fatal"), ("error", None, "fatal"),
        ("NullPointerException", None, "fatal"), ("RangeError", None, "fatal"),
    ],
)  # fmt: skip
def test_an_exception_that_is_no_clients_own_is_told_apart(said, exception, code, told):
    said.begin("127.0.0.1:1", "t")
    client = said.told[0]["client"]
    assert said.says("client_error", client, **problem(exception, code)) == f"{told} {exception}: m"


def test_what_a_client_has_not_is_left_away(said):
    said.begin("127.0.0.1:1", "t")
    producer, consumer = (row["client"] for row in said.told)
    assert said.says("not_supported", producer, what="the setting linger.ms") is None
    again = said.told[-1]
    assert "linger.ms" not in again["config"] and "max.block.ms" in again["config"]
    assert said.says("not_supported", consumer, what="a client of kind consumer") is None
    record = {"topic": "t", "partition": 0, "offset": 0, "key": None, "value": "a record"}
    assert said.says("producer_send_success", again["client"], **record) == "progress"
    with pytest.raises(Unavailable, match="has not a client of kind producer"):
        said.says("not_supported", again["client"], what="a client of kind producer")


def test_a_codec_that_a_running_client_has_not_is_an_error_of_its_own(said):
    said.begin("127.0.0.1:1", "t")
    consumer = said.told[1]["client"]
    said.says("startup_complete", consumer)
    said.says("command_done", consumer, command="subscribe")
    assert said.says("not_supported", consumer, what="snappy") == "error snappy"


def test_who_closes_is_waited_for_without_a_turn_of_the_loop(said):
    said.begin("127.0.0.1:1", "t")
    said.says("startup_complete", said.told[0]["client"])  # a record is due soon
    said.stop()
    asked, get = [], said._events.get

    def counted(timeout):
        asked.append(timeout)
        return get(timeout=timeout)

    said._events.get = counted
    assert (said.line(0.3), len(asked) <= 3) == (None, True)


def test_a_session_is_over_when_both_have_closed_and_are_forgotten(said):
    said.begin("127.0.0.1:1", "t")
    producer, consumer = (row["client"] for row in said.told)
    said.stop()
    assert said.says("shutdown_complete", producer) is None
    assert said.told[-1]["command"] == "close"
    assert said.says("client_error", consumer, **problem("KeyError", operation="close")) is None
    assert said.told[-1] == {"command": "reset"}
    assert said.says("reset_complete", "") == "closed"


def test_who_did_not_open_has_nothing_to_close(said):
    said.begin("127.0.0.1:1", "t")
    producer, consumer = (row["client"] for row in said.told)
    said.says("client_error", producer, **problem("NoBrokers", operation="open"))
    said.stop()
    assert [row["client"] for row in said.told if row["command"] == "close"] == [consumer]
    said.says("shutdown_complete", consumer)
    assert said.told[-1] == {"command": "reset"}


def test_a_session_in_which_nobody_opened_is_over(said):
    said.begin("127.0.0.1:1", "t")
    producer, consumer = (row["client"] for row in said.told)
    said.says("client_error", producer, **problem("NoBrokers", operation="open"))
    said.stop()
    said.says("client_error", consumer, **problem("NoBrokers", operation="open"))
    assert said.told[-1] == {"command": "reset"}
    said.begin("127.0.0.1:1", "t")
    for row in said.told[-2:]:
        said.says("client_error", row["client"], **problem("NoBrokers", operation="open"))
    said.stop()
    assert [row["command"] for row in said.told[-2:]] == ["open", "reset"]


def test_a_session_logs_in_where_the_client_can(said):
    said.begin("127.0.0.1:1", "t", "127.0.0.1:2")
    producer, consumer = (row["client"] for row in said.told)
    for row in said.told:
        assert row["config"]["bootstrap.servers"] == "127.0.0.1:2"
        assert row["config"]["sasl.mechanism"] == "SCRAM-SHA-256"
    for name in (producer, consumer):
        said.says("not_supported", name, what="the setting security.protocol")
        assert said.told[-1]["config"]["bootstrap.servers"] == "127.0.0.1:1"
        assert "sasl.mechanism" not in said.told[-1]["config"]
