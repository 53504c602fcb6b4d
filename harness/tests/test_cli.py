"""The commands: as pages show them; judge, diff, replay, smoke, sim, coverage, record."""

from __future__ import annotations

import dataclasses
import json
import lzma
import os
import re
import signal
import socket
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from click.testing import CliRunner

from touchstone.harness import driver
from touchstone.harness.__main__ import COMMANDS, main
from touchstone.harness.cli import record, sim, smoke
from touchstone.harness.judgement import anatomy, bundle
from touchstone.harness.judgement.bundle import Bundle
from touchstone.harness.model import ledger, recordings
from touchstone.harness.model.expect import answer
from touchstone.harness.model.placeholders import Name
from touchstone.harness.model.scenario import Scenario
from touchstone.harness.model.steps import create_topic
from touchstone.harness.model.target import Unavailable
from touchstone.harness.model.transcript import dumps, write
from touchstone.harness.targets import external
from touchstone.harness.tests.doctor import ended, golden, never_reached, step_with, with_answer
from touchstone.harness.tests.small_kafka import CREATE_TOPICS, small_kafka, word
from touchstone.plugin import OPTIONS
from touchstone.reference_impl.io.server import serve

SEEN = golden("2.8")
CREATE = step_with(SEEN, "CreateTopics")
MINE = ("judge", "diff", "replay", "smoke", "coverage", "record", "pin", "compare", "verify")


def set_code(body):
    body["topics"][0]["error_code"] = 36


