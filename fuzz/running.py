"""A target that runs: where cases go, a link that leads there, and how it is started again.

A target that died or that should forget is stopped and started, and its link leads to the new one.
One that others started is not ours to stop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from touchstone.fuzz import corpus_run
from touchstone.fuzz.campaign import Campaign
from touchstone.fuzz.cases import corpus
from touchstone.fuzz.generator import Pair
from touchstone.fuzz.runner import DYING_S, Link, refusal, require_loopback
from touchstone.fuzz.share import Where, listed_by
from touchstone.fuzz.targets import SMALL_CLUSTER, served_pairs
from touchstone.fuzz.watches.watch import Watched
from touchstone.fuzz.world import World
from touchstone.harness import shown
from touchstone.harness.model.target import Address, Shape, Target, Unavailable, Versions
from touchstone.harness.targets import reach
from touchstone.harness.targets.child import Child

CONTROLLED_SHUTDOWN = 7
"""It is served where ZooKeeper holds the registry."""
STARTS = 3
T = TypeVar("T")


@dataclass(frozen=True)
class Reach:
    """How cases reach a target."""

    fresh: bool = False  # a connection for each case
    in_process: bool = False
    mine: bool = False  # whoever started it: topics may be deleted, other machines be sent to
    release: str | None = None  # that somebody else's target wants to be held against


class RunningTarget:
    """`where` is new after each start. `watched` is what watches may look at; None in this process.

    Making one starts the target. Raises Unavailable, NotLoopback.
    """

    def __init__(self, target: Target, reach: Reach) -> None:
        for host, _ in getattr(target, "addresses", ()):  # before anything at all goes there
            require_loopback(host, is_mine=reach.mine)
        if reason := target.available():
            raise Unavailable(reason)
        self.target, self.reach = target, reach
        self.watched: Watched | None = None
        self.where = self._started()
        self.link: Link = self.where.link()

    def __enter__(self) -> RunningTarget:
        return self

    def __exit__(self, *failure: object) -> None:
        self.link.close()

    def _started(self) -> Where:
        target, reach = self.target, self.reach
        if reach.in_process:
            switches = tuple(sorted(getattr(target, "switches", ())))
            return Where(None, str(target.release), switches)
        external = target.kind == "external"
        endpoint = target.start(Shape(config={} if external else SMALL_CLUSTER))
        host, port = endpoint.bootstrap[0]
        require_loopback(host, is_mine=reach.mine)
        listed = target.advertised()
        self.watched = Watched(endpoint, listed, in_process=target.kind == "reference")
        return Where(
            (host, port),
            fresh=reach.fresh,
            ours=reach.mine or not external,
            zookeeper=CONTROLLED_SHUTDOWN in listed,
        )

    @property
    def address(self) -> Address:
        """Raises Unavailable for a target in this process, which has none."""
        if self.where.address is None:
            raise Unavailable("this is played over sockets, not in process")
        return self.where.address

    @property
    def can_restart(self) -> bool:
        return not self.reach.in_process and self.target.kind != "external"

    def obituary(self) -> str:
        """How it ended, as far as it can be seen from here, and what it said last; on one line that
        a terminal may have.
        """
        children: list[Child] = getattr(self.target, "children", list)()
        told = [said for child in children if (said := child.obituary(DYING_S))]
        if told:
            return shown.line("; ".join(told))
        if children:
            return "its process goes on"
        said = refusal(self.address)
        return f"{self.target.name} " + (said or "accepts connections again")

    def restart(self) -> None:
        """Start it without a memory. Raises Unavailable for a target that others started."""
        if not self.can_restart:
            raise Unavailable(f"{self.target.name} was started by others, who must start it again")
        self.target.stop()
        self.where = self._started()
        self.link.close()
        self.link.address = self.address

    def restart_prepared(self) -> Link:
        """A link of the caller's to the target, which was restarted and has what requests name. One
        that cannot be prepared is restarted again: on a busy machine a broker may hang from its
        begin. Raises NotPrepared when it could not be `STARTS` times.
        """
        failures = 0
        while True:
            self.restart()
            link = self.where.link()
            try:
                self.where.prepare(link)
            except corpus_run.NotPrepared:
                link.close()
                failures += 1
                if failures == STARTS:
                    raise
            else:
                return link

    def unharmed(self, attempt: Callable[[], T], tell: Callable[[str], object]) -> T:
        """What `attempt` gives. A target that cannot be prepared for it, since an earlier campaign
        has harmed it (UnregisterBroker of its only broker, say), is started again and it is
        attempted once more. Raises NotPrepared.
        """
        try:
            return attempt()
        except corpus_run.NotPrepared as problem:
            if not self.can_restart:
                raise
            tell(f"{self.target.name} is started again: {problem}")
            self.restart_prepared().close()
            return attempt()

    def prepare(self) -> World:
        """Make what valid requests name. Raises NotPrepared."""
        return self.where.prepare(self.link)

    def restore(self, campaign: Campaign) -> None:
        """Put it back as it was before the first case, so that no replay is answered by what others
        left. A reference broker is started anew, which takes milliseconds; another target gets its
        topics back, empty, and its groups, producers and transactions stay. Raises NotPrepared.
        """
        ours = self.target.kind == "reference"
        if ours and self.can_restart:
            self.restart()
        if campaign.source == "corpus":
            corpus_run.prepare(self.link, corpus(), fresh=not ours)
        else:
            self.prepare()

    def listed(self) -> Versions:
        """What it says of itself; one in this process is not started to be asked."""
        return listed_by(self.link) if self.reach.in_process else self.target.advertised()

    def pairs(self) -> list[Pair]:
        """The (API key, version) pairs that it is sent."""
        login = reach.login_of(self.where.address) if self.where.address else None
        logs_in = login is not None and login.authenticates
        return served_pairs(self.target.release, self.listed(), authenticated=logs_in)
