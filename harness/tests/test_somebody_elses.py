"""Our own broker, given as HOST:PORT: another node id, a rack or none, and default settings.

Whoever runs it so has done nothing wrong, so everything that can be judged conforms.
"""

from __future__ import annotations

import importlib
import pkgutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from touchstone import suites
from touchstone.harness.driver.brokers import Question
from touchstone.harness.judgement.verdict import BROKEN, CONFORMS, DIVERGES, INCONCLUSIVE
from touchstone.harness.model import advertised
from touchstone.harness.model.case import Case
from touchstone.harness.model.claim import BROKER_ROLE, claim_of, place_of
from touchstone.harness.model.recordings import Store
from touchstone.harness.model.target import Shape
from touchstone.harness.results import jsonl
from touchstone.harness.run import dry, tally
from touchstone.harness.run.ahead import Ahead, Work
from touchstone.harness.run.judge import Judge
from touchstone.harness.run.oracles import Recorded
from touchstone.harness.targets import parse
from touchstone.reference_impl.io.server import serve

ROOT = Path(__file__).resolve().parents[2]
NODE = 3
SAMPLE = 6  # claims of each suite
DEADLINE_S = 30.0
END_S = 300.0  # for a run to end that was told to: it puts everything back, on any machine
MOST_THAT_SEE = 12
MOST_OF_THEM = 700  # cases of 2.8 that one broker can be asked
# Suites whose claims are about several brokers, about clients, or want settings.
OTHERS = (
    "acks", "isr", "racks", "replication", "admin", "consumer", "producer", "share", "transactions",
)  # fmt: skip
PLUGGED_IN = ("telemetry",)  # judged where a plug-in receives metrics, which this broker has not
SUITES = sorted(
    one.name
    for one in pkgutil.iter_modules(suites.__path__)
    if one.ispkg and one.name not in (*OTHERS, *PLUGGED_IN, "kit")
)


@pytest.fixture(scope="module", params=["", "eu-1a"], ids=["no rack", "a rack"])
def external(request):
    """Node 3, at 4.3."""
    racks = (request.param,) if request.param else ()
    with serve(release="4.3", config={"node.id": str(NODE)}, racks=racks) as cluster:
        yield cluster.bootstrap[0]


def sample(suite, release):
    """The shortest claims of a suite that any cluster can be asked, each with its function."""
    package = importlib.import_module(f"touchstone.suites.{suite}")
    found = []
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if ".test_" not in module.name:
            continue
        for function in vars(importlib.import_module(module.name)).values():
            claim = claim_of(function)
            here = claim is not None and claim.where.rpartition(".")[0] == place_of(module.name)
            if claim is None or not here or claim.capabilities or claim.role != BROKER_ROLE:
                continue
            cases = claim.cases(release, advertised.table(release))
            taken = dry.run(function, cases[-1], release) if cases else None
            if taken is not None and taken.scenario.shape == Shape():
                found.append((len(taken.scenario.steps), claim.id, function, cases[-1]))
    return [(function, case) for *_, function, case in sorted(found, key=lambda one: one[:2])]


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_it_conforms_in_a_sample_of_every_suite(external, suite):
    judge = Judge(
        parse(external), Recorded(Store("4.3")), "4.3", nonce="stranger", deadline_s=DEADLINE_S
    )
    works = [
        Work(case.id, function, Case(case, judge), alone=False)
        for function, case in sample(suite, "4.3")[:SAMPLE]
    ]
    ahead = Ahead(works, 4)
    for work in works:
        ahead.result(work.key)
    ahead.close()
    verdicts = {work.key: work.case.judgement.verdict for work in works}
    assert verdicts, "somebody is asked"
    assert {verdict.kind for verdict in verdicts.values()} <= {CONFORMS}, verdicts
    assert judge.close() == []


# A file like those that owners have, and modules whose claims see what is in it.
OWNERS_FILE = {
    "log.retention.hours": "72", "log.segment.bytes": "268435456", "num.partitions": "3",
}  # fmt: skip
SEEING = ("topics.test_configs", "topics.test_create", "topics.test_auto_creation")


