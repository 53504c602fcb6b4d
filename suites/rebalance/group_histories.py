"""A history of a group as a line of words, and the steps that it means.

    +a       a joins, and waits if the group has members
    =a ~a    a rejoins: unchanged, with other metadata
    ~ab>x,y  a and b rejoin and now prefer protocol x to y
    .        every member that the group waits for rejoins; the generation begins
    !        all members sync, and the leader assigns
    ?        all members send a heartbeat
    #a       a commits an offset
    -a       a leaves
    xa       the generation begins, and a, whose session is short, crashes
    @a ^a    a joins as a static member; returns as one, under another member id
    $ff      requests of an older generation, of an unknown member, a commit without a member

The planner knows of a group only what a client knows, and who leads: the first that joined, and if
that left, the one that remains. (Of several Kafka takes the first in its hash map, so no leader
leaves more than one behind.) The answers give the generations. Nothing here judges.

Sources: GROUP-01, 08 to 13, 22, 24, 32; KIP-345, KIP-394, KIP-429.
"""

from collections.abc import Callable
from typing import Any

from touchstone.harness.model.placeholders import Ref
from touchstone.harness.model.scenario import Ask, Await
from touchstone.suites.kit.groups import (
    DESCRIBE,
    ID_FIRST,
    NOBODY,
    PREPARING,
    STATIC,
    commit,
    describe,
    heartbeat,
    join,
    leave,
    leave_all,
    subscription,
    sync,
    until,
)
from touchstone.suites.kit.in_flight import sent

SHORT_MS = 300  # a session that is over soon
NONE, JOINING, SYNCING, SETTLED = "none", "joining", "syncing", "settled"
Protocols = tuple[tuple[str, bytes], ...]


