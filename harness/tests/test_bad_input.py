"""Bad input as its user meets it: one clear line, the exit code that pages tell, a whole report.

Wrong words and files end a run before it begins, with exit code 4. What cannot be reached, started
or understood leaves a run without a verdict, with exit code 3. A broker that serves half of what it
lists is judged like any other.
"""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from touchstone.harness.results import jsonl
from touchstone.harness.results.run_folder import PAGE, SUMMARY
from touchstone.harness.run import tally
from touchstone.harness.targets.liars import LIARS, LyingServer, broker
from touchstone.harness.tests.small_kafka import UNSUPPORTED_VERSION, small_kafka, word
from touchstone.reference_impl.broker.faults.fault_plan import Rule
from touchstone.reference_impl.io.server import serve

ROOT = Path(__file__).resolve().parents[2]
USAGE = 4
FILE = 'name = "mine"\nabout = "A broker"\nversion = "1"\n'
NEVER = """[start]
command = ["{python}", "-c", "import threading; threading.Event().wait()"]
[ready]
seconds = 1
"""
SILENT = '[start]\ncommand = ["{python}", "-c", "print(\'no licence\'); exit(7)"]\n'
CASES = ("suites/topics/test_refusals.py", "--newest")
NOISE = ("suites/topics", "--newest")
HALF = ("suites/topics/test_configs.py", "suites/topics/test_refusals.py", "--newest")
NOT_SERVED = ("DescribeConfigs", "AlterConfigs", "IncrementalAlterConfigs", "CreatePartitions")


