"""A history survives the way to a file and back, and a file that is none is refused."""

from __future__ import annotations

import pytest

from touchstone.harness.checkers.histories import judge
from touchstone.harness.model.history import BadHistory, dump, read
from touchstone.harness.tests.histories.made import history

HEAD = '{"history": 1}\n'
SEND = '{"op": 1, "process": "p", "do": "send", "topic": "t", "partition": 0, "value": "a"}\n'
END = '{"op": 1, "is": "ok", "offset": 0}\n'


def test_there_and_back():
    made = history(3)
    again = read(row + "\n" for row in dump(made))
    assert list(dump(again)) == list(dump(made))
    assert judge(again).counts == judge(made).counts


def test_a_file_whose_writer_was_killed_is_a_history_whose_last_operation_is_unknown():
    found = read([HEAD, SEND, END[:12]])
    assert [each.outcome for each in found.operations] == ["unknown"]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], "first line"),
        ([SEND], "first line"),
        ([HEAD, SEND, SEND], "begins twice"),
        ([HEAD, END], "none is open"),
        ([HEAD, SEND, END, END], "none is open"),
        ([HEAD, SEND, END.replace("ok", "fine")], "an outcome"),
        ([HEAD, SEND.replace("send", "sing")], "'sing'"),
        ([HEAD, SEND[:12] + "\n", END], "no JSON"),
        ([HEAD, "[1]\n"], "an object"),
        ([HEAD, '{"is": "ok"}\n'], "number"),
    ],
)
def test_what_is_no_history_is_refused(lines, why):
    with pytest.raises(BadHistory, match=why):
        read(lines)