class Player:
    """One history on its way: who is in the group, who has joined, and the steps so far."""

    def __init__(self, group: Any, topic: Any, version: int) -> None:
        self.group, self.topic, self.version = group, topic, version
        self.steps: list[Any] = []
        self.members: list[str] = []  # the leader first
        self.static: set[str] = set()
        self.joined: dict[str, str] = {}  # member -> the join it waits in
        self.ids: dict[str, Any] = {}
        self.answered: dict[str, str] = {}  # member -> its last join that was answered
        self.protocols: dict[str, Protocols] = {}
        self.changes = 0
        self.phase = NONE  # what the group does, as far as clients can tell

    def play(self, script: str) -> list[Any]:
        for word in script.split():
            act = _STEPS_OF[word[0]]
            if word[1:]:
                names, _, wish = word[1:].partition(">")
                for who in names:
                    act(self, who, wish) if wish else act(self, who)
            else:
                act(self)
        return self.steps

    # words

    def comes(self, who: str, *, instance: bool = False) -> None:
        self.protocols[who] = (("range", subscription("wanted")),)
        self.static -= {who}
        if instance:
            self.static.add(who)
        self._join(who, "")
        self._wait()

    def comes_static(self, who: str) -> None:
        self.comes(who, instance=True)

    def comes_back(self, who: str) -> None:
        """In a settled group the answer is there at once, where the protocol stays the same."""
        if who in self.joined:
            raise ValueError(f"{who} waits under its old id")
        self._join(who, "")
        if self.phase == SETTLED:
            self._answer(who)
        elif self.phase == JOINING:
            self._may_begin()
        else:
            self._wait()

    def rejoins(self, who: str) -> None:
        self._join(who, self.ids[who])
        if self.phase == SETTLED and self.members[0] == who:
            self._wait()
        elif self.phase == JOINING:
            self._may_begin()
        else:
            self._answer(who)

    def changes_mind(self, who: str, wish: str = "") -> None:
        self.changes += 1
        if wish:
            names = wish.split(",")
            self.protocols[who] = tuple((name, subscription("wanted")) for name in names)
        else:
            told = subscription("wanted", f"topic {self.changes}")
            self.protocols[who] = tuple((name, told) for name, _ in self.protocols[who])
        self._join(who, self.ids[who])
        self._wait()

    def begins(self, short: str = "") -> None:
        """Whoever has not joined joins; then all hear of the generation.

        Where nothing has begun yet the leader joins first: only that begins something.
        """
        if self.phase == SETTLED:
            leader = self.members[0]
            self._join(leader, self.ids[leader], session=SHORT_MS if leader == short else 0)
            self._wait(alone=False)
        for who in self.members:
            if who not in self.joined:
                self._join(who, self.ids[who], session=SHORT_MS if who == short else 0)
        for who in self.members:
            self._answer(who)
        self.phase = SYNCING

    def crashes(self, who: str) -> None:
        if who in self.joined:
            raise ValueError(f"{who} has joined with a long session")
        self.begins(short=who)
        self._goes(who)
        if self.members:
            self._wait()
        else:
            self.steps.append(until(self.group, "Empty", self._word("gone")))

    def synced(self) -> None:
        names = {}
        plan = {who: f"part of {who}".encode() for who in self.members}
        for who in reversed(self.members):  # the leader last
            leads = who == self.members[0]
            asked = self._sync(who, plan if leads else {})
            names[who] = asked.name
            self.steps.append(asked if leads else sent(asked))
        self.steps += [Await(str(names[who])) for who in self.members[1:]]
        self.phase = SETTLED if self.phase == SYNCING else self.phase

    def beat(self) -> None:
        for who in (who for who in self.members if who not in self.joined):
            self.steps.append(
                heartbeat(who, self.group, self._generation(who), member=self.ids[who],
                          name=self._word(f"{who} beats"))
            )  # fmt: skip

    def commits(self, who: str) -> None:
        self._speaks(who)
        self.steps.append(
            commit(who, self.group, self.topic, self._generation(who), member=self.ids[who],
                   offset=len(self.steps), name=self._word(f"{who} commits"))
        )  # fmt: skip

    def leaves(self, who: str) -> None:
        self._speaks(who)
        name = self._word(f"{who} leaves")
        if who in self.static:
            asked = leave_all(who, self.group, ("", f"instance-{who}"), name=name)
        else:
            asked = leave(who, self.group, member=self.ids[who], name=name)
        self.steps.append(asked)
        self._goes(who)
        self.steps.append(describe(self.group, name=self._word("without")))

    def doubted(self, who: str) -> None:
        """What the group refuses in whatever state it is."""
        old = Ref(self.answered[who], "generation_id", -1)
        mine = self.ids[who]
        word = self._word(f"{who} old")
        self.steps += [
            heartbeat("x", self.group, old, member=mine, name=f"{word} beat"),
            sync("x", self.group, old, member=mine, name=f"{word} sync"),
            commit("x", self.group, self.topic, old, member=mine, name=f"{word} commit"),
            join("x", self.group, member=NOBODY, name=f"{word} stranger"),
            commit("x", self.group, self.topic, name=f"{word} simple"),
        ]

    # what they are made of

    def _word(self, text: str) -> str:
        return f"{text} {len(self.steps)}"

    def _generation(self, who: str) -> Ref:
        return Ref(self.answered[who], "generation_id")

    def _join(self, who: str, member: Any, *, session: int = 0) -> None:
        instance = f"instance-{who}" if who in self.static else None
        version = max(self.version, STATIC) if instance else self.version
        given = {"instance": instance, "version": version, "protocols": self.protocols[who]}
        if session:
            given["session_ms"] = session
        if not member and instance is None and version >= ID_FIRST:
            named = join(who, self.group, name=self._word(f"{who} is named"), **given)
            self.steps.append(named)
            member = Ref(str(named.name), "member_id")
        name = self._word(f"{who} joins")
        self.steps.append(sent(join(who, self.group, member=member, name=name, **given)))
        self.joined[who] = name
        if who not in self.members:
            self.members.append(who)

    def _answer(self, who: str) -> None:
        self.answered[who] = name = self.joined.pop(who)
        self.ids[who] = Ref(name, "member_id")
        self.steps.append(Await(name))

    def _goes(self, who: str) -> None:
        if self.members[0] == who and len(self.members) > 2:
            raise ValueError(f"{who} leads: who comes next is not for us to say")
        self.members.remove(who)
        self.phase = JOINING if self.members else NONE
        self._may_begin()

    def _speaks(self, who: str) -> None:
        if who in self.joined:
            raise ValueError(f"{who} waits for an answer")

    def _wait(self, *, alone: bool = True) -> None:
        """The group waits for members, which shows, or has them all."""
        self.phase = JOINING
        if not (self._may_begin() if alone else len(self.members) == 1):
            named = self._word("awaited")
            self.steps.append(until(self.group, PREPARING, named, len(self.members)))

    def _may_begin(self) -> bool:
        everybody = bool(self.members) and self.joined.keys() == set(self.members)
        if everybody:
            self.begins()
        return everybody

    def _sync(self, who: str, plan: dict[str, bytes]) -> Ask:
        asked = sync(who, self.group, self._generation(who), member=self.ids[who],
                     name=self._word(f"{who} syncs"))  # fmt: skip
        rows = [{"member_id": self.ids[one], "assignment": part} for one, part in plan.items()]
        asked.body["assignments"].extend(rows)  # type: ignore[attr-defined]
        return asked


_STEPS_OF: dict[str, Callable[..., None]] = {
    "+": Player.comes,
    "@": Player.comes_static,
    "^": Player.comes_back,
    "=": Player.rejoins,
    "~": Player.changes_mind,
    ".": Player.begins,
    "x": Player.crashes,
    "!": Player.synced,
    "?": Player.beat,
    "#": Player.commits,
    "-": Player.leaves,
    "$": Player.doubted,
}


def played(script: str, group: Any, topic: Any, version: int) -> list[Any]:
    """The steps of a history, and how the group stands at its end."""
    player = Player(group, topic, version)
    return [*player.play(script), describe(group, version=DESCRIBE, name="at last")]
