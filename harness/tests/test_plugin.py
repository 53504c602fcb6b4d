"""`pytest suites/` end to end, on small brokers that tell the truth, lie, or never answer."""

from __future__ import annotations

import json
import socket
import textwrap

import pytest

from touchstone.harness import checkers
from touchstone.harness.cli import join
from touchstone.harness.model import ledger
from touchstone.harness.results import jsonl
from touchstone.harness.run import session
from touchstone.harness.targets import external, probe, process, recorded
from touchstone.harness.tests.small_kafka import CREATE_TOPICS, small_kafka, word
from touchstone.plugin import OPTIONS

pytest_plugins = ["pytester"]

# pytester forgets what a run inside it imports; a module imported twice is two sets of classes.
LOADED = (ledger, session, external, process, recorded, checkers.checkers())
pytestmark = pytest.mark.slow
PREFIXED = {f"--{name}": f"--touchstone-{name}" for name in OPTIONS}  # for claims of nobody's suite

CLAIMS = """
    from touchstone.harness.model.claim import claim, every
    from touchstone.harness.model.expect import answer
    from touchstone.harness.model.steps import create_topic

    @claim("demo.zero-partitions", evidence=("TOPIC-11",), api="CreateTopics", {more})
    def test_zero(case):
        \"""Zero partitions are refused.\"""
        return case.scenario(
            create_topic(case.topic(), partitions=0, version=case.version, name="create"),
            expect=answer("create", "topics[0].error_code").is_({code}),
        )
"""
VERSIONS = 6  # of CreateTopics on 4.3


