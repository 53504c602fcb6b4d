"""`pytest --alluredir DIR` end to end: as many of each status as pytest has, with the reasons."""

from __future__ import annotations

import json
import sys
from collections import Counter

import pytest
from click.testing import CliRunner

from touchstone import serve
from touchstone.harness import extras, results
from touchstone.harness.__main__ import main
from touchstone.harness.cli import join
from touchstone.harness.results import allure
from touchstone.harness.tests import test_plugin
from touchstone.harness.tests.small_kafka import small_kafka, word
from touchstone.harness.tests.test_plugin import PREFIXED, VERSIONS

# Fixtures are found by their names in this module.
kafka, liar, moody = test_plugin.kafka, test_plugin.liar, test_plugin.moody
patience, suite = test_plugin.patience, test_plugin.suite
pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow
LOADED = allure  # pytester would import its library anew, which the module would not see

OOPS = """
    @claim("demo.oops", evidence=("TOPIC-11",))
    def test_oops(case):
        \"""It raises.\"""
        raise AssertionError("ours")
"""
CTRL_C = """
    @claim("demo.stop", evidence=("TOPIC-11",))
    def test_stop(case):
        \"""Somebody presses Ctrl-C.\"""
        raise KeyboardInterrupt
"""
ORDINARY = """
    import pytest

    def test_ordinary():
        assert True

    @pytest.fixture(autouse=True)
    def falling(request):
        yield
        assert "falls" not in request.node.name, "while it was taken down"

    @claim("demo.falls", evidence=("TOPIC-11",), api="CreateTopics")
    def test_falls(case):
        \"""Its fixture fails behind it.\"""
        return case.scenario(create_topic(case.topic(), partitions=0, version=case.version))
"""


@pytest.fixture
def allured(suite, pytester):
    """Runs pytest with `--alluredir allure`, in which nothing is left of the run before."""

    def run(*arguments):
        return pytester.runpytest_inprocess(
            "-p", "no:timeout", "--alluredir", "allure", "--clean-alluredir",
            *(PREFIXED.get(word, word) for word in ("--deadline", "30", *arguments)),
        )  # fmt: skip

    run.write, run.path = suite.write, suite.path
    return run


def found(folder):
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*-result.json"))]


def agreeing(done, folder):
    """Allure's results by name, which count as pytest's last line does."""
    every = found(folder)
    line, statuses = Counter(done.parseoutcomes()), Counter(one["status"] for one in every)
    assert statuses["passed"] == line["passed"]
    assert statuses["failed"] + statuses["broken"] == line["failed"]
    assert statuses["skipped"] == line["skipped"] + line["xfailed"]
    return {one["name"]: one for one in every}


def labels(result):
    made = {}
    for label in result["labels"]:
        made.setdefault(label["name"], []).append(label["value"])
    return made


def body(folder, owner, name):
    (source,) = (one["source"] for one in owner["attachments"] if one["name"] == name)
    return (folder / source).read_bytes()


def test_what_conforms_is_passed_and_has_its_steps(allured, kafka):
    done = allured("--target", kafka, "--oracle", kafka)
    by_name = agreeing(done, allured.path / "allure")
    assert len(by_name) == VERSIONS == done.parseoutcomes()["passed"]
    one = by_name["demo.zero-partitions[v5]"]
    assert [(step["name"], step["status"]) for step in one["steps"]] == [
        ("create: CreateTopics v5", "passed")
    ]
    assert one["start"] <= one["steps"][0]["start"] <= one["steps"][0]["stop"]
    assert "attachments" not in one and "statusDetails" not in one
    assert one["titlePath"] == [kafka, "test_demo", "demo.zero-partitions"]
    assert one["fullName"] == "test_demo#test_zero"
    assert {one["name"]: one["value"] for one in one["parameters"]} == {
        "target": kafka, "version": "5",
    }  # fmt: skip


