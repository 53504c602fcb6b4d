"""Of a program that died the line is quoted that says why, and not the end of a trace."""

from __future__ import annotations

import pytest

from touchstone.harness.targets.child import LAST_WORDS, last_words

TRACE = "\n".join(f"\t/src/kfake/groups.go:{n}" for n in range(100))


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("", ""),
        ("serving\nbye", "serving bye"),
        (f"serving\npanic: nil map\n\ngoroutine 7:\n{TRACE}", "panic: nil map goroutine 7:"),
        (f"thread 'main' panicked at src/a.rs:7:\nno\n{TRACE}", "panicked at src/a.rs:7: no"),
        (f"[t] FATAL shutting down\n{TRACE}", "FATAL shutting down"),
        ("panic: one\npanic: two", "panic: two"),
    ],
)
def test_last_words(log, words):
    said = last_words(log)
    assert said.startswith(words) and len(said) <= LAST_WORDS and bool(said) == bool(words)
