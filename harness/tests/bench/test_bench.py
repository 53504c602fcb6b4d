"""The command around the benches: names from files, ratios the right way up, nothing lost."""

import json
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from touchstone.harness.__main__ import main
from touchstone.harness.bench import __main__ as command
from touchstone.harness.bench import java_tools
from touchstone.harness.bench.contest import Figure, Options, available_peers, best
from touchstone.harness.targets import reach
from touchstone.harness.targets.login import Login
from touchstone.harness.tests.targets.secured import secured


def bench_of(run, line="A made-up bench."):
    return SimpleNamespace(run=run, __doc__=line)


def test_a_bench_is_a_file_with_a_run():
    found = command.benches()
    assert set(command.DEFAULT) <= set(found)
    assert not {"contest", "java-tools", "--main--"} & set(found)


@pytest.mark.parametrize(
    ("more_is_better", "theirs", "ratio"), [(True, 50, 2.0), (False, 50, 0.5), (True, None, None)]
)
def test_more_than_one_means_ours_is_better(more_is_better, theirs, ratio):
    figure = Figure("b", "w", 100, "u", "p", theirs, more_is_better)
    assert figure.ratio == ratio
    assert figure.row()["ratio"] == ratio


def test_contestants_take_turns_and_the_best_counts():
    order = []

    def contestant(name, values):
        return lambda: order.append(name) or values.pop()

    got = best(2, max, contestant("a", [1.0, 3.0]), contestant("b", [5.0, 2.0]))
    assert order == ["a", "b", "a", "b"]
    assert got == [3.0, 5.0]


def test_a_table_has_a_line_per_figure_and_aligned_numbers():
    lines = command.table(
        [Figure("x", "fast", 1234567, "per s", "kafka@4.3", 1000), Figure("x", "alone", 2, "ms")]
    ).splitlines()
    assert lines[0].split() == list(command.COLUMNS)
    assert "1,234,567" in lines[1]
    assert lines[1].endswith("1234.57x")
    assert lines[2].split() == ["x", "alone", "2", "-", "-", "ms", "-"]


def test_a_failing_bench_keeps_the_figures_of_the_others(monkeypatch, tmp_path):
    def half(options):
        yield Figure("half", "first", 1, "u")
        raise RuntimeError("the peer went away")

    def whole(options):
        yield Figure("whole", "only", options.rounds, "u")

    made = {"half": bench_of(half), "whole": bench_of(whole)}
    monkeypatch.setattr(command, "benches", lambda: made)
    out = tmp_path / "deep" / "bench.json"
    done = CliRunner().invoke(
        command.command, ["half", "whole", "--rounds", "3", "--out", str(out)]
    )
    assert done.exit_code == 2
    written = json.loads(out.read_text())
    assert [row["what"] for row in written["figures"]] == ["first", "only"]
    assert written["figures"][1]["ours"] == 3
    assert written["failures"] == {"half": "RuntimeError: the peer went away"}
    assert {"at", "commit", "python", "machine", "load"} <= set(written)


def test_an_unknown_bench_is_named_with_those_there_are(monkeypatch):
    monkeypatch.setattr(command, "benches", lambda: {"one": bench_of(None)})
    done = CliRunner().invoke(main, ["bench", "two"])
    assert done.exit_code == 4
    assert "no bench 'two'; there are one" in done.output


def test_a_peer_that_cannot_run_is_left_out_loudly(capsys):
    options = Options(peers=("recorded", "kafka@9.9"))
    assert list(available_peers(options)) == []
    said = capsys.readouterr().err
    assert "recorded not run: " in said
    assert "kafka@9.9 not run: " in said


def test_a_peer_that_wants_a_login_is_measured_by_who_can_log_in(capsys):
    with secured() as broker:
        reach.ask(Login(broker.properties("SASL_PLAINTEXT"), "mine.properties"))
        peer = broker.where["SASL_PLAINTEXT"]
        options = Options(peers=(peer,))
        assert list(available_peers(options, logs_in=True)) == [peer]
        assert list(available_peers(options)) == []
        assert f"{peer} not run: this bench cannot log in; producer-perf" in capsys.readouterr().err
        assert list(available_peers(options, starts=True, logs_in=True)) == []
        assert f"{peer} not run: it runs already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ("", "did not send 10 records"),
        ("9 records sent, 5.0 records/sec (1 MB/sec), 1.0 ms avg latency", "did not send 10"),
    ],
)
def test_a_producer_that_sent_less_gives_no_figure(monkeypatch, said, complaint):
    monkeypatch.setattr(java_tools, "_run", lambda *argv: said)
    with pytest.raises(java_tools.ToolFailed, match=complaint):
        java_tools.produce("h:1", "t", 10, "all")


def test_the_last_line_of_the_producer_counts(monkeypatch):
    said = "6 records sent, 5.0 records/sec (1 MB/sec)\n10 records sent, 7.5 records/sec (2 MB/sec)"
    monkeypatch.setattr(java_tools, "_run", lambda *argv: said)
    assert java_tools.produce("h:1", "t", 10, "all") == 7.5


def test_the_tail_of_the_producer_is_its_99th_percentile(monkeypatch):
    head = "10 records sent, 7.5 records/sec (2 MB/sec), 1.9 ms avg latency, 90.0 ms max latency, "
    said = head + "1 ms 50th, 3 ms 95th, 12 ms 99th, 80 ms 99.9th."
    monkeypatch.setattr(java_tools, "_run", lambda *argv: said)
    assert java_tools.latency("h:1", "t", 10, "all", 5) == 12
    monkeypatch.setattr(java_tools, "_run", lambda *argv: head)
    with pytest.raises(java_tools.ToolFailed, match="99th"):
        java_tools.latency("h:1", "t", 10, "all", 5)


HEADER = (
    "start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, "
    "rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"
)


def test_a_consumer_is_read_by_the_names_of_its_columns(monkeypatch):
    monkeypatch.setattr(
        java_tools, "_run", lambda *argv: f"{HEADER}\na, b, 1, 2, 10, 3, 4, 5, 6, 99.5\n"
    )
    assert java_tools.consume("h:1", "t", 10) == 99.5
    with pytest.raises(java_tools.ToolFailed, match="got 10 of 11"):
        java_tools.consume("h:1", "t", 11)


def test_reading_by_assignment_takes_off_the_start(monkeypatch):
    seconds = {1: 2.0, 100: 12.0}
    monkeypatch.setattr(java_tools, "_seconds", lambda bootstrap, topic, count: seconds[count])
    assert java_tools.consume_by_assignment("h:1", "t", 100) == 10.0
    seconds[100] = 1.0
    with pytest.raises(java_tools.ToolFailed, match="too few to measure"):
        java_tools.consume_by_assignment("h:1", "t", 100)
