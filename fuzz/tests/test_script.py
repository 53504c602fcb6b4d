"""A script's references: put in where an answer brought them, left alone where none did."""

import pytest

from touchstone.fuzz.mutators import frame
from touchstone.fuzz.script import Reference, Script, Step, filled, put_at
from touchstone.harness.model.path import PathError
from touchstone.reference_impl.wire.headers import decode_request, encode_request

HEARTBEAT = {"group_id": "g", "generation_id": 1, "member_id": "", "group_instance_id": None}
BEAT = frame(encode_request(12, 4, 7, "c", HEARTBEAT))
MEMBER = Reference("member_id", 0, "member_id")


def test_a_value_of_an_earlier_answer_is_put_in_and_lengths_follow():
    wire = filled(Step(BEAT, references=(MEMBER,)), {0: {"member_id": "consumer-1"}})
    assert int.from_bytes(wire[:4], "big") == len(wire) - 4
    assert decode_request(wire[4:]).body["member_id"] == "consumer-1"


@pytest.mark.parametrize("answers", [{}, {1: {"member_id": "x"}}, {0: {"other": 1}}])
def test_without_the_answer_the_frame_goes_out_as_it_stands(answers):
    assert filled(Step(BEAT, references=(MEMBER,)), answers) == BEAT


def test_a_frame_that_cannot_be_opened_goes_out_as_it_stands():
    step = Step(BEAT[:20], references=(MEMBER,))
    assert filled(Script((step,)).steps[0], {0: {"member_id": "x"}}) == BEAT[:20]


def test_put_at_names_the_place_that_does_not_exist():
    body = {"topics": [{"name": "t"}]}
    put_at(body, "topics[0].name", "u")
    assert body == {"topics": [{"name": "u"}]}
    with pytest.raises(PathError, match="topics"):
        put_at(body, "topics[1].name", "v")