def test_what_differs_is_failed_and_shows_where(allured, kafka, liar):
    done = allured("--target", liar, "--oracle", kafka)
    folder = allured.path / "allure"
    one = agreeing(done, folder)["demo.zero-partitions[v5]"]
    assert one["status"] == "failed" and done.parseoutcomes() == {"failed": VERSIONS}
    wanted = "topics[0].error_code: expected INVALID_PARTITIONS (37), got NONE (0)"
    assert one["statusDetails"]["message"] == f"create: {wanted}"
    assert "step 'create': CreateTopics v5" in one["statusDetails"]["trace"]
    (step,) = one["steps"]
    assert step["status"] == "failed" and wanted in step["statusDetails"]["message"]
    view = body(folder, step, "request and answers").decode()
    assert "topics[0].num_partitions = 0" in view
    assert "37 INVALID_PARTITIONS" in view and "0 NONE" in view
    assert body(folder, one, "card").decode().startswith("DIVERGES demo.zero-partitions[v5]\n")
    assert "37 INVALID_PARTITIONS" in body(folder, one, "both answers").decode()
    stored = json.loads(body(folder, one, "demo.zero-partitions_v5.bundle.json"))
    assert stored["case"] == "demo.zero-partitions[v5]" and stored["oracle"]
    assert body(folder, one, "packets, for Wireshark")[:4] == b"\xd4\xc3\xb2\xa1"


def test_what_is_not_supported_is_skipped_with_the_reason(allured, kafka):
    with small_kafka("1.0") as old:
        done = allured("--target", word(old), "--oracle", kafka)
    by_name = agreeing(done, allured.path / "allure")
    skipped = [one for one in by_name.values() if one["status"] == "skipped"]
    assert len(skipped) == VERSIONS - 1
    for one in skipped:
        assert one["statusDetails"]["message"].startswith("UNSUPPORTED: version ")


def test_what_a_pin_accepts_is_skipped_and_known(allured, kafka, liar):
    words = ["--target", liar, "--oracle", kafka, "--expectations", "pins.toml"]
    allured(*words, "--update-expectations")
    done = allured(*words)
    assert done.parseoutcomes() == {"xfailed": VERSIONS}
    for one in agreeing(done, allured.path / "allure").values():
        assert one["status"] == "skipped" and one["statusDetails"]["known"] is True
        assert one["statusDetails"]["message"].startswith("known: ")
        assert [step["status"] for step in one["steps"]] == ["failed"]


def test_our_own_mistakes_are_broken(allured, kafka):
    allured.write(code=42, extra=OOPS)
    done = allured("--target", kafka, "--oracle", kafka)
    by_name = agreeing(done, allured.path / "allure")
    assert {one["status"] for one in by_name.values()} == {"broken"}
    oops = by_name["demo.oops"]
    assert oops["statusDetails"]["message"] == "AssertionError: ours"
    assert 'raise AssertionError("ours")' in oops["statusDetails"]["trace"]
    wrong = by_name["demo.zero-partitions[v2]"]
    assert wrong["steps"][0]["status"] == "broken" and "oracle" in wrong["statusDetails"]["trace"]


def test_a_case_in_which_the_run_was_cut_has_no_status_of_its_own(allured, kafka):
    allured.write(extra=CTRL_C)
    done = allured("--target", kafka, "--oracle", kafka, "--jobs", "1")
    by_name = agreeing(done, allured.path / "allure")
    assert len(by_name) == VERSIONS + 1
    cut = by_name["demo.stop"]
    assert cut["status"] == "unknown" and cut["historyId"]
    assert cut["statusDetails"]["message"] == "the run ended before this case was judged"


def test_a_run_that_stops_at_its_first_failure_has_that_one(allured, kafka, liar):
    """The others were judged beside it; pytest reports none of them."""
    done = allured("--target", liar, "--oracle", kafka, "-x", "--results", "out")
    assert len(agreeing(done, allured.path / "allure")) == 1


def test_a_mistake_in_our_comparison_breaks_cases_and_not_the_run(allured, kafka, monkeypatch):
    def fails(seen):
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("touchstone.harness.judgement.compare.normalise", fails)
    done = allured("--target", kafka, "--oracle", kafka)
    by_name = agreeing(done, allured.path / "allure")
    assert done.ret == 2 and {one["status"] for one in by_name.values()} == {"broken"}
    assert by_name["demo.zero-partitions[v5]"]["steps"][0]["attachments"]