def judged(target, *arguments, cases=CASES):
    return subprocess.run(
        [
            sys.executable, "-m", "pytest", *cases, "--target", str(target), "-q",
            "-p", "no:allure_pytest", "-p", "no:timeout", *map(str, arguments),
        ],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


def smoked(target):
    command = [sys.executable, "-m", "touchstone", "smoke", "--target", str(target)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def not_run(done):
    """The lines that say why nothing was judged."""
    return [line for line in done.stdout.splitlines() if re.match(r"\d+ cases? not run: ", line)]


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "mine.toml"
        path.write_text(FILE + text)
        return path

    return write


@pytest.fixture
def nobody():
    """A port of which it is certain that nothing listens there."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield "{}:{}".format(*taken.getsockname())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("adress = 'localhost:9092'", "adress: no such key; did you mean address?"),
        ("address = 'localhost'", "address: "),
        ("address = [", "not TOML: "),
        ("", "address: give the address of what runs, or [start] to start it"),
    ],
)
def test_a_target_file_that_is_wrong(written, text, line):
    file = written(text)
    done = judged(file)
    (said,) = done.stderr.strip().splitlines()
    assert done.returncode == USAGE and said.startswith(f"ERROR: target file {file}: {line}")
    smoke = smoked(file)
    (said,) = smoke.stderr.strip().splitlines()
    assert smoke.returncode == USAGE and f"target file {file}: {line}" in said


@pytest.mark.slow
@pytest.mark.parametrize("target", ["no-such-file.toml", "nokafka", "localhost:0", "kafka@9.9"])
def test_a_word_that_names_no_target(target):
    done = judged(target)
    assert done.returncode == USAGE and len(done.stderr.strip().splitlines()) == 1, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (NEVER, "broker-0 was not ready in 1 s (ready.seconds)"),
        (SILENT, "no licence"),
    ],
)
def test_a_broker_that_never_gets_ready(written, tmp_path, text, words):
    done = judged(written(text), "--results", tmp_path)
    assert done.returncode == tally.INCOMPLETE
    (line,) = not_run(done)
    assert words in done.stdout[done.stdout.index(line) :]
    assert "no case could be judged" in done.stdout


@pytest.mark.slow
def test_nothing_listens_there(nobody):
    done = judged(nobody)
    assert done.returncode == tally.INCOMPLETE
    assert [line.split(": ", 1)[1] for line in not_run(done)] == [f"{nobody}: Connection refused"]
    smoke = smoked(nobody)
    assert smoke.returncode == tally.INCOMPLETE
    assert smoke.stdout == f"not reachable  {nobody}: Connection refused\n"


@pytest.mark.slow
def test_a_broker_that_answers_garbage(tmp_path):
    with LyingServer(LIARS["garbage"], lambda: lambda frame: None) as server:
        done = judged(word(server), "--results", tmp_path)
        smoke = smoked(word(server))
    assert done.returncode == tally.INCOMPLETE
    (line,) = not_run(done)
    assert "does not speak Kafka" in line
    assert smoke.returncode == tally.DIFFERENT and "does not speak Kafka" in smoke.stdout
    found = whole(tmp_path)
    assert {row["verdict"] for row in found.cases} == {"INCONCLUSIVE"}


@pytest.fixture
def honest():
    """A running broker that is found at the address of a liar before it, and that liar's maker."""
    with contextlib.ExitStack() as stack:

        def before(liar):
            server = stack.enter_context(LyingServer(liar, lambda: connect()))
            cluster = stack.enter_context(serve(release="4.3", advertise=[word(server)]))
            host, port = cluster.bootstrap[0].rsplit(":", 1)
            connect = broker((host, int(port)))
            return word(server)

        yield before


@pytest.mark.slow
@pytest.mark.parametrize("liar", ["random-bytes", "random-frames", "random-answers"])
def test_a_broker_that_answers_random_bytes(tmp_path, honest, liar):
    """ApiVersions and Metadata are right, all else is noise: one cause for each API, whatever the
    bytes happen to mean, and nothing is waited for in vain or asked for ever.
    """
    done = judged(honest(LIARS[liar]), "--results", tmp_path, cases=NOISE)
    assert done.returncode == tally.DIFFERENT, done.stdout
    found = whole(tmp_path)
    counted = found.footer["by_verdict"]
    assert counted.get("BROKEN", 0) == 0 and counted["CONFORMS"] > 0 < counted["DIVERGES"]
    causes = re.findall(r"^ *\d+\. .*\[(\S+?)\]$", done.stdout, re.MULTILINE)
    known = {"connection:answered,garbled" if liar == "random-bytes" else "answer"}
    # Where the first four bytes make a size that can be, the rest of such a frame never comes.
    known |= {"connection:answered,hung"} if liar == "random-bytes" else set()
    apis = {cause.partition(".")[0] for cause in causes}
    assert len(apis) > 3 and {cause.partition(".")[2] for cause in causes} <= known, done.stdout
    assert "cannot be a frame" in done.stdout or "its answer cannot be parsed" in done.stdout
    if liar != "random-bytes":  # whose frames may never come
        assert "waited for only briefly" not in done.stdout
        assert "never answered" not in done.stdout


@pytest.mark.slow
def test_smoke_says_that_it_ended_what_it_asked():
    """kfake ends when it is asked for a version that nobody has."""

    def dies(key, version, answer):
        if answer.get("error_code") == UNSUPPORTED_VERSION:
            server.listener.shutdown(socket.SHUT_RDWR)
            return None
        return answer

    with small_kafka(twist=dies) as server:
        smoke = smoked(word(server))
    assert smoke.returncode == tally.DIFFERENT
    assert smoke.stdout.splitlines()[-1].startswith("start it again before it is judged")


def whole(folder):
    """The rows of a finished run, beside which its reports stand."""
    (run,) = (path.parent for path in folder.glob("*/*.jsonl"))
    assert (run / SUMMARY).stat().st_size and (run / PAGE).stat().st_size
    (file,) = run.glob("*.jsonl")
    found = jsonl.read(file)
    assert len(found.cases) == found.header["planned"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("action", ["close", "drop"])
def test_a_broker_that_serves_half_of_what_it_lists(tmp_path, action):
    rules = [Rule(action=action, api=name, carried_out=False) for name in NOT_SERVED]
    with serve(release="4.3", faults=rules) as cluster:
        done = judged(cluster.bootstrap[0], "--results", tmp_path, "--deadline", "1", cases=HALF)
    assert done.returncode == tally.DIFFERENT, done.stdout
    found = whole(tmp_path)
    counted = found.footer["by_verdict"]
    assert counted.get("BROKEN", 0) == 0 and counted["CONFORMS"] > 0 < counted["DIVERGES"]
    causes = re.findall(r"^ *\d+\. .*\[(\S+?)\]$", done.stdout, re.MULTILINE)
    assert causes, done.stdout
    assert {cause.partition(".")[0] for cause in causes} <= set(NOT_SERVED), done.stdout
    assert "Kafka 4.3 answers, this target" in done.stdout
    silent = [line for line in done.stdout.splitlines() if line.startswith("never answered: ")]
    assert len(silent) == (action == "drop"), "one line names what a stranger has to look at"
    assert all("DescribeConfigs" in line for line in silent)
