"""A watch looks at the target beside the cases; here is what one is, and what it may look at.

An oracle judges the outcome of one case and sends nothing. A watch has its own connections, reads
what the operating system says of the target's processes, and looks once more when the campaign is
over. It complains once, in a sentence; what it measured it tells whether it complains or not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from touchstone.fuzz.runner import Link, stopwatch
from touchstone.harness.model.target import Address, Endpoint, Versions
from touchstone.reference_impl.wire.apis import by_name
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.headers import decode_response
from touchstone.reference_impl.wire.schema import Struct

CANARY = "touchstone-canary"
"""How every topic and group of a watch is named; campaigns leave such names alone."""
RETRIABLE = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR, ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.LEADER_NOT_AVAILABLE,
}  # fmt: skip
"""What a cluster answers that has just begun, or that is still ending a transaction."""


class NotWatched(Exception):
    """This target cannot be looked at in this way; says why."""


class Wrong(Exception):
    """What was looked at is not as it must be; the sentence is the complaint."""


@dataclass(frozen=True)
class Played:
    """How far the campaign is: cases, bytes sent, and cases whose end was silence."""

    cases: int = 0
    sent: int = 0
    silent: int = 0


@dataclass(frozen=True)
class Watched:
    """A running target as watches see it. `in_process`: it has no process of its own."""

    endpoint: Endpoint
    versions: Versions
    in_process: bool = False

    @property
    def address(self) -> Address:
        return self.endpoint.bootstrap[0]

    @property
    def bootstrap(self) -> str:
        return ",".join(f"{host}:{port}" for host, port in self.endpoint.bootstrap)

    @property
    def processes(self) -> list[int]:
        """The numbers of the brokers' processes. Raises NotWatched where there are none of ours."""
        if self.in_process:
            raise NotWatched("the target runs in the process of the fuzzer")
        children = [getattr(node, "child", None) for node in self.endpoint.nodes.values()]
        found = [child.pid for child in children if child is not None and child.pid]
        if not found:
            raise NotWatched("the target was not started here")
        return found

    def serves(self, api: str, version: int) -> bool:
        low, high = self.versions.get(by_name(api).key, (0, -1))
        return low <= version <= high

    def asker(self) -> Asker:
        return Asker(Link(*self.address))


class Asker:
    """Asks the target over a connection of its own, one question after another."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def close(self) -> None:
        self.link.close()

    def once(self, api: str, version: int, body: Struct) -> Struct | None:
        """The answer's body; None when the target hangs up or says nothing."""
        key = by_name(api).key
        try:
            answer = self.link.answer_to(key, version, body)
            return None if answer is None else decode_response(key, version, answer).body
        except (OSError, ValueError) as problem:
            raise Wrong(f"{api} is not answered: {problem!r}") from problem

    def ask(self, api: str, version: int, body: Struct) -> Struct:
        """The answer's body, asked twice where need be: idle connections may end."""
        answer = self.once(api, version, body)
        answer = self.once(api, version, body) if answer is None else answer
        if answer is None:
            raise Wrong(f"{api} is not answered")
        return answer

    def until(self, api: str, version: int, body: Struct, code: Callable[[Struct], int]) -> Struct:
        """The first answer whose code is not one of a cluster that has yet to begin."""
        return eventually(
            lambda: None if code(found := self.ask(api, version, body)) in RETRIABLE else found,
            self.link,
            f"{api} is only answered with codes of a cluster that begins",
        )


def eventually(done: Callable[[], Any], link: Link, what: str, seconds: float = 30.0) -> Any:
    """What `done` gives as soon as it is true; raises Wrong(what) after so many seconds."""
    elapsed = stopwatch()
    while not (found := done()):
        if elapsed() > seconds:
            raise Wrong(what)
        link.rest()
    return found


def error_code(body: Struct) -> int:
    return int(body["error_code"])


def name_of(code: int) -> str:
    try:
        return ErrorCode(code).name
    except ValueError:
        return str(code)


class Watch:
    """`before` the campaign, `check` every `every_s` seconds of it, `after` it; each may be empty.

    `before` raises NotWatched where there is nothing to look at. `check` and `after` raise Wrong,
    or return the sentence of a complaint. `now` is in seconds, from whenever the clock began.
    """

    every_s = 1.0
    repeats = False
    """Whether a case that is complained about is so when it is played again (`culprits`)."""

    def before(self, target: Watched) -> None: ...

    def check(self, now: float) -> str | None:
        return None

    def after(self, now: float, played: Played) -> str | None:
        return None

    def figures(self) -> str:
        """What was measured, for the report."""
        return ""

    def close(self) -> None:
        """Let go of what `before` opened, also where `before` did not come to its end."""
        asker = getattr(self, "asker", None)
        if asker is not None:
            asker.close()
