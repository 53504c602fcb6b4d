"""A target put back in order: a reference broker is another one, any other gets its topics back."""

from __future__ import annotations

from touchstone.fuzz.corpus_run import create_topics, listed_topics
from touchstone.fuzz.runner import Link
from touchstone.fuzz.targets import SMALL_CLUSTER
from touchstone.fuzz.triage.restoring import restorer
from touchstone.harness.model.target import Shape
from touchstone.harness.targets import parse


def test_a_reference_broker_forgets_what_others_left():
    target, shape = parse("reference@4.3"), Shape(config=SMALL_CLUSTER)
    try:
        with Link(*target.start(shape).bootstrap[0]) as link:
            create_topics(link, {"left": False})
            restore = restorer(target, shape, link, lambda: create_topics(link, {"fuzz-a": False}))
            restore()
            assert listed_topics(link) == {"fuzz-a"}
            assert link.address == target.start(shape).bootstrap[0]
    finally:
        target.stop()


def test_another_target_is_prepared_where_it_is():
    prepared = []
    target = parse("127.0.0.1:9")
    with Link("127.0.0.1", 9) as link:
        restorer(target, Shape(), link, lambda: prepared.append("topics"))()
        assert (prepared, link.address) == (["topics"], ("127.0.0.1", 9))
