"""What `make new-...` begins: files that lint and the ledger can read, and nothing overwritten."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click import UsageError

from touchstone.ci import new
from touchstone.reference_impl.broker.personas.releases import RELEASES

PERSONAS = "reference_impl/broker/personas"
BEFORE = RELEASES[-1]


@pytest.fixture
def tree(tmp_path):
    """The parts of the repository that are read or added to."""
    for package in ("topics", new.KIT):
        (tmp_path / "suites" / package).mkdir(parents=True)
        (tmp_path / "suites" / package / "__init__.py").touch()
    shutil.copytree(new.ROOT / PERSONAS, tmp_path / PERSONAS)
    (tmp_path / "ci").mkdir()
    shutil.copy(new.ROOT / "ci" / "matrix.toml", tmp_path / "ci")
    return tmp_path


def linted(path: Path) -> str:
    """What ruff says of a file, and of how it is formatted; nothing when it is good."""
    config = f"--config={new.ROOT / 'pyproject.toml'}"
    return "".join(
        subprocess.run(
            [sys.executable, "-m", "ruff", *words, config, path],
            capture_output=True, text=True, check=False,
        ).stdout
        for words in (("check", "--quiet"), ("format", "--quiet", "--diff"))
    )  # fmt: skip


def test_a_claim_wants_its_evidence_before_it_can_be_collected(tree):
    told = list(new.new_claim(tree, "topics.names-are-odd", "CreateTopics"))
    path = tree / "suites" / "topics" / "test_names_are_odd.py"
    assert told[0] == "wrote suites/topics/test_names_are_odd.py"
    assert linted(path) == ""
    with pytest.raises(Exception, match="no evidence"):
        exec(compile(path.read_text("utf-8"), path, "exec"), {"__name__": "suites.topics.odd"})


def test_a_claim_with_evidence_says_what_it_asks(tree):
    list(new.new_claim(tree, "topics.names-are-odd", "CreateTopics"))
    path = tree / "suites" / "topics" / "test_names_are_odd.py"
    text = path.read_text("utf-8").replace("evidence=()", 'evidence=("TOPIC-11",)')
    names = {"__name__": "suites.topics.odd"}
    exec(compile(text, path, "exec"), names)
    assert names["test_names_are_odd"].__touchstone_claim__.id == "topics.names-are-odd"


@pytest.mark.parametrize("id", ["nowhere.names", "topics", "topics.", "kit.names"])
def test_a_claim_of_no_suite_is_a_usage_error(tree, id):
    with pytest.raises(UsageError, match="suites are topics$"):
        list(new.new_claim(tree, id, "CreateTopics"))


def test_a_request_type_gets_a_schema_and_a_handler_of_one_stem(tree):
    told = list(new.new_api(tree, 93, "DescribeSomething"))
    stem = "k93_describe_something.py"
    schema = tree / "reference_impl" / "wire" / "apis" / stem
    handler = tree / "reference_impl" / "broker" / "handlers" / stem
    assert [line.split()[1] for line in told[:2]] == [
        f"reference_impl/wire/apis/{stem}",
        f"reference_impl/broker/handlers/{stem}",
    ]
    assert linted(handler) == ""
    text = schema.read_text("utf-8").replace(
        "from ..schema", "from touchstone.reference_impl.wire.schema"
    )
    names: dict[str, object] = {}
    exec(compile(text, schema, "exec"), names)
    assert names["REQUEST"].name == "DescribeSomethingRequest"


def test_a_release_is_as_the_one_before_until_it_says_otherwise(tree):
    told = list(new.new_release(tree, "9.9", "9.9.0"))
    assert told[0] == f"wrote {PERSONAS}/v9_9.py"
    assert linted(tree / PERSONAS / "v9_9.py") == ""
    newest = tomllib.loads((tree / "ci" / "matrix.toml").read_text("utf-8"))["release"][-1]
    assert (newest["name"], newest["version"]) == ("9.9", "9.9.0")
    quirks, settings = _seen_with(tree, "9.9")
    assert quirks and (quirks, settings) == _seen_with(tree, BEFORE)


def test_a_release_that_was_recorded_alone_gets_a_persona(tree):
    matrix = tree / "ci" / "matrix.toml"
    before = tomllib.loads(matrix.read_text("utf-8"))["release"]
    entry = '[[release]]\nname = "9.9"\nversion = "9.9.0"\ntier = "recorded"\n'
    text = matrix.read_text("utf-8")
    head, mark, rest = text.partition("[[release]]")
    matrix.write_text(f"{head}{entry}\n{mark}{rest}", encoding="utf-8")
    list(new.new_release(tree, "9.9", "9.9.1"))
    after = tomllib.loads(matrix.read_text("utf-8"))["release"]
    assert after == [*before, {"name": "9.9", "version": "9.9.1", "tier": "live"}]
    assert matrix.read_text("utf-8").startswith(head)
    assert matrix.read_text("utf-8").count("\n\n[[release]]") == len(after)


def test_a_release_says_in_its_own_file_what_changed(tree):
    list(new.new_release(tree, "9.9", "9.9.0"))
    file = tree / PERSONAS / "v9_9.py"
    changed = 'BEFORE, {"groups.have-configs": (False, "observed on 9.9.0")}'
    file.write_text(file.read_text("utf-8").replace("BEFORE, {}", changed), "utf-8")
    (quirks, _), (before, _) = _seen_with(tree, "9.9"), _seen_with(tree, BEFORE)
    was = "('groups.have-configs', True)"
    assert was in before and quirks == before.replace(was, "('groups.have-configs', False)")


def _seen_with(tree, release):
    """A persona's quirks and settings, seen by a Python that has this tree's personas."""
    program = (
        "import touchstone.reference_impl.broker as broker, sys\n"
        f"broker.__path__.insert(0, {str(tree / PERSONAS)!r} + '/..')\n"
        "from touchstone.reference_impl.broker.personas import PERSONAS, broker_configs\n"
        "from touchstone.reference_impl.broker.personas.config_rows import read\n"
        f"print(len(PERSONAS[{release!r}].quirks), sorted(map(repr, PERSONAS[{release!r}].quirks"
        f".items())), read(broker_configs.TABLE, {release!r}), sep='#')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    _, quirks, settings = done.stdout.split("#")
    return quirks, settings


def test_nothing_is_overwritten(tree):
    list(new.new_claim(tree, "topics.names-are-odd", "CreateTopics"))
    with pytest.raises(new.Exists, match=r"test_names_are_odd\.py exists"):
        list(new.new_claim(tree, "topics.names-are-odd", "CreateTopics"))
    with pytest.raises(new.Exists, match=r"v4_3\.py exists"):
        list(new.new_release(tree, "4.3", "4.3.2"))
