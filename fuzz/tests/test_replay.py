"""`replay.py` as a stranger runs it: isolated, outside the checkout, without any package."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from touchstone.fuzz import __main__ as fuzz
from touchstone.fuzz import replay
from touchstone.fuzz.campaign import Finding, campaigns
from touchstone.fuzz.generator import TOPICS, Generator, harmless, pairs_of
from touchstone.fuzz.outcome import Outcome, signature
from touchstone.fuzz.roles import Subject
from touchstone.fuzz.sequences.campaign_run import walks_on
from touchstone.fuzz.sequences.scripted import walked_cases
from touchstone.fuzz.targets import SMALL_CLUSTER
from touchstone.fuzz.tests import seeded
from touchstone.fuzz.tests.seeded import Seeded, batch, frame_of, produce
from touchstone.fuzz.tests.seeded_bench import CONFIG, bench
from touchstone.fuzz.triage import shapes, write
from touchstone.fuzz.world import World
from touchstone.harness.model import advertised
from touchstone.harness.model.target import Shape
from touchstone.harness.targets import parse
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.headers import decode_request, decode_response, encode_response
from touchstone.reference_impl.wire.schema import Field, tagged

BY_NAME = {one.name: one for one in seeded.ALL}
ISOLATED = (sys.executable, "-I", "-S")


def alone(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ISOLATED, path.with_name("replay.py"), path, *arguments],
        capture_output=True, text=True, check=False, cwd=path.parent, env={}, timeout=120,
    )  # fmt: skip


def written(one: Seeded, folder: Path) -> Path:
    """The finding of a seeded defect in a file; the defect is gone afterwards."""
    with bench(one) as made:
        found: list[Finding] = made.complains(one.by_hand)
    return write(found[0], folder, 0)


CASES = (
    "crc-not-checked",
    "sequence-gap-accepted",
    "strangers-commit",
    "fencing-skipped",
    "acks-zero-answered",
    "unknown-version-answered",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_with_the_defect_it_exits_1_and_without_it_0(tmp_path, name):
    one = BY_NAME[name]
    path = written(one, tmp_path)
    ends = []
    for switches in (one.switches, ()):
        with serve(release=one.release, config=CONFIG, switches=switches) as cluster:
            ran = alone(path, cluster.bootstrap[0])
            ends.append(ran.returncode)
            assert ran.stderr == ""
    assert ends == [1, 0]


@pytest.mark.slow
@pytest.mark.parametrize("one", seeded.LIES, ids=lambda one: one.name)
def test_with_the_lie_it_exits_1_and_without_it_0(tmp_path, one):
    with bench(one) as made:
        path = write(made.complains(one.by_hand)[0], tmp_path, 0)
        ends = [
            alone(path, ":".join(map(str, link.address)), "--timeout", "0.3").returncode
            for link in (made.wrong, made.right)
        ]
    assert ends == [1, 0]


SCRIPTED = (
    ("generation-not-bumped", "groups", 12), ("fencing-skipped", "transactions", 40),
    ("sequence-gap-accepted", "transactions", 40), ("member-epoch-not-fenced", "groups", 40),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("switch", "campaign", "cases"), SCRIPTED)
def test_what_a_machine_found_replays_alone_and_again(tmp_path, switch, campaign, cases):
    """With the defect twice on one broker, each time under names of its own; without it never."""
    asked = ["--target", f"reference@4.3+{switch}", "--campaign", campaign, "--cases", str(cases)]
    found = CliRunner().invoke(fuzz.command, [*asked, "--out", str(tmp_path)])
    paths = sorted((tmp_path / campaign).glob("*.toml"))
    assert (found.exit_code, bool(paths)) == (1, True), found.output
    for path in paths:
        ends = []
        for switches, times in (((switch,), 2), ((), 1)):
            with serve(release="4.3", config=SMALL_CLUSTER, switches=switches) as cluster:
                for _ in range(times):
                    ran = alone(path, cluster.bootstrap[0])
                    ends.append(ran.returncode)
        assert (ends, ran.stderr) == ([1, 1, 0], ""), (path.read_text(), ran.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("campaign", ["groups", "transactions", "sessions"])
def test_a_walk_that_is_as_expected_replays_without_a_complaint(tmp_path, campaign):
    """Each step of it in turn, as if that were complained about."""
    asked = campaigns()[campaign]
    with serve(release="4.3", config=SMALL_CLUSTER) as cluster:
        host, _, port = cluster.bootstrap[0].rpartition(":")
        target = parse(cluster.bootstrap[0])
        target.start(Shape())
        walks = walks_on(target, asked, (host, int(port)), "w-")
        wrong = []
        for case in itertools.islice(walked_cases(walks, replace(asked, faults=(0, 0)), 5), 24):
            step = len(case.script.steps) - 1
            finding = Finding(
                campaign, "as_expected", "", "", 5, case.index, (), case.script.steps[step].wire
            ).of_script(case.script, step)
            path = write(finding, tmp_path, case.index, scripted=True)
            made = replay.Replay(tomllib.loads(path.read_text()), (host, int(port)), 2.0)
            replay.prepare(made.finding, made.address, 2.0)
            made.run()
            wrong += [
                (path.name, number, made.ends[number][0], one["expected"])
                for number, one in enumerate(made.steps)
                if "expected" in one and made._is_unexpected(number)
            ]
    assert wrong == []


def test_another_machine_is_refused(tmp_path):
    path = written(BY_NAME["crc-not-checked"], tmp_path)
    ran = alone(path, "192.0.2.1:9092")
    assert (ran.returncode, "--this-target-is-mine" in ran.stderr) == (2, True)


def test_a_target_that_is_not_there_is_told_apart(tmp_path):
    path = written(BY_NAME["crc-not-checked"], tmp_path)
    assert alone(path, "127.0.0.1:1").returncode == 3


@pytest.mark.parametrize("text", ["", "no toml", 'seen = "x"'])
def test_a_file_that_is_no_finding_is_told_apart(tmp_path, text):
    path = written(BY_NAME["crc-not-checked"], tmp_path)
    path.write_text(text)
    assert alone(path, "127.0.0.1:1").returncode == 2


def test_a_complaint_about_more_than_answers_is_not_decided(tmp_path):
    path = written(BY_NAME["no-authorizer-no-acls"], tmp_path)
    path.write_text(path.read_text().replace('holds = "other"', 'holds = "beyond answers"'))
    with serve() as cluster:
        ran = alone(path, cluster.bootstrap[0])
    assert (ran.returncode, "touchstone fuzz --replay" in ran.stdout) == (2, True)


# --- it reads what our codec reads ----------------------------------------------------------------

PAIRS = harmless(pairs_of(advertised.table("4.3")))


class Answers(Generator):
    """Valid answers drawn from the schemas, as the generator draws requests."""

    def answer(self, key: int, version: int) -> bytes:
        subject = Subject(self.draw, key, version, World())
        body = self._struct(API[key].response.fields, subject, "")
        return encode_response(key, version, 7, body)


def described(key: int, version: int, frame: bytes) -> tuple[str, str]:
    """(as replay.py says it, as we do)."""
    step = {
        "key": key, "answer": shapes.shape_of_answer(key, version),
        "answer_v0": shapes.shape_of_answer(key, 0),
    }  # fmt: skip
    mine = signature(key, version, Outcome((frame,), "kept"))
    return replay.describe(step, [frame], "kept")[0], replay.comparable(mine)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{API[pair.key].name}-{pair.version}")
def test_an_answer_is_described_as_we_describe_it(pair):
    draw = random.Random(f"{pair.key}/{pair.version}")
    for _ in range(20):
        frame = Answers(PAIRS, draw).answer(pair.key, pair.version)
        for wire in (frame, frame + b"\0", frame[: draw.randrange(len(frame) + 1)]):
            stranger, ours = described(pair.key, pair.version, wire)
            assert stranger == ours


def test_values_are_read_as_our_codec_reads_them():
    body = {
        "throttle_time_ms": 3, "error_code": 0, "generation_id": 9, "protocol_type": "consumer",
        "protocol_name": None, "leader": "a", "skip_assignment": True, "member_id": "a",
        "members": [{"member_id": "a", "group_instance_id": None, "metadata": b"\0\1"}],
    }  # fmt: skip
    frame = encode_response(11, 9, 7, body)
    read = replay.Body(shapes.shape_of_answer(11, 9), frame, 5).value
    assert read == decode_response(11, 9, frame).body


def test_a_batch_gets_a_producer_id_and_the_checksum_that_goes_with_it():
    made = batch(producer_epoch=3, base_sequence=4)
    frame = frame_of(produce(made))
    body = replay.Body(shapes.shape_of_request(0, 9), frame, 4 + 8 + 2 + 1)
    path = "topic_data[0].partition_data[0].records.producer_id"
    changed = body.replaced(path, 2**40)
    request = decode_request(changed[4:])
    records = request.body["topic_data"][0]["partition_data"][0]["records"]
    assert bytes(records) == batch(producer_id=2**40, producer_epoch=3, base_sequence=4)


def tagged_codes(rows: list[Field] | tuple[Field, ...], version: int, *, within: bool) -> bool:
    inside = {id(row) for row in tagged(rows, version)}
    return any(
        (within and row.name == "error_code")
        or tagged_codes(row.fields, version, within=within or id(row) in inside)
        for row in rows
    )


def test_no_error_code_stands_in_a_tagged_field_which_shapes_leave_out():
    assert not [
        (api.name, version)
        for api in API.values()
        for version in api.response.all_versions()
        if tagged_codes(api.response.fields, version, within=False)
    ]


def test_the_campaigns_topics_are_made_before(tmp_path):
    text = written(BY_NAME["crc-not-checked"], tmp_path).read_text()
    assert f"topic {TOPICS[0]} has a leader" in text