LYING = with_answer(SEEN, CREATE, set_code)


ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path for path in (*ROOT.glob("*.md"), *ROOT.glob("[a-z]*/**/README.md")))
OURS = re.compile(r"(?:^ {4}|`)(touchstone ([a-z]+)|pytest suites)\b([^`#\n]*)", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_that_a_page_shows_has_such_options(page):
    for told, name, words in OURS.findall(page.read_text()):
        known = options_of(name) if name else Pytests.known
        shown = {word.split("=")[0] for word in words.split() if word.startswith("--")}
        assert shown <= {*known, "--help"}, f"{told}{words}"


def options_of(name):
    return {option for each in main.get_command(None, name).params for option in each.opts}


class Pytests:
    """What the plugin adds to pytest's options in a run of our suites."""

    known = {f"--{prefix}{name}" for name in OPTIONS for prefix in ("", "touchstone-")}


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def a_bundle(target=LYING, oracle=SEEN, expectation=None, kind="DIVERGES"):
    return Bundle(
        case="demo.case[v7]", claim="demo.case", sentence="A sentence.", evidence=("TOPIC-11",),
        release="2.8", verdict={"kind": kind, "reason": "then"},
        scenario=Scenario.from_json(SEEN.header.scenario), expectation=expectation,
        target=target, oracle=oracle,
    )  # fmt: skip


@pytest.fixture
def file(tmp_path):
    return bundle.write(a_bundle(), tmp_path)


@pytest.mark.parametrize("name", MINE)
def test_every_command_explains_itself(name):
    done = run(name, "--help")
    assert done.exit_code == 0 and "Exit code" in done.output
    assert len(COMMANDS[name][1]) > 20


def test_a_variable_is_spelled_as_its_option_and_blamed_for_what_it_says(monkeypatch):
    monkeypatch.setenv("TOUCHSTONE_VERSION", "1")  # of whoever pins what is installed
    monkeypatch.setenv("TOUCHSTONE_SMOKE_TARGET", "recorded@4.3")
    assert "recorded@4.3" in run("smoke").output
    monkeypatch.setenv("TOUCHSTONE_BROKER_PORT", "abc")
    done = run("broker")
    assert done.exit_code == 4 and "'--port' (the variable TOUCHSTONE_BROKER_PORT): " in done.output
    done = run("broker", "--port", "abc")
    assert done.exit_code == 4 and "variable" not in done.output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_variable_of_its_own(name):
    command = main.get_command(click.Context(main), name)
    named = [one.envvar for one in command.params if isinstance(one, click.Option)]
    assert len({*named}) == len(named) and all(named)


def test_a_command_that_is_nearly_one_is_told():
    done = run("brokr")
    assert done.exit_code == 4 and "no command 'brokr'; did you mean broker?" in done.output


# bundles


def test_a_bundle_comes_back_as_it_was(file):
    found = bundle.read(file)
    assert found == a_bundle()
    assert file.name == "demo.case_v7.bundle.json"
    assert file.stat().st_size < 64 << 10
    assert json.loads(file.read_text())["first_difference"]["target"] == 36


@pytest.mark.parametrize("text", ["", "{", "[]", '{"bundle": 9}', '{"bundle": 1}'])
def test_what_is_no_bundle_is_refused_by_name(tmp_path, text):
    path = tmp_path / "bad.bundle.json"
    path.write_text(text)
    with pytest.raises(bundle.BadBundle, match="bad.bundle.json"):
        bundle.read(path)


def test_a_bundle_cut_at_any_byte_is_refused(file, tmp_path):
    data = file.read_bytes()
    cut = tmp_path / "cut.bundle.json"
    for keep in range(0, len(data) - 1, 997):
        cut.write_bytes(data[:keep])
        with pytest.raises(bundle.BadBundle):
            bundle.read(cut)


# judge


def test_judge_says_again_what_was_said(file):
    done = run("judge", file)
    assert done.exit_code == 1
    assert "oracle 0, target 36" in done.output and "1 DIVERGES; 0 changed" in done.output


def test_judge_says_when_a_verdict_changed(tmp_path):
    bundle.write(a_bundle(target=SEEN), tmp_path)
    done = run("judge", tmp_path)
    assert done.exit_code == 0 and "(was DIVERGES)" in done.output


def test_judge_blames_us_for_a_claim_that_kafka_denies(tmp_path):
    wrong = answer(CREATE, "topics[0].error_code").is_(42)
    bundle.write(a_bundle(expectation=wrong), tmp_path)
    assert run("judge", tmp_path).exit_code == 2


def test_judge_reads_transcripts_and_recordings(tmp_path):
    write(SEEN, tmp_path / "a.jsonl")
    recordings.write(tmp_path / "b.jsonl.xz", "2.8", "b", {"x": dumps(SEEN), "y": dumps(SEEN)})
    done = run("judge", tmp_path / "a.jsonl", tmp_path, "-q")
    assert done.exit_code == 0 and "3 CONFORMS" in done.output


def test_judge_finds_what_a_checker_finds(tmp_path):
    def twice(body):
        body["topics"] *= 2

    write(with_answer(SEEN, CREATE, twice), tmp_path / "odd.jsonl")
    assert run("judge", tmp_path / "odd.jsonl").exit_code in (0, 1)
    write(ended(SEEN, CREATE, "timeout"), tmp_path / "hung.jsonl")
    assert run("judge", tmp_path / "hung.jsonl").exit_code == 3


def test_judge_names_what_it_cannot_read(tmp_path):
    path = tmp_path / "cut.jsonl.xz"
    path.write_bytes(lzma.compress(b'{"recording":1}\n'))
    done = run("judge", path)
    assert done.exit_code == 3 and "cut.jsonl.xz, line 2" in done.output


# diff


def test_diff_marks_the_first_difference_with_its_offset(file):
    done = run("diff", file)
    assert done.exit_code == 1
    (line,) = [line for line in done.output.splitlines() if line.strip().startswith(">>")]
    assert "topics[0].error_code" in line and "0 NONE" in line
    assert "36 TOPIC_ALREADY_EXISTS" in line
    offset = int(line.split("@")[1].split()[0])
    raw = SEEN.by_label[CREATE].received.raw
    assert raw[offset : offset + 2] == b"\0\0"
    assert LYING.by_label[CREATE].received.raw[offset : offset + 2] == b"\0\x24"


def test_diff_begins_with_the_card(file):
    text = run("diff", file).output
    order = ["DIVERGES demo.case[v7]", "  A sentence.", "  TOPIC-11: A number", "CreateTopics v7",
             "topics[0].name = ", "Kafka 2.8   answers NONE (0)",
             "this target answers TOPIC_ALREADY_EXISTS (36)", "replay: touchstone replay",
             "oracle "]  # fmt: skip
    at = [text.find(words) for words in order]
    assert -1 not in at and at == sorted(at), dict(zip(order, at, strict=True))


def test_diff_of_two_transcripts_and_of_equal_ones(tmp_path):
    write(SEEN, tmp_path / "a.jsonl")
    write(LYING, tmp_path / "b.jsonl")
    assert run("diff", tmp_path / "a.jsonl", tmp_path / "b.jsonl").exit_code == 1
    done = run("diff", tmp_path / "a.jsonl", tmp_path / "a.jsonl")
    assert done.exit_code == 0 and "no difference" in done.output


def test_diff_shows_all_and_hex_when_asked(file):
    short, long = run("diff", file).output, run("diff", file, "--all", "--hex").output
    assert len(long) > 3 * len(short) and "oracle's frame" in long


def test_diff_shows_an_answer_that_never_came(tmp_path):
    write(SEEN, tmp_path / "a.jsonl")
    write(never_reached(SEEN), tmp_path / "b.jsonl")
    done = run("diff", tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert done.exit_code == 1 and "not attempted" in done.output


def test_diff_names_what_it_cannot_read(tmp_path):
    (tmp_path / "a.jsonl").write_text("{}\n")
    done = run("diff", tmp_path / "a.jsonl", tmp_path / "a.jsonl")
    assert done.exit_code == 3 and "a.jsonl" in done.output


def test_every_leaf_stands_where_it_is_said_to_stand():
    for trip in SEEN.round_trips:
        leaves = anatomy.response_leaves(trip)
        assert len(leaves) == len(anatomy.flat(trip.answer)) or trip.answer is None
        for leaf in leaves:
            if leaf.path.endswith("error_code"):
                raw = trip.received.raw[leaf.start : leaf.end]
                assert int.from_bytes(raw, "big", signed=True) == leaf.value


def test_what_does_not_decode_is_shown_up_to_there():
    event = SEEN.by_label[CREATE].received
    cut = SEEN.events[: SEEN.events.index(event)]
    short = dataclasses.replace(SEEN, events=(*cut, dataclasses.replace(event, raw=event.raw[:20])))
    leaves = anatomy.response_leaves(short.by_label[CREATE])
    assert leaves and "remain" in str(leaves[-1].value)


# replay


def test_replay_sends_a_case_again(tmp_path):
    def lies(key, version, body):
        if key == CREATE_TOPICS:
            body["topics"][0]["error_code"] = 0
        return body

    scenario = Scenario([record_step()])
    with small_kafka() as honest, small_kafka(twist=lies) as liar:
        kafkas = driver.run(scenario, honest.endpoint, nonce="one")
        theirs = driver.run(scenario, liar.endpoint, nonce="two")
        made = Bundle(
            "demo.case", "demo.case", "s", (), "4.3", {"kind": "DIVERGES"}, scenario,
            answer("create", "topics[0].error_code").is_(37), theirs, kafkas,
        )  # fmt: skip
        path = bundle.write(made, tmp_path)
        done = run("replay", path, "--target", word(liar), "--out", tmp_path / "again")
        assert done.exit_code == 1, done.output
        assert "expected INVALID_PARTITIONS (37), got NONE (0)" in done.output
        assert bundle.read(next((tmp_path / "again").iterdir())).judge().kind == "DIVERGES"
        done = run("replay", path, "--target", word(honest))
        assert done.exit_code == 0 and "it was DIVERGES" in done.output
    assert run("replay", path, "--target", word(honest)).exit_code == 3, "it is gone"
    assert run("replay", path, "--target", "nonsense").exit_code == 4


def record_step():
    return create_topic(Name("t", length=20), partitions=0, version=5, name="create")


# smoke


def test_smoke_passes_a_broker():
    with small_kafka() as server:
        done = run("smoke", "--target", word(server))
    assert done.exit_code == 0, done.output
    assert "can be judged" in done.output and "as Kafka 4.3 does" in done.output


def test_smoke_names_every_broker_of_a_cluster():
    with serve(brokers=3) as cluster:
        done = run("smoke", "--target", cluster.bootstrap[0])
    named = ", ".join(f"{node} at {address}" for node, address in enumerate(cluster.bootstrap))
    assert f"it names its brokers: {named}\n" in done.output


@pytest.mark.slow
def test_smoke_tells_a_silent_port_from_a_closed_one(monkeypatch):
    monkeypatch.setattr(smoke, "SECONDS", 0.3)
    monkeypatch.setattr(external, "SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        spec = f"127.0.0.1:{silent.getsockname()[1]}"
        done = run("smoke", "--target", spec)
        assert done.exit_code == 1 and "does not speak Kafka" in done.output
    with socket.socket() as taken:  # bound and not listening: nobody else gets the port
        taken.bind(("127.0.0.1", 0))
        done = run("smoke", "--target", f"127.0.0.1:{taken.getsockname()[1]}")
    assert done.exit_code == 3 and "not reachable" in done.output


def test_smoke_wants_a_no_to_what_nobody_has():
    def says_yes(key, version, body):
        return body

    with small_kafka(twist=says_yes) as server:
        server.upstream = answers_everything(server.upstream)
        done = run("smoke", "--target", word(server))
    assert done.exit_code == 1 and "BAD  it refuses API key 31000" in done.output


def answers_everything(upstream):
    honest = upstream()

    def ask(frame):
        known = frame[:2] in (b"\0\x12", b"\0\x03", b"\0\x13")
        return honest(frame) if known else frame[4:8] + b"\0\0"

    return lambda: ask


def test_smoke_refuses_words_that_are_no_targets():
    assert run("smoke", "--target", "nonsense").exit_code == 4


# sim


def test_a_seed_that_broke_a_promise_is_told_with_what_it_was_run_with(monkeypatch):
    broke = SimpleNamespace(tail=(), violation="seed 7: lost", seed=7)
    monkeypatch.setattr(sim, "trial", lambda *_, **__: broke)
    given = ("--brokers", 4, "--switch", "lost-write", "--switch", "hw-ignored")
    done = run("sim", "--seed", 7, "--jobs", 1, *given)
    again = "touchstone sim --brokers 4 --switch lost-write --switch hw-ignored --seed 7"
    assert done.exit_code == 1 and f"again: {again}\n" in done.output


def test_a_release_without_consumer_groups_has_no_workload_of_them():
    done = run("sim", "--workload", "consumer-groups", "--release", "2.8", "--seed", 0)
    assert done.exit_code == 4 and "Kafka 2.8 has nothing for" in done.output


# coverage and record


@pytest.mark.slow
def test_coverage_counts_every_cell():
    done = run("coverage", "--gaps")
    assert done.exit_code == 0, done.output
    assert "clauses" in done.output and "Produce" in done.output
    data = json.loads(run("coverage", "--json").stdout)
    assert len(data["clauses"]) == len(ledger.load().clauses)
    assert len(data["cells"]) == len(ledger.every_cell())
    assert sum(data["cases"].values()) > sum(data["newest"].values()) > data["claims"]
    assert f"{sum(data['cases'].values()):,} cases" in done.output and "(a case is a" in done.output


@pytest.mark.parametrize("target", ["reference", "recorded@4.3"])
def test_only_real_kafka_is_recorded(target):
    done = run("record", "--target", target)
    assert done.exit_code == 3 and "only real Kafka is recorded" in done.output


def test_record_says_what_is_missing(monkeypatch):
    def missing(word):
        raise Unavailable("no Java")

    monkeypatch.setattr(record, "write_table", missing)
    done = run("record", "--target", "kafka@4.3")
    assert done.exit_code == 3 and "no Java" in done.output


ENDING = """if True:
    import os, signal, sys
    handed_on = {{signal.SIGINT, signal.SIGTERM}}
    signal.pthread_sigmask(signal.SIG_BLOCK, handed_on)  # so that none comes before it is awaited
    os.kill(os.getppid(), signal.{name})
    signal.sigwait(handed_on)
    sys.exit(3)
"""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_to_record_is_handed_on_and_waited_for(monkeypatch, name, code):
    monkeypatch.setattr(record, "write_table", lambda word: None)
    monkeypatch.setattr(record, "PYTEST", ("-c", ENDING.format(name=name)))
    before = signal.getsignal(signal.SIGINT)
    done = run("record", "--target", "kafka@4.3")
    assert (done.exit_code, done.output) == (code, "")
    assert signal.getsignal(signal.SIGINT) is before


def test_record_that_ends_before_pytest_has_recorded_nothing(monkeypatch):
    monkeypatch.setattr(record, "write_table", lambda word: os.kill(os.getpid(), signal.SIGTERM))
    done = run("record", "--target", "kafka@4.3")
    assert done.exit_code == 143 and "ended before a case was recorded" in done.output
