"""A JVM that runs out of its memory says so in its last words, where a finding shows them."""

from __future__ import annotations

import pytest

from touchstone.harness.adapters.process import Process
from touchstone.harness.adapters.program import SMALL, Program
from touchstone.harness.targets.java import find_java

GREEDY = """
public class Greedy {
    public static void main(String[] arguments) {
        System.err.println("a trace of something else");
        System.out.println(new byte[Integer.MAX_VALUE - 8].length);
    }
}
"""


@pytest.mark.java
@pytest.mark.slow
def test_what_ends_for_want_of_memory_says_so_last(tmp_path):
    source = tmp_path / "Greedy.java"
    source.write_text(GREEDY)
    program = Program((str(find_java().executable), *SMALL, str(source)), address_space=None)
    process = Process(program)
    said = process.how_it_ended()
    process.end()
    assert said.startswith("exit code 3")
    assert said.endswith("Terminating due to java.lang.OutOfMemoryError: Java heap space")
