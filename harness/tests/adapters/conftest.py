"""Client files of the miniatures, and judges for them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from touchstone.harness.run.client_judge import judge_for

MINIATURES = Path(__file__).with_name("miniatures.py")


@pytest.fixture
def miniature(tmp_path):
    """Makes the client file of a mode."""

    def make(mode: str) -> Path:
        file = tmp_path / f"{mode}.toml"
        seconds = 2 if mode == "never-ready" else 60  # the first waits for all of them
        file.write_text(
            f'name = "{mode}"\nabout = "a miniature"\nversion = "1"\n[start]\n'
            f'command = ["{sys.executable}", "{MINIATURES}", "{mode}"]\nseconds = {seconds}\n'
        )
        return file

    return make


@pytest.fixture
def judge():
    """Makes judges; what they started is ended."""
    made = []

    def make(word: str, deadline_s: float = 1.0, release: str = "4.3"):
        broker = f"reference@{release}"
        made.append(judge_for(str(word), broker, nonce="t", deadline_s=deadline_s))
        return made[-1]

    yield make
    for one in made:
        one.close()
