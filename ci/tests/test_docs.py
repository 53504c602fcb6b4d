"""The documentation agrees with the code, builds strictly, and its commands say what it shows."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import pytest

import touchstone
from ci.docs import catalogue, console, links, markdown, reference, words
from ci.docs.__main__ import main
from touchstone import plugin
from touchstone.harness import exits
from touchstone.harness.__main__ import COMMANDS
from touchstone.harness.cli import coverage
from touchstone.harness.model import profiles
from touchstone.harness.model.claim import BROKER_ROLE
from touchstone.harness.results import rows
from touchstone.harness.targets import target_file
from touchstone.harness.tests.spark.pages import drawn

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAIR = ROOT / "reference_impl"
HANGS_S = 3600  # a busy machine is slow; nothing here judges how slow
HEADER = rows.header(
    run="", started="", target="", release=None, kind="", oracle="", oracle_kind="", commit="",
    seed=0, host={}, planned=0, part={"index": 1, "of": 2, "total": 3},
)  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_a_page_with_its_options(name):
    page = reference.command_page(name)
    options = [word for one in reference.options(reference.command(name)) for word in one.opts]
    assert [word for word in options if f"`{word}" not in page] == []
    assert f"reference/commands/{name}.md" in (ROOT / "mkdocs.yml").read_text("utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_says_its_exit_codes(name):
    assert re.match(r"\D*0", reference.told_exits(name)), name


def test_the_page_of_exit_codes_has_every_error_and_code():
    page = reference.exit_codes_page()
    for number, text in exits.EXITS.items():
        assert f"| `{number}` | {text} |" in page
    for name, number in exits.ERRORS.items():
        assert f"| `{name.rpartition('.')[2]}` | `{number}` |" in page


def test_each_option_of_pytest_is_described():
    page = reference.pytest_page()
    assert [name for name in plugin.OPTIONS if f"`--touchstone-{name}`" not in page] == []


@pytest.mark.parametrize(
    ("section", "key"), [(name, key) for name, keys in target_file.SCHEMA.items() for key in keys]
)
def test_each_key_of_a_target_file_is_described(section, key):
    about, absent = reference.target_key(section, key)
    assert about and absent


@pytest.mark.parametrize(
    ("described", "there"),
    [(words.ROW, rows.CASE), (words.HEADER, HEADER),
     (words.FOOTER, rows.footer([], finished="", exit_code=0))],
    ids=["row", "header", "footer"],
)  # fmt: skip
def test_each_field_of_a_result_is_described(described, there):
    assert set(described) == set(there)


@pytest.mark.slow
def test_each_suite_is_described():
    assert set(words.SUITES) == {one.suite for one in catalogue.claims()}


def test_each_profile_and_each_of_its_settings_is_shown():
    page = reference.profiles_page()
    wanted = {name for one in profiles.PROFILES.values() for name in one.settings}
    assert [name for name in wanted if f"`{name}`" not in page] == []


def test_each_public_name_is_shown():
    page = reference.python_page()
    assert [name for name in touchstone.__all__ if f"## {name}\n" not in page] == []


def test_each_variable_of_the_environment_is_described():
    assert variables_read() == set(words.ENVIRONMENT)


def variables_read() -> set[str]:
    """The names that code which is no test looks up in os.environ."""
    found = set()
    for folder in ("harness", "reference_impl", "fuzz", "touchstone"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text("utf-8")
            if "os.environ" in text and "tests" not in path.parts:
                found |= set(looked_up(ast.parse(text)))
    return found


def looked_up(tree: ast.Module):
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=owner), args=[ast.Constant(str(name)), *_]):
                pass
            case ast.Subscript(value=owner, slice=ast.Constant(str(name))):
                pass
            case _:
                continue
        if ast.unparse(owner) == "os.environ" and node_reads(node):
            yield name


def node_reads(node: ast.AST) -> bool:
    """A default that is set for a library is no variable that a reader may set."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return not called or node.func.attr == "get"


@pytest.mark.slow
def test_evidence_of_each_claim_leads_to_a_place():
    made = catalogue.pages()
    for one in catalogue.claims():
        for word in one.evidence:
            target = re.search(r'href="([^"#]+)\.html(?:#([^"]+))?"', catalogue.evidence_link(word))
            if target is None:
                assert word.startswith("schema "), word
                continue
            page = made[f"claims/{target[1]}.md"]
            assert target[2] is None or f'<a id="{target[2]}"></a>' in page, word


@pytest.mark.slow
def test_a_claims_page_has_all_its_parts():
    one = next(one for one in catalogue.claims() if one.switches)
    stores = {release: catalogue.Store(release) for release in catalogue.advertised.tables()}
    made = catalogue.parts(one, stores)
    assert set(made) == set(catalogue.MARKS)
    assert all(made.values())
    assert one.where.rpartition(".")[2] in made["RUN"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))], ids=lambda path: path.stem
)
def test_pages_count_what_there_is(path):
    text = path.read_text("utf-8")
    every_claim = catalogue.claims()
    claims = [one for one in every_claim if one.role == BROKER_ROLE]  # pages count these
    every = coverage.cases(claims)
    counted = {*every.values(), *coverage.cases(claims, newest=True).values()}
    true = {
        r"\b(\d,\d{3}) (?:claims|sentences)": {len(claims)},
        r"\b(\d\d,\d{3}) cases": {sum(every.values())},
        r"\b(\d,\d{3}) on \d\.\d\b": counted,
        r"\b(\d+) claims judge clients": {len(every_claim) - len(claims)},
    }
    for pattern, numbers in true.items():
        assert set(re.findall(pattern, text)) <= {f"{number:,}" for number in numbers}


