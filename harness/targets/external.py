"""`HOST:PORT[,...]`: a broker that somebody else runs. It is taken as it is.

It cannot be given racks, settings or more brokers, so a shape that it does not have is OutOfScope,
with the reason; brokers and racks may be called anything, and settings that only set a claim's pace
(harness/model/pace.py) may have any value. Nothing else is presumed: a listener that accepts and
never answers is a target like any other, whose silence the driver will record.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, permutations

from touchstone.harness.model import advertised, profiles
from touchstone.harness.model.rights import Right
from touchstone.harness.model.target import (
    Address,
    Endpoint,
    OutOfScope,
    Setting,
    Shape,
    Unavailable,
    Versions,
)
from touchstone.harness.targets import asked_rights, diagnosis, facts, probe, reach, sent_to
from touchstone.harness.targets.sent_to import SILENT, SentTo

SECONDS = 5.0
AUTHORIZER = "authorizer.class.name"
LEADER_AND_ISR = 4  # an API that brokers under ZooKeeper advertise


class ExternalTarget:
    """A Target (see harness/model/target.py) of kind "external"."""

    kind = "external"

    def __init__(self, addresses: tuple[Address, ...], login: reach.Login | None = None) -> None:
        """`login`: how connections log in, where that is not what the user gave for all."""
        self.addresses = addresses
        reach.give(addresses)
        self.login = login or reach.asked()
        reach.log_in(addresses, self.login)
        self.name = ",".join(f"{host}:{port}" for host, port in addresses)
        self.chosen: str | None = None  # the release that it is held against, as a user says
        self._sight: probe.Sight | None = None
        self._asked = False
        self._looked_for_login = False
        self._login_wanted: str | None = None
        self._nobody: str | None = None
        self._versions: Versions | None = None
        self._settings: dict[str, Setting] | None = None
        self._finalized: dict[str, int] | None = None
        self.coordinators = True  # whether to look who leads internal topics, which makes them
        self._internal: dict[int, dict[str, tuple[int, int]]] = {}  # by leader
        self.prefix = ""  # with which names begin that it is asked about
        self._sent: list[SentTo] | None = None  # where clients are sent, once it is to be told
        self._silence: probe.NotReady | None = None  # asked once; a silent one costs one wait

    @property
    def release(self) -> str | None:
        """The release that a user chose, else the one whose versions it advertises to the last one;
        None when no release does.
        """
        if self.chosen is not None:
            return self.chosen
        with contextlib.suppress(probe.NotReady, Unavailable):
            return advertised.release_of(self.advertised())
        return None

    def available(self) -> str | None:
        for host, port in self.addresses:
            try:
                reach.connect((host, port), SECONDS).close()
            except OSError as error:
                return f"{host}:{port}: {error.strerror or type(error).__name__}"
        return self._unwanted()

    def _unwanted(self) -> str | None:
        """That connections are not welcome as they are, and what to give; None where they are, and
        where it is another matter that nobody is answered. Looked at once.
        """
        if not self._looked_for_login:
            self._looked_for_login = True
            host, port = self.addresses[0]
            asks = self.login is None or not self.login.authenticates
            if asks and (wanted := self._wanted((host, port))):
                self._login_wanted = f"{host}:{port}: {wanted}"
        return self._login_wanted

    def _wanted(self, address: Address) -> str | None:
        """What a listener wants that does not say who its brokers are; asked only of one that
        answers something else, or ends the connection, as those do which want a login.
        """
        try:
            probe.metadata(address, SECONDS)
        except probe.NotReady as silence:
            if not isinstance(silence.__cause__, TimeoutError):
                return diagnosis.login_wanted(address)
        return None

    def start(self, shape: Shape) -> Endpoint:
        """The cluster as it is, if it has the brokers and racks of this shape.

        Settings are not looked at: what they cost is for `pace` to say, from those in force.
        """
        reason = self.available()
        if reason:
            raise Unavailable(reason)
        sight = self._look()
        if sight is None:
            return self._unknown(shape)
        ids = self._ids(sight, shape)
        self._check_reach(sight, shape)
        racks = tuple(sight.racks.get(node) for node in ids)
        self._check_racks(shape, racks)
        one = shape.brokers == 1
        return Endpoint(
            (self._reached(sight),) if one else tuple(sight.brokers[node] for node in ids),
            sight.brokers if shape.brokers > 1 else {},
            ids=ids, racks=racks, settings=self.settings(),
            internal=self._internal_topics(ids[0] if one else ids[1]),
            listeners=facts.listeners(self.settings(), self._reached(sight)[0]),
            finalized=self.finalized(),
        )  # fmt: skip

    def finds_nobody(self) -> str | None:
        """Why nobody can be asked anything there, in words; None where somebody can."""
        try:
            self.advertised()
        except (probe.NotReady, Unavailable) as error:
            return f"the target does not answer ApiVersions ({error})"
        self._look()
        return self._nobody

    def where_clients_go(self) -> list[str]:
        """Return where its brokers send clients, and whether they answer there; asked once."""
        sight = self._look()
        if sight is None:
            return []
        if self._sent is None:
            self._sent = sent_to.look(sight.brokers)
        return sent_to.lines(self._sent, len(sight.brokers))

    def missing_rights(self, prefix: str) -> frozenset[Right]:
        """Return what its user may not do with names of this prefix, which is kept for questions
        of its own.
        """
        self.prefix = prefix
        sight = self._look()
        if sight is None:
            return frozenset()
        self._internal_topics(self._home(sight))  # until they are there no group can be asked about
        guarded = bool(self.settings().get(AUTHORIZER, Setting(None)).value)
        with contextlib.suppress(probe.NotReady):
            return asked_rights.missing(
                self._reached(sight), self.advertised(), prefix, SECONDS, guarded=guarded
            )
        return frozenset()

    def _check_reach(self, sight: probe.Sight, shape: Shape) -> None:
        """Raise OutOfScope where a broker would have to be asked at an address that nobody gave."""
        if len(sight.brokers) == 1:  # it is asked where the user said
            return
        home = self._home(sight)
        asked = sight.brokers if shape.brokers > 1 else {home: sight.brokers[home]}
        if lines := reach.refusals(asked):
            raise OutOfScope(f"{self.name}: {lines[0]}")
        silent = (one for one in self._sent or () if one.found == SILENT and one.node in asked)
        if (one := next(silent, None)) is not None:
            raise OutOfScope(f"{self.name}: {one}")

    def _unknown(self, shape: Shape) -> Endpoint:
        """A cluster that does not say who its brokers are can only be asked as one broker."""
        if shape.brokers > len(self.addresses) or shape.racks:
            raise OutOfScope(f"{self.name} does not tell its brokers, {shape.brokers} are wanted")
        return Endpoint(self.addresses, settings={})

    def _ids(self, sight: probe.Sight, shape: Shape) -> tuple[int, ...]:
        """The brokers of the cluster in the order of the scenario's numbers."""
        ids = sorted(sight.brokers)
        if shape.brokers == 1:
            first = self._home(sight)
            return (first, *(node for node in ids if node != first))
        if shape.brokers != len(ids):
            reason = f"{shape.brokers} brokers are wanted, {self.name} has {len(ids)}"
            raise OutOfScope(profiles.for_brokers(shape, reason))
        for ordered in chain(self._orders(sight, ids), permutations(ids)):
            if not shape.racks or _alike(shape.racks, [sight.racks.get(node) for node in ordered]):
                return ordered
        return tuple(ids)

    def _orders(self, sight: probe.Sight, ids: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Orders of several brokers, the best first: before KRaft the controller is the first, and
        the second one that coordinates. Under KRaft brokers keep the order of their ids, in which
        they list one another.
        """
        first = self._elected(sight)
        if first is None:
            return
        rest = [node for node in ids if node != first]
        seconds = [node for node in rest if self._coordinates(node)]
        for second in (*seconds, rest[0]):
            yield (first, second, *(node for node in rest if node != second))

    def _elected(self, sight: probe.Sight) -> int | None:
        """The controller before KRaft, where other brokers refuse what only it can do: the first
        of a scenario's brokers.
        """
        with contextlib.suppress(probe.NotReady):
            if LEADER_AND_ISR in self.advertised() and sight.controller in sight.brokers:
                return sight.controller
        return None

    def _home(self, sight: probe.Sight) -> int:
        """The broker that claims about one broker are asked of: the one behind the first address,
        but the controller where others refuse what only it can do.
        """
        elected = self._elected(sight)
        if elected is not None:
            return elected
        at = [node for node, address in sight.brokers.items() if address == self.addresses[0]]
        return at[0] if at else min(sight.brokers)

    def _reached(self, sight: probe.Sight) -> Address:
        """Where that broker is reached: as it was named to us, else as it is advertised."""
        return self.addresses[0] if len(sight.brokers) == 1 else sight.brokers[self._home(sight)]

    def _check_racks(self, shape: Shape, racks: tuple[str | None, ...]) -> None:
        """Racks are names: they must be equal where the shape's are, and differ where those do. One
        rack for all places replicas as none does.
        """
        if not shape.racks:
            if shape.brokers > 1 and len(set(racks)) > 1:
                reason = f"brokers without racks are wanted, {self.name} has racks"
                raise OutOfScope(profiles.for_brokers(shape, reason))
            return
        if not _alike(shape.racks, racks):
            wanted = ", ".join(rack or "none" for rack in shape.racks)
            here = ", ".join(rack or "none" for rack in racks)
            reason = f"racks like {wanted} are wanted, {self.name} has {here}"
            raise OutOfScope(profiles.for_brokers(shape, reason))

    def settings(self) -> dict[str, Setting]:
        """The settings in force, as the first broker tells them; empty where it does not."""
        if self._settings is None:
            sight = self._look()
            self._settings = {}
            if sight is not None:
                with contextlib.suppress(probe.NotReady):
                    self._settings = facts.settings(
                        self._reached(sight), self._home(sight), self.advertised(), SECONDS
                    )
        return self._settings

    def finalized(self) -> dict[str, int]:
        """The levels of its finalized features; empty where it does not tell them."""
        if self._finalized is None:
            self._finalized = {}
            with contextlib.suppress(probe.NotReady):
                self._finalized = facts.finalized(self.addresses[0], self.advertised(), SECONDS)
        return self._finalized

    def alter(self, changes: Mapping[str, str | None]) -> str | None:
        """Change dynamic settings of all brokers; why that was refused, in words."""
        return facts.alter(self.addresses[0], "", changes, self.advertised(), SECONDS)

    def _internal_topics(self, leader: int) -> dict[str, tuple[int, int]]:
        """How many partitions internal topics have, and one that this broker leads, or NOWHERE.

        Claims about several brokers leave the first alone: the second coordinates, as where the
        harness has made the internal topics itself.
        """
        if not self.coordinators:
            return {}
        if leader not in self._internal:
            self._internal[leader] = {}
            with contextlib.suppress(probe.NotReady):
                self._internal[leader] = facts.internal_topics(
                    self.addresses[0],
                    leader,
                    self.advertised(),
                    SECONDS,
                    self.prefix,
                    self.settings(),
                )
        return self._internal[leader]

    def _coordinates(self, node: int) -> bool:
        """Whether it leads partitions of the internal topics, if there are any."""
        return all(place != facts.NOWHERE for _, place in self._internal_topics(node).values())

    def coordinates_no_more(self, shape: Shape) -> bool:
        """Look again who leads internal topics, after brokers were harmed; whether the broker that
        cases of this shape are promised as coordinator leads none, and cannot be elected.
        """
        self._internal = {}
        with contextlib.suppress(probe.NotReady):
            sight = probe.metadata(self.addresses[0], SECONDS)
            known = sight.brokers if self._sight is None else self._sight.brokers
            if known and sight.brokers.keys() == known.keys():
                self._sight = sight  # of another controller
                reach.same_login(self.addresses[0], sight.brokers.values())
        if self._sight is None:
            return False
        home = self._asked_for(shape)
        if self._coordinates(home):
            return False
        counts = {topic: count for topic, (count, _) in self._internal[home].items()}
        controller = self._sight.brokers.get(self._sight.controller, self.addresses[0])
        facts.elect_preferred(controller, counts, self.advertised(), SECONDS)
        self._internal = {}
        return not self._coordinates(self._asked_for(shape))

    def _asked_for(self, shape: Shape) -> int:
        """The broker that coordinates what cases of this shape make."""
        assert self._sight is not None
        ids = self._ids(self._sight, shape)
        return ids[0] if shape.brokers == 1 else ids[1]

    def make_internal_topics(self, shape: Shape, settings: Mapping[str, str]) -> None:
        """Of a new cluster that is ours: make the internal topics that its settings give a single
        partition, which could be anywhere, on all brokers; the second leads, the first is last.
        """
        sight = self._look()
        if sight is None or shape.brokers == 1:
            return
        elected = self._elected(sight)
        first, *rest = sorted(sight.brokers, key=lambda node: (node != elected, node))
        controller = sight.brokers.get(sight.controller, self.addresses[0])
        for topic, count in facts.COUNTS.items():
            if settings.get(count) == "1":
                replicas = (*rest, first)
                facts.make_internal_topic(controller, topic, replicas, self.advertised(), SECONDS)

    def forget(self) -> None:
        """Look again who its brokers are and what they lead: the cluster has been started anew."""
        self._asked, self._sight, self._internal = False, None, {}

    def advertised(self) -> Versions:
        if self._silence is not None:
            raise self._silence
        if self._versions is None:
            try:
                self._versions = probe.api_versions(self.addresses[0], SECONDS)
            except probe.NotReady as silence:
                found = diagnosis.of(self.addresses[0])
                self._silence = probe.NotReady(f"{silence}; {found}") if found else silence
                raise self._silence from None
        return dict(self._versions)

    def stop(self) -> None:
        """Nothing to stop: the target was started outside the run."""

    def _look(self) -> probe.Sight | None:
        """The cluster by its own metadata, asked for once; None when it does not answer, or names
        no broker.
        """
        if not self._asked and self.addresses:  # of what did not start there are none
            self._asked = True
            with contextlib.suppress(probe.NotReady):
                sight = probe.metadata(self.addresses[0], SECONDS)
                self._sight = sight if sight.brokers else None
                self._nobody = None if sight.brokers else "the target's Metadata names no broker"
                reach.same_login(self.addresses[0], sight.brokers.values())
        return self._sight


def _alike(wanted: Sequence[str], racks: Sequence[str | None]) -> bool:
    """Whether racks are equal where those wanted are, differ where those do, and lack where none is
    wanted: names stand for one another, but no name for none.
    """
    pairs = set(zip(wanted, (rack or "" for rack in racks), strict=True))
    names = all(bool(here) == bool(there) for here, there in pairs)
    return names and len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
