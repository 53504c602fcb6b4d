"""What a target needs of the machine, called what people call it."""

import pytest

from touchstone.harness.targets import tools


@pytest.mark.parametrize(
    ("need", "reason"),
    [
        ("go", "no Go"),
        ("cargo", "no cargo (Rust)"),
        ("npm", "no npm (Node.js)"),
        ("mvn", "no Maven"),
        ("docker", "no Docker command"),
        ("python:no.such", "no Python package 'no.such'"),
        ("python:pytest", None),
    ],
)
def test_a_tool_is_called_what_people_call_it(tmp_path, monkeypatch, need, reason):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert tools.missing([need]) == reason
