"""A corpus keeps each frame once, hands out fresh ones first, and shrinks to what shows all."""

from __future__ import annotations

import random

import pytest

from touchstone.fuzz.corpus_folder import ENERGY, Corpus, load, replace_all, smallest, store

A, B, C, D = b"a" * 20, b"b" * 12, b"c" * 30, b"d" * 40


@pytest.fixture
def corpus() -> Corpus:
    made = Corpus()
    for wire in (A, B):
        made.add(wire)
    return made


def test_a_frame_is_kept_once(corpus):
    assert (corpus.add(A), len(corpus)) == (False, 2)


def test_an_entry_that_is_fresh_is_picked_before_those_that_are_spent(corpus):
    draw = random.Random(1)
    for _ in range(2 * ENERGY):
        corpus.pick(draw)
    corpus.add(C)
    assert {corpus.pick(draw).wire for _ in range(ENERGY)} == {C}


def test_when_all_are_spent_everybody_is_picked(corpus):
    draw = random.Random(1)
    for _ in range(2 * ENERGY):
        corpus.pick(draw)
    assert {corpus.pick(draw).wire for _ in range(50)} == {A, B}


def test_a_find_among_its_mutants_makes_an_entry_fresh(corpus):
    draw = random.Random(1)
    for _ in range(2 * ENERGY):
        corpus.pick(draw)
    corpus.reward(corpus.entries[1])
    assert {corpus.pick(draw).wire for _ in range(ENERGY)} == {B}


def test_an_empty_corpus_has_nothing_to_pick():
    with pytest.raises(IndexError):
        Corpus().pick(random.Random(1))


def test_a_folder_gives_back_what_was_stored(tmp_path):
    assert (store(tmp_path, [A, B, A]), sorted(load(tmp_path))) == (2, [A, B])


def test_two_folders_are_merged_by_storing_one_in_the_other(tmp_path):
    store(tmp_path / "one", [A, B])
    store(tmp_path / "two", [B, C])
    store(tmp_path / "one", load(tmp_path / "two"))
    assert sorted(load(tmp_path / "one")) == [A, B, C]


def test_a_folder_that_does_not_exist_has_no_frames(tmp_path):
    assert load(tmp_path / "none") == []


def test_what_others_show_too_is_left_out():
    shown = {
        A: frozenset("12"), B: frozenset("1"), C: frozenset("23"), D: frozenset("123"),
    }  # fmt: skip
    assert smallest(shown) == [D]


def test_of_frames_that_add_as_much_the_shorter_one_is_kept():
    assert smallest({A: frozenset("12"), B: frozenset("12"), C: frozenset("3")}) == [B, C]


def test_the_smallest_set_shows_everything():
    draw = random.Random(3)
    shown = {
        bytes([n]) * 9: frozenset(draw.sample(range(60), draw.randint(1, 9))) for n in range(80)
    }
    kept = smallest(shown)
    assert set().union(*(shown[wire] for wire in kept)) == set().union(*shown.values())
    assert len(kept) < 30


def test_replacing_removes_what_is_not_named(tmp_path):
    store(tmp_path, [A, B])
    assert (replace_all(tmp_path, [B, C]), sorted(load(tmp_path))) == (1, [B, C])
