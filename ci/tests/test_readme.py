"""README from top to bottom, as somebody reads it who has a clone and an empty environment.

What its commands install is all that they have. `make conformance` and `make test` are run by
`.ci/run`, in this order, in the environment that each makes.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ci.docs import console

ROOT = Path(__file__).resolve().parents[2]
# Exit code 1: a broker with a planted defect, and a client that differs from Java's in some claims.
DIFFER = {
    "pytest -q --pyargs touchstone.suites.produce --target localhost:9092 --newest"
    " --results results --run first",
    "pytest -q --pyargs touchstone.suites.producer --client kafka-python"
    " --results results --run client",
}
OF_CI = {"make conformance": ".ci/run begins with it", "make test": "it is what runs this test"}


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_commands_of_the_readme_say_what_it_shows(tmp_path):
    text = (ROOT / "README.md").read_text("utf-8")
    shown = [one.text for fence in console.FENCE.finditer(text) if fence[1] == "console"
             for one in console.commands(fence[3])]  # fmt: skip
    assert set(OF_CI) <= set(shown)
    assert "```sh" not in text, "a command in a block that nobody runs"
    clone, empty = tmp_path / "clone", tmp_path / "environment"
    cloned(clone)
    subprocess.run([sys.executable, "-m", "venv", empty], check=True)
    done = console.run(text, leave_out=OF_CI, where=clone, programs=empty / "bin")
    assert [one.text for one in done] == [one for one in shown if one not in OF_CI]
    assert [(one.text, one.said) for one in done if not one.agrees()] == []
    assert [(one.text, one.said) for one in done if one.code > (one.text in DIFFER)] == []


def cloned(folder: Path) -> None:
    """This checkout as git has it, with what is not committed yet."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, check=False, capture_output=True, text=True,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("not run: no git")
    for name in filter(None, listed.stdout.split("\0")):
        source, copy = ROOT / name, folder / name
        if source.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy, follow_symlinks=False)
