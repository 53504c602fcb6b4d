"""What the client believes about a cluster."""

import pytest

from touchstone.reference_impl.client.flow import Ask, Failed, KafkaError, Unreachable
from touchstone.reference_impl.client.metadata import View, know, persist, refresh

from .scripted import Runner, metadata, topic, view


def test_news_older_than_what_is_known_is_ignored():
    seen = view(topic("t", 1, epoch=7))
    seen.update(metadata(topic("t", 0, epoch=6)))
    assert seen.leader("t", 0).leader == 1
    seen.update(metadata(topic("t", 0, epoch=8)))
    assert seen.leader("t", 0).leader == 0
    seen.update(metadata(topic("t", 1, epoch=0, id_=b"i" * 16)))
    assert seen.leader("t", 0).leader == 1, "another topic of the same name begins anew"


def test_an_answer_without_brokers_says_nothing():
    seen = view(topic("t", 1))
    seen.update({"brokers": [], "controller_id": 9, "topics": []})
    assert seen.controller_id == 0 and seen.leader("t", 0).leader == 1


def test_unknown_topics_are_forgotten_and_dead_leaders_are_no_leaders():
    seen = view(topic("t", 7))
    assert seen.leader("t", 0) is None and seen.topic("t").ready
    seen.update(metadata(topic("t", error=3)))
    assert seen.topic("t") is None


def test_the_controller_and_any_broker_are_found():
    seen = View([("a", 1), ("b", 2)])
    assert (seen.resolve("controller"), seen.resolve("any"), seen.resolve(0)) == (-1, -1, None)
    seen.unreachable(-1)
    assert seen.resolve("any") == -2
    seen.update(metadata(nodes=(4, 5), controller=5))
    assert (seen.resolve("controller"), seen.resolve(4), seen.resolve(-1)) == (5, 4, None)
    seen.unreachable(4)
    assert seen.resolve("any") == 5


def test_brokers_that_fail_one_after_the_other_are_gone_too():
    """Two brokers known, both dead, a third one back: only the bootstrap knows of it."""
    seen = View([("a", 1)])
    seen.update(metadata(nodes=(4, 5), controller=4))
    seen.unreachable(4)
    assert seen.resolve("any") == 5
    seen.unreachable(5)
    assert seen.resolve("any") == -1


def test_with_every_broker_gone_the_bootstrap_is_asked_again():
    seen = View([("a", 1)])
    seen.update(metadata(nodes=(4,), controller=4))
    seen.unreachable(4)
    assert seen.addresses[seen.resolve("any")] == ("a", 1)


def test_knowing_waits_with_backoff_until_there_are_leaders():
    seen = view()
    answers = [
        metadata(topic("t", error=5)),
        metadata(topic("t", 0, -1)),
        metadata(topic("t", 0, 1)),
    ]
    runner = Runner(seen, lambda _: answers.pop(0))
    runner.run(know(seen, ["t"], create=True))
    assert runner.pauses == [100, 200]
    assert [ask.body["allow_auto_topic_creation"] for ask in runner.asks] == [True] * 3
    assert Runner(seen, lambda _: pytest.fail("asked again")).run(know(seen, ["t"])) is None


def test_knowing_gives_up_at_once_or_in_time():
    seen = view()
    with pytest.raises(KafkaError, match="INVALID_TOPIC_EXCEPTION"):
        Runner(seen, lambda _: metadata(topic("t", error=17))).run(know(seen, ["t"]))
    runner = Runner(seen, lambda _: metadata(topic("t", error=3)))
    before = seen.now
    with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
        runner.run(know(seen, ["t"], timeout_ms=2000))
    assert seen.now - before <= 2000


def test_persisting_tries_until_answered_and_never_repeats_the_impossible():
    seen = view()
    ask = Ask("any", "Metadata", {"topics": []})
    said = [Failed(ask, "refused", ""), Failed(ask, "closed", ""), metadata()]
    runner = Runner(seen, lambda _: said.pop(0))
    assert runner.run(persist(seen, ask)) == metadata()
    assert runner.pauses == [100, 200]
    runner = Runner(seen, lambda each: Failed(each, "unsupported", "no"))
    with pytest.raises(Unreachable):
        runner.run(persist(seen, ask))
    assert len(runner.asks) == 1
    with pytest.raises(Unreachable):
        Runner(seen, lambda each: Failed(each, "refused", "")).run(
            refresh(seen, None, timeout_ms=3000)
        )