def lying(key, version, answer):
    if key == CREATE_TOPICS:
        answer["topics"][0]["error_code"] = 0
    return answer


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Whoever answers here answers on a busy machine, too."""
    monkeypatch.setattr(external, "SECONDS", 60.0)


@pytest.fixture
def kafka():
    with small_kafka() as server:
        yield word(server)


@pytest.fixture
def liar():
    with small_kafka(twist=lying) as server:
        yield word(server)


@pytest.fixture
def suite(pytester):
    def write(code=37, more="", extra=""):
        text = textwrap.dedent(CLAIMS.format(code=code, more=more)) + textwrap.dedent(extra)
        pytester.makepyfile(test_demo=text)

    def run(*arguments):
        return pytester.runpytest_inprocess(
            "-p", "no:allure_pytest", "-p", "no:timeout",
            *(PREFIXED.get(word, word) for word in ("--results", "out", "--deadline", "30")),
            *(PREFIXED.get(word, word) for word in arguments),
        )  # fmt: skip

    run.write, run.path = write, pytester.path
    write()
    return run


def results(suite, name=None):
    found = {
        one.header["target"]: one for one in map(jsonl.read, (suite.path / "out").glob("*/*.jsonl"))
    }
    return found[name] if name else next(iter(found.values()))


def test_an_honest_broker_conforms(suite, kafka):
    done = suite("--target", kafka, "--oracle", kafka)
    assert done.ret == 0
    done.assert_outcomes(passed=VERSIONS)
    done.stdout.fnmatch_lines(["*target 127.0.0.1:*(live)*", "*nonce*", "exit 0: conforms*"])
    found = results(suite)
    assert found.footer["by_verdict"]["CONFORMS"] == VERSIONS == found.header["planned"]
    assert found.header["oracle_kind"] == "live" and found.header["release"] == "4.3"
    assert found.cases[0]["case"] == "demo.zero-partitions[v2]"


def test_a_liar_diverges_and_leaves_a_bundle(suite, kafka, liar):
    done = suite("--target", liar, "--oracle", kafka)
    assert done.ret == 1
    done.assert_outcomes(failed=VERSIONS)
    done.stdout.fnmatch_lines(
        [
            "*expected INVALID_PARTITIONS (37), got NONE (0)*",
            "*6 cases diverge, 1 cause",
            "*topics.error_code:37,0*",
        ]
    )
    row = results(suite).cases[0]
    assert row["verdict"] == "DIVERGES" and row["differences"][0]["target"] == 0
    bundle = next((suite.path / "out").glob("*")) / row["transcript"]
    assert json.loads(bundle.read_text())["first_difference"]["oracle"] == 37
    assert bundle.stat().st_size < 64 << 10


@pytest.fixture
def moody():
    """It lies about the first topic of each version, and about no other."""
    lied = set()

    def lies_once(key, version, answer):
        if key != CREATE_TOPICS or version in lied:
            return answer
        lied.add(version)
        return lying(key, version, answer)

    with small_kafka(twist=lies_once) as server:
        yield word(server)


def test_what_differs_is_asked_again_and_said_to_be_flaky(suite, kafka, moody):
    done = suite("--target", moody, "--oracle", kafka, "--again", "1")
    assert done.ret == 0
    done.assert_outcomes(passed=VERSIONS)
    done.stdout.fnmatch_lines(["flaky: demo.zero-partitions?v2?: at first*got 0*"])
    row = results(suite).cases[0]
    assert row["verdict"] == "CONFORMS" and "got 0" in row["at_first"]
    assert "first_difference" in next((suite.path / "out").glob("*/bundles/*/*")).read_text()


def test_somebody_elses_target_is_asked_again_unless_the_user_says_no(suite, kafka, moody):
    assert suite("--target", moody, "--oracle", kafka).ret == 0


def test_nothing_is_asked_again_if_the_user_says_so(suite, kafka, moody):
    assert suite("--target", moody, "--oracle", kafka, "--again", "0").ret == 1


def test_who_lies_again_is_not_excused(suite, kafka, liar):
    done = suite("--target", liar, "--oracle", kafka, "--again", "3")
    done.assert_outcomes(failed=VERSIONS)
    assert done.ret == 1 and "flaky" not in done.stdout.str()


def test_what_is_flaky_is_not_recorded(suite, kafka):
    done = suite("--target", kafka, "--record", "--again", "1")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*--again and --record*"])


def test_the_build_of_a_run_is_what_its_user_says(suite, kafka):
    told = suite("--target", kafka, "--build", "nightly 7")
    assert results(suite).header["build"] == "nightly 7"
    told.stdout.fnmatch_lines([f"target {kafka} (external), build nightly 7, against oracle *"])


def test_one_build_is_of_one_target(suite, kafka, liar):
    told = suite("--target", kafka, "--target", liar, "--build", "nightly 7")
    assert told.ret == pytest.ExitCode.USAGE_ERROR
    told.stderr.fnmatch_lines(["*--build names the build of one target*"])


def test_targets_are_judged_side_by_side(suite, kafka, liar):
    done = suite("--target", liar, "--target", kafka, "--oracle", kafka)
    assert done.ret == 1
    done.assert_outcomes(failed=VERSIONS, passed=VERSIONS)
    assert results(suite, kafka).footer["by_verdict"]["CONFORMS"] == VERSIONS
    assert results(suite, liar).footer["by_verdict"]["DIVERGES"] == VERSIONS


def test_a_wrong_expectation_breaks_the_build_and_not_the_target(suite, kafka):
    suite.write(code=42)
    done = suite("--target", kafka, "--oracle", kafka)
    assert done.ret == 2
    done.stdout.fnmatch_lines(["*oracle disagrees*", "exit 2*"])
    assert results(suite).footer["by_verdict"]["BROKEN"] == VERSIONS


def test_an_exception_in_a_claim_is_broken_with_its_stack(suite, kafka):
    suite.write(
        extra="""
        @claim("demo.oops", evidence=("TOPIC-11",))
        def test_oops(case):
            \"""It raises.\"""
            raise ZeroDivisionError("ours")
    """
    )
    done = suite("--target", kafka, "--oracle", kafka)
    assert done.ret == 2
    row = results(suite).cases[-1]
    assert (row["verdict"], row["reason"]) == ("BROKEN", "ZeroDivisionError: ours")


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("pass", "returns no scenario"),
        ("case.scenario(expect=answer('x', 'error_code').is_(0))", "no step"),
        ("case.version", "about no API"),
        ("case.scenario(); assert 1 == 2", "assert 1 == 2"),
    ],
)
def test_a_misuse_of_the_case_is_broken(suite, kafka, body, complaint):
    suite.write(
        extra=f"""
        @claim("demo.misuse", evidence=("TOPIC-11",))
        def test_misuse(case):
            \"""It misuses.\"""
            {body}
    """
    )
    assert suite("--target", kafka, "--oracle", kafka, "-k", "misuse").ret == 2
    row = results(suite).cases[-1]
    assert row["verdict"] == "BROKEN" and complaint in row["reason"]