def test_the_checker_of_links_sees_what_is_wrong(tmp_path):
    (tmp_path / "index.html").write_text(
        '<a href="gone.html">a</a><a href="#nowhere">b</a><a href="other.html#here">c</a>'
        '<a href="https://example.org">d</a><script src="https://example.org/x.js"></script>'
        '<style>@import "https://example.org/x.css"</style>'
    )
    (tmp_path / "other.html").write_text('<p id="here"></p><a href="index.html">e</a>')
    assert list(links.problems(tmp_path)) == [
        "index.html: loads https://example.org/x.js",
        "index.html: loads https://example.org/x.css",
        "index.html: gone.html leads nowhere",
        "index.html: #nowhere: no such anchor",
    ]


@pytest.mark.parametrize(
    ("shown", "said", "agrees"),
    [
        (["3 of 19 suites, 2 causes"], ["3 of 22 suites, 2 causes"], False),
        (["corpus: 193 cases, 3/s"], ["corpus: 213 cases, 40/s"], False),
        (["valid: 193 cases, 3/s"], ["valid: 213 cases, 40/s"], True),
        (["run 20261128T074741-ac083272"], ["run 20261129T084741-ac083279"], True),
        (["2 failed, 39 passed in 2.34s"], ["2 failed, 39 passed in 61.00s (0:01:01)"], True),
        (["2 failed, 39 passed in 2.34s"], ["2 failed, 40 passed in 2.34s"], False),
        (["ready 127.0.0.1:9092"], ["ready 127.0.0.1:40001"], True),
        (["seed 0, nonce 6d1556ea"], ["seed 0, nonce dbfbcfcd"], True),
        (["a", "...", "c"], ["a", "b", "c"], True),
        (["12 passed in 0.81s"], ["noise", "12 passed in 3.02s"], True),
        (["12 passed"], ["1 failed, 11 passed"], False),
        (["a", "b"], ["b", "a"], False),
    ],
)
def test_what_a_page_shows_is_compared_with_what_is_said(shown, said, agrees):
    assert console.Command("", shown, said).agrees() is agrees


def test_commands_of_a_page_are_run_in_their_order_with_its_files():
    page = '```text title="name.txt"\nKafka\n```\n\n```console\n$ cat \\\n  name.txt\nKafka\n'
    done = console.run(page + "$ pwd > here; echo 9092\n9092\n```\n")
    assert [one.agrees() for one in done] == [True, True]
    assert [one.said for one in done] == [["Kafka"], ["9092"]]


def test_markdown_is_not_read_out_of_text():
    assert markdown.plain("a_b *c* <d>") == r"a\_b \*c\* &lt;d&gt;"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The exit code of a build, and its folder."""
    pytest.importorskip("mkdocs", reason="no MkDocs (extra docs)")
    folder = tmp_path_factory.mktemp("site")
    return main(["--out", str(folder)]), folder


@pytest.mark.slow
@pytest.mark.timeout(HANGS_S)
def test_the_documentation_builds_strictly(built):
    code, folder = built
    assert code == 0
    assert len(list((folder / "claims").glob("*.*-*.html"))) >= len(catalogue.claims()) - 10


@pytest.mark.slow
@pytest.mark.timeout(HANGS_S)
@pytest.mark.parametrize("page", ["index.html", "howto/pin.html"])
def test_the_search_works_from_disk(built, tmp_path, page):
    found = drawn(built[1] / page, tmp_path, query="q=purgatory")
    assert 'class="md-search-result__link"' in found


NOT_RUN = {
    "tutorials/kafka.md": "it changes the checkout; its runs on real Kafka take two minutes",
}
PAGES = [
    path
    for path in sorted(DOCS.rglob("*.md"))
    if "```console" in path.read_text("utf-8") and str(path.relative_to(DOCS)) not in NOT_RUN
]


@pytest.mark.slow
@pytest.mark.timeout(HANGS_S)
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_commands_of_a_page_say_what_it_shows(path):
    text = path.read_text("utf-8")
    if "$ curl " in text and shutil.which("curl") is None:
        pytest.skip("not run: no curl")
    done = console.run(text)
    assert [(one.text, one.said) for one in done if not one.agrees()] == []


def test_the_walk_of_a_produce_names_files_and_functions_that_exist():
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    walk = text.partition("## A Produce")[2]
    rows = [row.split("|")[2] for row in walk.splitlines() if row.startswith("| ")][1:]
    assert len(rows) > 8
    for row in rows:
        named = re.findall(r"`([\w/]+\.py)`(?: \((`[^)]*)\))?", row)
        assert named
        for path, functions in named:
            (file,) = [each for each in PAIR.rglob(path.rpartition("/")[2]) if each.match(path)]
            code = file.read_text(encoding="utf-8")
            for name in re.findall(r"`(\w+)`", functions):
                assert f"def {name}(" in code, (path, name)
