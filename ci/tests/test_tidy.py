"""Every house rule is seen biting; `ci/run lint` has all of them judge the tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci import tidy

DOC = '"""What it owns and why."""\n'
CARD = """
@claim("topics.refused", evidence=("TOPIC-11",))
def test_refused(case):
    {sentence}
    {body}
"""
TRUE = '"""It is refused."""'
WORK = tidy.MACHINE_PATHS[0]

OF = "def of(i):\n"
OURS = "@of('a.b')\ndef test_a(case):\n    'One.'\n    return case\n"

# rule, path, text that breaks it, text that does not
BITES = [
    ("module-length", "harness/a.py", DOC + "x = 1\n" * 500, DOC + "x = 1\n" * 499),
    (
        "module-length",
        "fuzz/a.py",
        DOC + "x = 1\n" * 500,
        DOC + "\n",
    ),
    (
        "function-length",
        "harness/a.py",
        DOC + "def f():\n" + "    x = 1\n" * 60,
        DOC + "def f():\n" + "    x = 1\n" * 59,
    ),
    (
        "function-length",
        "harness/a.py",
        DOC + "class C:\n    async def f(self):\n" + "        x = 1\n" * 60,
        DOC + "class C:\n    async def f(self):\n" + "        x = 1\n" * 59,
    ),
    ("line-length", "harness/a.js", "x" * 101, "x" * 100),
    ("private-word", "suites/t.py", DOC + "def told(): pass\n", DOC + "def _told(): pass\n"),
    (
        "private-word",
        "harness/a.py",
        DOC + "class _Held: pass\n",
        DOC + "class HeldFrame:\n    def committed(self): pass\n",
    ),
    (
        "private-word",
        "harness/a.py",
        DOC + "class C:\n    async def stir(self): pass\n",
        DOC + "def f(stir): pass\n",
    ),
    (
        "absent-source",
        "fuzz/a.py",
        DOC + "# plans.md" + " section 5\n",
        DOC + "# RFC 9112 section 4\n",
    ),
    (
        "absent-source",
        "fuzz/tests/a.py",
        DOC + "# as issue" + " 4 says\n",
        DOC + "# fuzz/README.md\n",
    ),
    ("opening", "harness/a.py", "x = 1\n", DOC),
    ("opening", "harness/a.py", "# a comment is no docstring\n", DOC),
    ("opening", "harness/a.py", "", DOC),
    ("claim-card", "suites/t.py", DOC + "def test_a(case):\n    'One.'\n    return case\n", DOC),
    (
        "claim-card",
        "suites/t.py",
        DOC + OF + "    return print(i)\n" + OURS,
        DOC + OF + "    return claim(i)\n" + OURS,
    ),
    (
        "claim-card",
        "suites/t.py",
        DOC + "of = cards('A')\n" + OURS,
        DOC + "of = claims('A')\n" + OURS,
    ),
    (
        "claim-card",
        "suites/t.py",
        DOC + CARD.format(sentence="pass", body="return case"),
        DOC + CARD.format(sentence=TRUE, body="return case"),
    ),
    (
        "claim-card",
        "suites/t.py",
        DOC + CARD.format(sentence=TRUE, body="case"),
        DOC + CARD.format(sentence=TRUE, body="return case"),
    ),
    (
        "claim-card",
        "suites/t.py",
        DOC + CARD.format(sentence=TRUE, body="assert case; return case"),
        DOC + CARD.format(sentence=TRUE, body="return case"),
    ),
    ("machine-path", "README.md", f"see {WORK}main", "see work/main"),
    ("machine-path", "fuzz/a.toml", f"path = '{tidy.MACHINE_PATHS[2]}me'", "path = 'me'"),
    ("marker", "harness/a.py", DOC + f"# {tidy.MARKERS[0]}: later\n", DOC + "# later\n"),
    ("sleep", "harness/tests/t.py", DOC + "time.sleep(1)\n", DOC + "clock.advance(1)\n"),
    ("sleep", "suites/t.py", DOC + "sleep(1)\n", DOC),
    ("import-at-top", "harness/a.py", DOC + "def f():\n    import json\n", DOC + "import json\n"),
    (
        "import-at-top",
        "harness/a.py",
        DOC + "class C:\n    def f(self):\n        from json import loads\n",
        DOC + "from json import loads\n",
    ),
    ("clock", "harness/a.py", DOC + "import time\n", DOC + "import json\n"),
    ("clock", "reference_impl/log/a.py", DOC + "from socket import socket\n", DOC),
    ("clock", "reference_impl/a.py", DOC + "import asyncio.events\n", DOC),
    (
        "clock",
        "fuzz/a.py",
        DOC + "import random\nx = random.randint(1, 2)\n",
        DOC + "import random\nx: random.Random\n",
    ),
    (
        "clock",
        "fuzz/a.py",
        DOC + "from random import choice\n",
        DOC + "from random import Random\n",
    ),
    (
        "expression",
        "reference_impl/broker/a.py",
        DOC + "def f(text):\n    return re.compile(text)\n",
        DOC + "def f(text):\n    return re.compile('a+')\n",
    ),
    (
        "expression",
        "reference_impl/a.py",
        DOC + "class C:\n    def f(self, a, b):\n        return re.fullmatch(f'{a}', b)\n",
        DOC + "A = 'a'\nB = re.compile(f'{A}+')\n",
    ),
    ("door", "harness/a.py", DOC + "import pyspark\n", DOC),
    ("door", "harness/a.py", DOC + "from docker.errors import APIError\n", DOC),
    ("door", "reference_impl/a.py", DOC + "import pytest\n", DOC),
]


def rules_broken(path: str, text: str) -> set[str]:
    file = tidy.File(path, text)
    return {problem.rule for rule in tidy.RULES for problem in rule(file)}


@pytest.mark.parametrize(("rule", "path", "bad", "good"), BITES)
def test_a_rule_bites_and_lets_go(rule: str, path: str, bad: str, good: str) -> None:
    assert rule in rules_broken(path, bad)
    assert rule not in rules_broken(path, good)


@pytest.mark.parametrize("name", sorted(tidy.BANNED_NAMES))
def test_a_name_that_says_nothing_is_refused(name: str) -> None:
    for path in (f"harness/{name}.py", f"harness/{name}/a.py", f"harness/tests/test_{name}.py"):
        assert rules_broken(path, DOC) == {"module-name"}


@pytest.mark.parametrize("name", sorted(tidy.PRIVATE_WORDS))
def test_a_word_of_this_house_only_names_no_module(name: str) -> None:
    assert rules_broken(f"harness/{name}.py", DOC) == {"private-word"}
    assert rules_broken(f"harness/{name}/a.py", DOC) == {"private-word"}
    assert rules_broken(f"harness/tests/{name}.py", DOC) == set()
    assert rules_broken(f"harness/{name}_s.py", DOC + f"def f():\n    {name} = 1\n") == set()


def test_every_rule_is_seen_biting() -> None:
    seen = {rule for rule, *_ in BITES} | {"module-name"}
    assert seen == {rule.__name__.replace("_", "-") for rule in tidy.RULES}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("reference_impl/io/a.py", "import time\nimport socket\n"),
        ("harness/driver/a.py", "import time\n"),
        ("harness/tests/a.py", "import socket\nimport pytest\n"),
        ("harness/spark/a.py", "import pyspark\ndef f():\n    from pyspark.sql import Row\n"),
        ("harness/plugin.py", "import pytest\n"),
        ("reference_impl/wire/apis/k00_produce.py", "x = 1\n" * 600),
        ("harness/tests/a.py", "def test_two():\n    assert 1\n    assert 2\n"),
    ],
)
def test_what_is_allowed_where(path: str, text: str) -> None:
    assert rules_broken(path, DOC + text) == set()


def test_an_empty_package_needs_no_opening() -> None:
    assert rules_broken("harness/nemesis/__init__.py", "") == set()


def test_an_exception_excuses_its_place_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tidy, "EXCEPTIONS", {"clock": {"harness/a.py": "it is the clock"}})
    bad = DOC + "import time\n"
    found = tidy.problems(iter([tidy.File("harness/a.py", bad), tidy.File("harness/b.py", bad)]))
    assert [problem.path for problem in found] == ["harness/b.py"]


def test_an_exception_for_a_function_names_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    long = "def {}():\n" + "    x = 1\n" * 60
    excused = {"function-length": {"harness/a.py::f": "a table"}}
    monkeypatch.setattr(tidy, "EXCEPTIONS", excused)
    text = DOC + long.format("f") + long.format("g")
    found = tidy.problems(iter([tidy.File("harness/a.py", text)]))
    assert [problem.text.split()[0] for problem in found] == ["g"]


def test_an_exception_that_excuses_nothing_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tidy, "EXCEPTIONS", {"clock": {"harness/gone.py": "it was the clock"}})
    [problem] = tidy.problems(iter([]))
    assert "harness/gone.py is needed no more" in problem.text


def test_every_exception_has_a_reason() -> None:
    reasons = [reason for places in tidy.EXCEPTIONS.values() for reason in places.values()]
    assert all(len(reason.split()) > 3 for reason in reasons)


def test_the_walk_sees_every_room_and_no_environment(tmp_path: Path) -> None:
    for name in ("harness/a.py", ".venv/b.py", "results/c.py", "README.md", "other/d.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(DOC)
    assert [file.path for file in tidy.files(tmp_path)] == ["README.md", "harness/a.py"]