def test_a_client_has_a_step_for_each_command(pytester):
    done = pytester.runpytest_inprocess(
        "-p", "no:timeout", "--pyargs", "touchstone.suites.producer", "--alluredir", "allure",
        "--client", "touchstone+batch-of-one", "--target", "reference@4.3",
        "-k", "producer.a-full-batch-does-not-linger or no-such",
    )  # fmt: skip
    folder = pytester.path / "allure"
    (one,) = agreeing(done, folder).values()
    assert one["status"] == "failed"
    assert one["statusDetails"]["message"].startswith("client: batches records: expected")
    assert [step["name"] for step in one["steps"]][3:5] == ["open p", "p is open"]
    seen = "".join(body(folder, step, "what happened").decode() for step in one["steps"])
    assert "asked Produce v" in seen and '"command":"open"' in seen
    assert labels(one)["target"] == ["touchstone+batch-of-one:reference@4.3"]
    assert not [file for file in one["attachments"] if file["name"].startswith("packets")]


def test_tests_that_are_no_cases_stay_as_they_are(allured, kafka):
    allured.write(extra=ORDINARY)
    done = allured("--target", kafka, "--oracle", kafka, "-k", "ordinary or v7")
    assert done.parseoutcomes() == {"passed": 3, "errors": 1, "deselected": 10}
    by_name = {one["name"]: one for one in found(allured.path / "allure")}
    assert by_name["test_ordinary"]["fullName"] == "test_demo#test_ordinary"
    falls = by_name["demo.falls[v7]"]
    assert falls["status"] == "failed", "as allure-pytest has it of any other test"
    assert "while it was taken down" in falls["statusDetails"]["message"]


def test_what_differed_at_first_is_flaky(allured, kafka, moody):
    done = allured("--target", moody, "--oracle", kafka, "--again", "1")
    folder = allured.path / "allure"
    one = agreeing(done, folder)["demo.zero-partitions[v2]"]
    assert one["status"] == "passed" and one["statusDetails"]["flaky"] is True
    assert "got 0" in one["statusDetails"]["message"]
    assert b"got NONE (0)" in body(folder, one, "card"), "of the first time"


def test_labels_say_suite_level_release_and_target(allured, kafka):
    allured.write(more='level="SHOULD", capabilities=("harm",)')
    allured("--target", kafka, "--oracle", kafka, "--jobs", "1")
    made = labels(found(allured.path / "allure")[0])
    once = {name: values for name, values in made.items() if name not in ("host", "thread")}
    assert once.pop("language")[0].startswith("cpython")
    assert once == {
        "level": ["SHOULD"], "severity": ["normal"], "target": [kafka], "release": ["4.3"],
        "parentSuite": [kafka], "suite": ["test_demo"], "subSuite": ["demo.zero-partitions"],
        "epic": ["test_demo"], "feature": ["CreateTopics"], "story": ["demo.zero-partitions"],
        "framework": ["pytest"], "package": ["test_demo"], "tag": ["SHOULD", "Kafka 4.3", "harm"],
    }  # fmt: skip


def test_a_case_keeps_its_history_on_each_target(allured, kafka, liar):
    runs = []
    for target in (kafka, liar, kafka):
        allured("--target", target, "--oracle", kafka, "-k", "v5 or v6")
        runs.append({one["name"]: one for one in found(allured.path / "allure")})
    for name in runs[0]:
        first, other, again = (run[name] for run in runs)
        assert first["historyId"] == again["historyId"] != other["historyId"]
        assert len({one["testCaseId"] for one in (first, other, again)}) == 1
        # Allure 3 makes its own of case and parameters, and must come to the same.
        assert first["parameters"] == again["parameters"] != other["parameters"]
        assert first["uuid"] != again["uuid"]
    assert len({run["testCaseId"] for run in runs[0].values()}) == 2


def normal(folder):
    """Results without what each process, run and file has for itself, and with what is attached."""
    made = {}
    for one in found(folder):
        first = one["start"]
        for step in [one, *one["steps"]]:
            step["start"], step["stop"] = step["start"] - first, step["stop"] - first
            for file in step.get("attachments", ()):
                file["source"] = (folder / file["source"]).read_bytes()
        one["labels"] = [x for x in one["labels"] if x["name"] not in ("host", "thread")]
        made[one["name"]] = one | {"uuid": ""}
    return made


