"""A client campaign catches planted defects of a client, and leaves a healthy one alone."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from touchstone.fuzz import __main__ as fuzz
from touchstone.fuzz.clients import known
from touchstone.fuzz.clients.adapted import AdaptedProgram
from touchstone.fuzz.clients.campaign import (
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
    DIES,
    HANGS,
    RAISES,
    RECOVERED,
    REPORTED,
    Patience,
)
from touchstone.fuzz.clients.faults import Fault
from touchstone.fuzz.clients.known import CLIENTS, Program
from touchstone.fuzz.clients.proxy import Proxy
from touchstone.fuzz.generator import Pair
from touchstone.harness.adapters.program import MIB
from touchstone.harness.model.target import Unavailable
from touchstone.reference_impl.io.server import serve

LITTLE = Path(__file__).with_name("little_client.py")
PAIRS = [Pair(3, version) for version in range(14)]
SHORT = Patience(deadline_s=4.0, close_s=4.0)
pytestmark = pytest.mark.slow


def little(mode: str, made: type[Program] = Program) -> Program:
    command = (sys.executable, str(LITTLE), *mode.split())
    room = 4096 if "reserves" in mode else 1024
    return made(command, keys=(3,), address_space=room * MIB, growth=48 * MIB)


@pytest.fixture(scope="module")
def proxy():
    with serve(release="4.3") as cluster:
        host, _, port = cluster.bootstrap[0].rpartition(":")
        with Proxy((host, int(port))) as one:
            yield one


@pytest.fixture
def stage(proxy):
    """Makes a stage for a mode of the little client; its processes are ended."""
    made = []

    def make(mode: str) -> Stage:
        players = Players(little(mode, AdaptedProgram if "adapter" in mode else Program))
        made.append(players)
        numbers = itertools.count()
        return Stage(players, proxy, lambda: f"t{next(numbers)}", PAIRS, SHORT)

    yield make
    for players in made:
        players.end()


def fault(way: str, seed: str = "s", times: int = 1) -> Fault:
    return Fault(3, None, 2, times, way, seed)


@pytest.mark.parametrize("mode", ["healthy", "healthy adapter"])
def test_a_healthy_client_is_not_accused(stage, mode):
    tally = run([stage(mode)], 1, lambda so_far: so_far.cases < 60)
    assert (tally.found, tally.unsteady) == ([], 0)
    assert tally.kinds.keys() <= {RECOVERED, REPORTED, "unfired"}
    assert tally.kinds[REPORTED] >= 10 and tally.kinds[RECOVERED] >= 5


@pytest.mark.parametrize("way_in", ["", " adapter"])
@pytest.mark.parametrize(
    ("mode", "ways", "kind"),
    [
        ("trusts", ["wrong_size"], ALLOCATES),
        ("reserves", ["text"], ALLOCATES),
        ("patient", ["stalled"], HANGS),
        ("dies", ["truncate", "length_lie"], DIES),
        ("raises", ["truncate", "length_lie"], RAISES),
    ],
)
def test_a_planted_defect_is_caught(stage, mode, ways, kind, way_in):
    played = stage(mode + way_in)
    cases = (fault(way, str(seed)) for seed in range(12) for way in ways)
    assert any(played.play(case)[0].kind == kind for case in cases)


def test_a_defect_is_found_by_a_campaign_written_and_replayed(stage, tmp_path):
    played = stage("dies")
    tally = run([played], 2, lambda so_far: so_far.cases < 40 and not so_far.found)
    (one,) = groups(tally.found)[0]
    path = write(one, "little", 2, tmp_path, 0)
    assert (load(path), played.play(load(path))[0].kind) == (one.fault, DIES)
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


@pytest.mark.parametrize("mode", ["slow", "slow adapter"])
def test_what_shows_without_a_fault_is_no_finding(stage, mode):
    tally = run([stage(mode)], 1, lambda so_far: so_far.cases < 1)
    assert (tally.found, tally.unsteady, dict(tally.kinds)) == ([], 1, {HANGS: 1})


def test_a_program_that_does_not_start_is_named(proxy):
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


def test_a_client_that_is_not_there_is_incomplete(monkeypatch):
    def missing() -> Program:
        raise Unavailable("no such client")

    monkeypatch.setitem(known.CLIENTS, "aiokafka", missing)
    result = CliRunner().invoke(fuzz.command, ["--client", "aiokafka"])
    assert (result.exit_code, "no such client" in result.output) == (3, True)


def test_the_command_has_the_code_of_what_it_found(monkeypatch, tmp_path):
    for mode, code in (("dies", 1), ("healthy", 0)):
        monkeypatch.setitem(known.CLIENTS, "aiokafka", lambda mode=mode: little(mode))
        out = str(tmp_path / mode)
        asked = ["--client", "aiokafka", "--cases", "25", "--seed", "2", "--out", out]
        result = CliRunner().invoke(fuzz.command, asked)
        assert result.exit_code == code, result.output


@pytest.mark.parametrize("name", ["librdkafka", "kafka-python", "aiokafka"])
def test_a_released_client_plays(name, tmp_path):
    try:
        CLIENTS[name]()
    except Unavailable as missing:
        pytest.skip(f"not run: {missing.reason}")
    asked = ["--client", name, "--cases", "2", "--seed", "3", "--out", str(tmp_path)]
    result = CliRunner().invoke(fuzz.command, asked)
    assert result.exit_code in (0, 1) and "2 cases, answers of" in result.output, result.output