@pytest.mark.slow
@pytest.mark.parametrize("release", ["1.0", "2.8", "4.3"])
def test_it_conforms_with_settings_of_an_owner(release):
    """Values, sources, synonyms and numbers of partitions follow from the file."""
    with serve(release=release, config=OWNERS_FILE) as cluster:
        target = parse(cluster.bootstrap[0])
        written = {name for name, one in target.settings().items() if one.written}
        assert OWNERS_FILE.keys() <= written
        judge = Judge(target, Recorded(Store(release)), release, nonce="own", deadline_s=DEADLINE_S)
        verdicts = {}
        for module in SEEING:
            for function in vars(importlib.import_module(f"touchstone.suites.{module}")).values():
                claim = claim_of(function)
                cases = claim.cases(release, advertised.table(release)) if claim else []
                if cases and (taken := dry.run(function, cases[-1], release)) is not None:
                    told = judge.judgement(cases[-1], taken.scenario, taken.expectation)
                    verdicts[cases[-1].id] = told.verdict
        assert judge.close() == []
    assert {verdict.kind for verdict in verdicts.values()} <= {CONFORMS, INCONCLUSIVE}, verdicts
    assert sum(verdict.kind == CONFORMS for verdict in verdicts.values()) > MOST_THAT_SEE


def pytest_command(address, folder, *selection):
    return [
        sys.executable, "-m", "pytest", *selection, "--newest", "--target", address,
        "--results", str(folder), "-p", "no:allure_pytest",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.nightly
def test_it_conforms_in_whole_suites(tmp_path):
    """Node 3 in a rack, at 2.8, which has no settings that can be changed for a run."""
    command = [sys.executable, "-m", "touchstone", "broker", "--release", "2.8", "--racks", "eu-1a"]
    broker = subprocess.Popen(
        [*command, "--config", f"broker.id={NODE}"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        address = broker.stdout.readline().removeprefix("ready ").strip()
        command = pytest_command(address, tmp_path, "suites/", "-m", "not harm")
        subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
    finally:
        broker.kill()
        broker.wait()
        broker.stdout.close()
    (file,) = tmp_path.glob("*/*.jsonl")
    rows = jsonl.read(file).cases
    wrong = [row["reason"] for row in rows if row["verdict"] in (DIVERGES, BROKEN)]
    assert not wrong, wrong
    assert sum(row["verdict"] == CONFORMS for row in rows) > MOST_OF_THEM


def own(address):
    """The names of topics that are not internal, and the settings of all brokers."""
    with Question(parse(address).addresses[0], DEADLINE_S) as question:
        body = {"topics": None, "allow_auto_topic_creation": False}
        topics = question.ask("Metadata", 4, body)["topics"]
        row = {"resource_type": 4, "resource_name": "", "configuration_keys": None}
        (told,) = question.ask("DescribeConfigs", 1, {"resources": [row]})["results"]
    names = {topic["name"] for topic in topics if not topic["name"].startswith("__")}
    return names, {one["name"]: one["value"] for one in told["configs"]}


def _heeds_ctrl_c():
    """What a shell starts in its background ignores SIGINT, and so would what that starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
def test_ctrl_c_ends_a_run_and_leaves_nothing(tmp_path):
    """In the middle of cases that wait, with settings that were set for the run."""
    with serve(release="4.3", config={"node.id": str(NODE)}) as cluster:
        address = cluster.bootstrap[0]
        before = own(address)
        command = pytest_command(address, tmp_path, "suites/rebalance", "suites/share", "-vv")
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, text=True, preexec_fn=_heeds_ctrl_c
        ) as running:
            assert any("PASSED" in line for line in running.stdout)
            during = own(address)
            running.send_signal(signal.SIGINT)
            said = running.communicate(timeout=END_S)[0]
        assert running.returncode == tally.INCOMPLETE, said
        assert during[1] != before[1], "something was set"
        assert own(address) == before, said
    (file,) = tmp_path.glob("*/*.jsonl")
    with pytest.raises(jsonl.BadResults, match="no footer"):
        jsonl.read(file)