def test_joined_parts_say_what_they_said_live(allured, kafka, liar):
    words = ["--target", liar, "--oracle", kafka, "--results", "out", "--run", "r"]
    allured.write(
        extra="""
        @claim("demo.fine", evidence=("KIP-4",), api="CreateTopics")
        def test_fine(case):
            \"""One partition is accepted.\"""
            return case.scenario(create_topic(case.topic(), version=case.version))
    """
    )
    live, outcomes = {}, Counter()
    for shard in ("1/2", "2/2"):
        done = allured(*words, "--shard", shard)
        live |= normal(allured.path / "allure")
        outcomes.update(done.parseoutcomes())
    assert outcomes == {"passed": VERSIONS - 1, "failed": VERSIONS + 1}
    statuses = Counter(one["status"] for one in live.values())
    assert statuses == {"passed": VERSIONS - 1, "failed": VERSIONS, "broken": 1}, "v7 has topic ids"
    joined = allured.path / "joined"
    assert join.main(allured.path / "out" / "r", allure=joined) == 2
    assert normal(joined) == live
    assert all("steps" not in json.loads(line) for line in rows_of(allured.path / "out" / "r"))
    made = (joined / "environment.properties").read_text()
    assert made == (allured.path / "allure" / "environment.properties").read_text()


def rows_of(folder):
    (path,) = folder.glob("*.jsonl")
    return path.read_text().splitlines()


def test_links_lead_to_the_evidence_and_to_pages_where_somebody_says_where_they_are(pytester):
    with serve(switches=["topic-created-without-validation"]) as cluster:
        done = pytester.runpytest_inprocess(
            "-p", "no:timeout", "--pyargs", "touchstone.suites.topics", "--newest", "--jobs", "1",
            "--target", cluster.bootstrap[0], "-k", "illegal", "--alluredir", "allure",
            "--allure-link-pattern", "touchstone:https://kafka.example/{}",
        )  # fmt: skip
    by_name = agreeing(done, pytester.path / "allure")
    one = by_name["topics.illegal-names-are-refused[v7]"]
    assert one["status"] == "failed" and done.parseoutcomes()["failed"] == 1
    assert one["fullName"] == "suites.topics.test_refusals#test_illegal_names_are_refused"
    links = {link["name"]: link["url"] for link in one["links"]}
    page = "https://kafka.example/claims/"
    assert links.pop("claim topics.illegal-names-are-refused") == (
        f"{page}topics.illegal-names-are-refused.html"
    )
    assert links.pop("clause TOPIC-07") == f"{page}clauses-topic.html#TOPIC-07"
    ((name, address),) = links.items()
    assert name.startswith("KIP-4: ") and address.startswith("https://cwiki.apache.org/")
    assert labels(one)["package"] == ["suites.topics.test_refusals"]


def test_join_without_the_library_names_its_extra_and_touches_nothing(allured, kafka, monkeypatch):
    words = ["--target", kafka, "--oracle", kafka, "--results", "out", "--run", "r"]
    allured(*words, "--shard", "1/1")
    folder = allured.path / "out" / "r"
    before = sorted(folder.iterdir())
    monkeypatch.delitem(sys.modules, allure.__name__)
    monkeypatch.delattr(results, "allure")
    monkeypatch.setitem(sys.modules, "allure_commons", None)
    done = CliRunner().invoke(main, ["join", str(folder), "--allure", "made"])
    (line,) = done.stderr.splitlines()
    assert line == f"touchstone join: {extras.install_line('allure_commons')}"
    assert done.exit_code == 3 and sorted(folder.iterdir()) == before


def test_without_allure_pytest_its_option_is_nobodys(suite, kafka):
    assert suite("--target", kafka, "--alluredir", "x").ret == pytest.ExitCode.USAGE_ERROR


def test_plugins_of_others_see_what_a_case_came_to(suite, kafka, liar):
    suite.path.joinpath("conftest.py").write_text(
        "import pytest\n"
        "@pytest.hookimpl(wrapper=True)\n"
        "def pytest_runtest_makereport(item, call):\n"
        "    report = yield\n"
        "    print('seen:', call.when, report.outcome)\n"
        "    return report\n"
    )
    done = suite("--target", liar, "--oracle", kafka, "-s", "-k", "v7")
    done.stdout.fnmatch_lines(["*seen: call failed*"])
