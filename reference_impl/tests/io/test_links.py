"""Links between brokers of one process: order, cuts, delays, brokers that are held."""

from __future__ import annotations

from touchstone.reference_impl.broker.effects import Ask, Reply
from touchstone.reference_impl.io.links import Links
from touchstone.reference_impl.tests.cores import cores

PRODUCE, METADATA = 0, 3


class Wired:
    """Two brokers; 0 asks, and what it is told is kept."""

    def __init__(self) -> None:
        self.brokers = cores("4.3", 2)
        self.now = 1_000
        self.links = Links(self.perform, lambda: self.now)
        for broker in self.brokers:
            self.links.add(broker)
        self.told: list[object] = []
        self.arrived: list[int] = []

    def perform(self, effects) -> None:
        for effect in effects:
            if isinstance(effect, Ask):
                self.links.send(effect)
            else:
                parts = effect.parts if isinstance(effect, Reply) else None
                self.links.answer(effect.connection, parts)

    def ask(self, name: str, *, key: int = METADATA, version: int = 1) -> None:
        def told(answer, now) -> None:
            self.told.append((name, None if answer is None else len(answer), now - 1_000))

        body = {"topics": [{"name": name}]}
        if key == PRODUCE:
            body = {"acks": 1, "timeout_ms": 1, "topic_data": []}
        self.brokers[0].ask(1, key, version, body, told)
        self.perform(self.brokers[0].tick(self.now))

    def run(self, ms: int = 0) -> None:
        self.now += ms
        self.links.deliver(self.now)

    def names(self) -> list[str]:
        return [name for name, answer, _ in self.told if answer is not None]

    def lost(self) -> list[str]:
        return [name for name, answer, _ in self.told if answer is None]


def test_answers_come_back_in_order():
    wired = Wired()
    for name in "abc":
        wired.ask(name)
    assert wired.links.deadline() == 0
    wired.run()
    assert wired.names() == ["a", "b", "c"] and wired.links.deadline() is None


def test_a_cut_link_answers_none_until_it_is_healed():
    wired = Wired()
    wired.links.cut(0, 1)
    wired.ask("lost")
    wired.run()
    wired.links.heal(0, 1)
    wired.ask("kept")
    wired.run()
    assert (wired.lost(), wired.names()) == (["lost"], ["kept"])


def test_a_link_that_is_cut_on_the_way_back_loses_the_answer():
    wired = Wired()
    wired.links.cut(1, 0)
    wired.ask("unheard")
    wired.run()
    wired.links.heal(1, 0)
    wired.ask("kept")
    wired.run()
    assert (wired.lost(), wired.names()) == (["unheard"], ["kept"])


def test_a_peer_that_hangs_up_answers_none():
    wired = Wired()
    wired.ask("refused", key=PRODUCE, version=0)  # 4.3 does not serve it
    wired.run()
    assert wired.lost() == ["refused"]


def test_what_is_in_work_at_a_peer_that_goes_is_answered_by_none():
    wired = Wired()
    wired.links.hold(1)
    for name in "ab":
        wired.ask(name)
    wired.run()
    assert wired.told == []
    wired.links.remove(1)
    wired.ask("late")
    wired.run()
    assert wired.lost() == ["a", "b", "late"]


def test_a_held_broker_hears_everything_when_it_is_let_go():
    wired = Wired()
    wired.links.hold(1)
    for name in "ab":
        wired.ask(name)
    wired.run(5_000)
    assert wired.told == []
    wired.links.release(1)
    wired.run()
    assert wired.names() == ["a", "b"]


def test_a_slow_link_delivers_later_and_says_when():
    wired = Wired()
    wired.links.delay(0, 1, 40)
    wired.links.delay(1, 0, 2)
    wired.ask("slow")
    wired.run(39)
    assert wired.told == [] and wired.links.deadline() == 1_040
    wired.run(1)
    assert wired.links.deadline() == 1_042
    wired.run(2)
    assert wired.told == [("slow", wired.told[0][1], 42)]


def test_who_waits_too_long_is_told_and_the_late_answer_is_dropped():
    wired = Wired()
    wired.links.hold(1)
    wired.ask("slow")
    wired.run(30_000)
    wired.perform(wired.brokers[0].tick(wired.now))
    assert wired.lost() == ["slow"]
    wired.links.release(1)
    wired.run()
    assert len(wired.told) == 1
