"""Campaign files load or say why not; a case is (seed, index) and nothing else; findings shrink."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from touchstone.fuzz.campaign import FOLDER, BadCampaign, campaigns, generated, judge, load
from touchstone.fuzz.generator import Generator, Pair
from touchstone.fuzz.oracles import ORACLES, SentFrame
from touchstone.fuzz.outcome import KEPT, SILENT, Outcome
from touchstone.fuzz.triage import framed
from touchstone.reference_impl.wire.headers import encode_request

FRAMES = campaigns()["frames"]
PAIRS = [Pair(3, 4), Pair(0, 9), Pair(1, 12)]
HANG = framed(encode_request(3, 4, 9, "fuzz", {"topics": [{"name": "topic-with-a-long-name"}]}))


def first(count: int, seed: int, campaign=FRAMES):
    source = generated(campaign, lambda draw: Generator(PAIRS, draw), seed)
    return list(itertools.islice(source, count))


def finding(wire: bytes, index: int = 0):
    sent = SentFrame(3, 4, 9, wire)
    return judge(FRAMES, sent, Outcome((), SILENT), 5, index, ("trailing",))[0]


def test_the_campaigns_load():
    assert list(campaigns()) == [
        "corpus", "fields", "frames", "groups", "layers", "records", "sequences", "sessions",
        "transactions", "valid",
    ]  # fmt: skip


def test_a_case_descends_from_seed_and_index_alone():
    assert first(60, 4) == first(60, 4)


def test_another_seed_makes_other_cases():
    assert first(60, 4) != first(60, 5)


def test_a_campaign_without_mutators_sends_valid_frames():
    assert all(faults == () for _, _, faults in first(50, 4, campaigns()["valid"]))


def test_the_header_judged_is_the_one_that_is_sent():
    assert all(
        sent.key == int.from_bytes(sent.wire[4:6], "big", signed=True)
        for _, sent, _ in first(200, 4)
        if len(sent.wire) >= 12
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ('source = "corpus"\n', "missing"),
        (None, "source"),
        ('mutators = ["no_such"]', "no_such"),
        ('oracles = ["no_such"]', "no_such"),
    ],
)
def test_a_bad_campaign_file_is_named_with_what_is_wrong(tmp_path, change, said):
    fields = {
        "sentence": 'sentence = "s"', "source": 'source = "generated"', "mutators": "mutators = []",
        "faults": "faults = [0, 1]", "oracles": 'oracles = ["*"]', "cases": "cases = 1",
    }  # fmt: skip
    if change is None:
        fields["source"] = 'source = "thin air"'
    elif said == "missing":
        fields = {"source": change}
    else:
        fields[change.split()[0]] = change
    path = tmp_path / "bad.toml"
    path.write_text("\n".join(fields.values()))
    with pytest.raises(BadCampaign, match=f"bad.toml.*{said}"):
        load(path)


def test_oracles_that_need_one_header_are_not_asked_about_several_frames():
    sent = SentFrame(3, 4, 9, HANG + HANG)
    assert judge(FRAMES, sent, Outcome((b"\0\0\0\1",), KEPT), 1, 1, ()) == []


def test_oracles_by_name_are_functions_of_that_name():
    assert all(name == oracle.__name__ for name, oracle in ORACLES.items())


def test_a_mutator_is_drawn_as_often_as_it_weighs():
    layers = campaigns()["layers"]
    drawn = Counter(name for _, _, names in first(4000, 1, layers) for name in names)
    each = 4000 / len(layers.dealt)
    assert layers.weights
    for name in layers.mutators:
        assert drawn[name] == pytest.approx(each * layers.weights.get(name, 1), rel=0.35)


@pytest.mark.parametrize(
    ("weight", "said"), [("truncate = 2", "no 'truncate'"), ("tag_block = 0", "the least is 1")]
)
def test_weights_are_of_mutators_of_the_campaign(tmp_path, weight, said):
    path = tmp_path / "weighed.toml"
    path.write_text(f"{(FOLDER / 'fields.toml').read_text()}\n[weights]\n{weight}\n")
    with pytest.raises(BadCampaign, match=f"weighed.toml: weights: .*{said}"):
        load(path)