def test_unsupported_is_proved_and_skipped(suite, kafka):
    with small_kafka("1.0") as old:
        done = suite("--target", word(old), "--oracle", kafka)
    by_verdict = results(suite).footer["by_verdict"]
    assert by_verdict["UNSUPPORTED"] == VERSIONS - 1, "1.0 has only v2 of those that 4.3 has"
    assert done.ret == 0
    done.stdout.fnmatch_lines(["*UNSUPPORTED*"])


def test_advertised_and_refused_is_a_difference(suite, kafka):
    def refuses(key, version, answer):
        return None if key == CREATE_TOPICS else answer

    with small_kafka(twist=refuses) as server:
        done = suite("--target", word(server), "--oracle", kafka)
    assert done.ret == 1
    assert {row["connection"] for row in results(suite).cases} == {"closed"}
    assert {row["verdict"] for row in results(suite).cases} == {"DIVERGES"}


def soon_given_up(silent, question):
    """Nobody waits long for this one; for the others as long as they need."""

    def asked(address, seconds):
        host, port = address
        return question(address, 0.1 if f"{host}:{port}" == silent else seconds)

    return asked


def test_a_port_that_never_answers_costs_one_deadline(suite, kafka, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        word = f"127.0.0.1:{silent.getsockname()[1]}"
        for question in (probe.api_versions, probe.metadata):
            monkeypatch.setattr(probe, question.__name__, soon_given_up(word, question))
        done = suite("--target", word, "--oracle", kafka)
    assert done.ret == 3
    found = results(suite)
    assert found.footer["by_verdict"]["INCONCLUSIVE"] == VERSIONS == found.header["planned"]
    done.stdout.fnmatch_lines([f"{VERSIONS} cases not run: *does not answer ApiVersions*"])


def test_a_target_that_dies_halfway_gives_a_whole_report(suite, kafka):
    served = []

    def dies(key, version, answer):
        served.append(key == CREATE_TOPICS and answer["topics"][0]["error_code"] == 37)  # a case
        if served[-1] and sum(served) > 2:
            server.stop()
            return None
        return answer

    with small_kafka(twist=dies) as server:
        done = suite("--target", word(server), "--oracle", kafka, "--jobs", "1")
    found = results(suite)
    assert sum(found.footer["by_verdict"].values()) == VERSIONS == found.header["planned"]
    assert found.footer["by_verdict"]["CONFORMS"] == 2
    assert done.ret in (1, 3)


def test_no_java_is_said_loudly(suite, kafka, monkeypatch):
    monkeypatch.setattr(process.KafkaProcess, "available", lambda self: "no Java")
    done = suite("--target", "kafka@4.3")
    assert done.ret == 3
    done.stdout.fnmatch_lines([f"{VERSIONS} cases not run: no Java"])


def test_selection_is_written_down(suite, kafka):
    done = suite("--target", kafka, "--oracle", kafka, "-k", "v7")
    assert done.ret == 0
    manifest = json.loads(next((suite.path / "out").glob("*/*.manifest.json")).read_text())
    assert manifest["planned"] == ["demo.zero-partitions[v7]"]
    assert len(manifest["deselected"]) == VERSIONS - 1 and not manifest["whole"]


def test_one_case_of_a_claim_is_of_its_newest_version(suite, kafka):
    suite.write(more='versions=every("CreateTopics")')
    done = suite("--target", kafka, "--oracle", kafka, "--newest")
    done.assert_outcomes(passed=1, deselected=VERSIONS - 1)
    (row,) = results(suite).cases
    assert row["version"] == max(range(2, 2 + VERSIONS))


def test_processes_may_share_a_run(suite, kafka, liar):
    for target in (kafka, liar):
        suite("--target", target, "--oracle", kafka, "--run", "night")
    folder = suite.path / "out" / "night"
    headers = [jsonl.read(path).header for path in sorted(folder.glob("*.jsonl"))]
    assert {header["target"] for header in headers} == {kafka, liar}
    assert {header["run"] for header in headers} == {"night"}
    assert len(list(folder.glob("*.junit.xml"))) == 2
    again = suite("--target", kafka, "--oracle", kafka, "--run", "night")
    assert again.ret == 4 and "is there already" in again.stderr.str() + again.stdout.str()


def sharded(suite, kafka, *shards, claims=3):
    suite.write(extra="".join(f'''
        @claim("demo.more-{index}", evidence=("TOPIC-11",), api="CreateTopics")
        def test_more_{index}(case):
            \"""It is refused too.\"""
            return case.scenario(create_topic(case.topic(), partitions=0, version=case.version))
    ''' for index in range(claims)))  # fmt: skip
    for shard in shards:
        assert suite("--target", kafka, "--oracle", kafka, "--run", "r", "--shard", shard).ret == 0
    return suite.path / "out" / "r"


def test_parts_are_judged_apart_and_joined(suite, kafka):
    folder = sharded(suite, kafka, "1/3", "2/3", "3/3")
    found = [jsonl.read(path, part=True) for path in sorted(folder.glob("*.jsonl"))]
    assert [one.header["part"]["index"] for one in found] == [1, 2, 3]
    assert {one.header["part"]["total"] for one in found} == {4 * VERSIONS}
    assert all(one.footer["cases"] == one.header["planned"] >= VERSIONS for one in found)
    assert not list(folder.glob("*.junit.xml")), "of wholes only"
    assert join.main(folder) == 0
    one = results(suite)
    assert one.footer["cases"] == one.header["planned"] == len(one.cases) == 4 * VERSIONS


def test_without_one_part_the_run_is_incomplete(suite, kafka):
    folder = sharded(suite, kafka, "1/3", "3/3")
    assert join.main(folder) == 3
    with pytest.raises(jsonl.BadResults, match="not joined"):
        results(suite)


@pytest.mark.parametrize(
    "words",
    [["--shard", "4/3"], ["--shard", "1/2"], ["--shard", "1/2", "--run", "r", "--record"]],
)
def test_parts_that_cannot_be_joined_are_a_usage_error(suite, kafka, words):
    assert suite("--target", kafka, *words).ret == pytest.ExitCode.USAGE_ERROR


def test_stopping_at_the_first_failure_is_incomplete_in_the_file(suite, kafka, liar):
    done = suite("--target", liar, "--oracle", kafka, "-x", "--jobs", "1")
    assert done.ret == 1
    found = results(suite)
    assert found.footer["cases"] == 1 and found.header["planned"] == VERSIONS
    done.stdout.fnmatch_lines([f"not run: {VERSIONS - 1} planned cases were never started"])


def test_an_interrupted_run_has_no_footer(suite, kafka):
    suite.write(
        extra="""
        @claim("demo.stop", evidence=("TOPIC-11",))
        def test_stop(case):
            \"""Somebody presses Ctrl-C.\"""
            raise KeyboardInterrupt
    """
    )
    done = suite("--target", kafka, "--oracle", kafka, "--jobs", "1")
    assert done.ret == 3
    (path,) = (suite.path / "out").glob("*/*.jsonl")
    with pytest.raises(jsonl.BadResults, match="no footer"):
        jsonl.read(path)
    judged = len(jsonl.read(path, incomplete=True).cases)
    assert judged == VERSIONS
    cut = f"incomplete: cut after {judged} of {VERSIONS + 1} cases"
    done.stdout.fnmatch_lines([f"{kafka} *: {cut}: no new difference"])
    for name in ("summary.md", "index.html", "badge.svg"):
        text = (path.parent / name).read_text()
        assert (cut if name != "badge.svg" else "incomplete, ") in text, name
    assert not list(path.parent.glob("*.junit.xml"))


def test_pins_make_a_difference_expected_and_are_held_to_it(suite, kafka, liar):
    pins = ["--expectations", "pins.toml"]
    assert suite("--target", liar, "--oracle", kafka, *pins, "--update-expectations").ret == 1
    done = suite("--target", liar, "--oracle", kafka, *pins)
    assert done.ret == 0
    done.assert_outcomes(xfailed=VERSIONS)
    assert suite("--target", liar, "--oracle", kafka, *pins, "--strict-known").ret == 1
    text = (suite.path / "pins.toml").read_text().replace(liar, kafka)
    (suite.path / "pins.toml").write_text(text)
    done = suite("--target", kafka, "--oracle", kafka, *pins)
    assert done.ret == 1, "what is fixed must leave the list"
    done.stdout.fnmatch_lines(["fixed: *: demo.zero-partitions*"])


def test_claims_that_share_an_id_are_refused(suite, kafka):
    suite.write(
        extra="""
        @claim("demo.zero-partitions", evidence=("TOPIC-11",))
        def test_again(case):
            \"""The same id.\"""
    """
    )
    done = suite("--target", kafka, "--oracle", kafka)
    assert done.ret == 2
    done.stdout.fnmatch_lines(["*the id demo.zero-partitions is *"])


def test_unknown_evidence_is_refused(suite, kafka):
    suite.write(
        extra="""
        @claim("demo.other", evidence=("TOPIC-99",))
        def test_other(case):
            \"""Nobody knows the clause.\"""
    """
    )
    done = suite("--target", kafka, "--oracle", kafka)
    assert done.ret == 2
    done.stdout.fnmatch_lines(["*nobody knows the clause TOPIC-99*"])


def test_a_file_that_cannot_be_imported_breaks_the_run(suite, kafka):
    suite.path.joinpath("test_bad.py").write_text("import nothing_of_this_name\n")
    assert suite("--target", kafka, "--oracle", kafka).ret == 2


@pytest.mark.parametrize("target", ["kafka@9.9", "nonsense", "kafka@", "1.2.3.4:99999"])
def test_a_target_that_is_none_is_a_usage_error(suite, target):
    done = suite("--target", target)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([f"ERROR: target '{target}'*"])


def test_without_an_oracle_only_expectations_and_checkers_judge(suite, kafka, liar):
    assert suite("--target", kafka, "--oracle", "none").ret == 0
    assert results(suite).header["oracle_kind"] == "none"
    assert suite("--target", liar, "--oracle", "none").ret == 1


def test_collecting_writes_nothing(suite, kafka):
    done = suite("--target", kafka, "--collect-only", "-q")
    assert done.ret == 0 and not (suite.path / "out").exists()


def test_the_plugin_is_nobody_elses_business(pytester):
    pytester.makepyfile("""
        import sys
        def test_nothing_heavy_is_loaded():
            ours = {name[11:] for name in sys.modules if name.split(".")[0] == "touchstone"}
            assert ours == {"", "checkout", "fixtures", "plugin"}
    """)
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    assert done.ret == 0
    assert "touchstone" not in done.stdout.str().replace("touchstone-", "").split("plugins:")[0]
