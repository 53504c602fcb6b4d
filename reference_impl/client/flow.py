"""What a flow may yield and what it is given back: the client's effects, as values.

A flow is a generator. It yields a list of `Ask`s (all sent at once, to whatever brokers) or a
`Pause`, and is resumed with one `Answer` or `Failed` per ask, in the asks' order, or with nothing.
Who has several requests under way yields a `NetworkPoll` and finds what comes of them in an inbox.
What time it is stands in `View.now`, which whoever runs the flow sets before each step. So a whole
producer or consumer can be driven by a test with made-up answers and instants, and no callback ever
runs in the middle of another.
"""

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Literal, TypeVar

from touchstone.reference_impl.wire.errors import ErrorCode, is_retriable, name_of
from touchstone.reference_impl.wire.schema import Struct

ANY = "any"  # whichever broker is known to be there
CONTROLLER = "controller"
LATEST_VERSION = 1 << 15

T = TypeVar("T")
TopicPartition = tuple[str, int]  # a topic and the index of one of its partitions


def named(place: TopicPartition) -> str:
    """A partition by the name that Kafka's own logs give it."""
    topic, index = place
    return f"{topic}-{index}"


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: to a node id, ANY or CONTROLLER.

    The version is the highest that both sides know within `versions`; a body that depends on it
    is a function of it. With `answer=False` (Produce with acks=0) there is nothing to wait for.
    Requests of one lane to a node share a connection and are answered in their order: a Fetch that
    waits at the broker has a lane of its own, or commits and heartbeats would wait behind it.
    """

    node: int | str
    api: str
    body: Struct | Callable[[int], Struct]
    timeout_ms: int = 30_000
    versions: tuple[int, int] = (0, LATEST_VERSION)
    answer: bool = True
    lane: int = 0


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing to do before this instant."""

    until: int


@dataclass(frozen=True, slots=True)
class Answer:
    ask: Ask
    version: int
    body: Struct


FailureKind = Literal["refused", "closed", "timeout", "unsupported", "malformed", "unauthenticated"]


@dataclass(frozen=True, slots=True)
class Failed:
    """No answer. After `refused`, `unsupported` or `unauthenticated` it was not carried out.

    `error` is the failed login or TLS handshake, if that was the cause (`security.errors`);
    `running.resume` raises it in the flow.
    """

    ask: Ask
    kind: FailureKind
    reason: str
    error: Exception | None = None


Outcome = Answer | Failed
Inbox = deque[Outcome]


@dataclass(frozen=True, slots=True)
class NetworkPoll:
    """Send `asks`; go on once `inbox` holds an outcome, of these or of earlier ones, or at `until`.

    An instant that has come lets sockets be read and written, and waits for nothing. Outcomes go on
    arriving in the inbox whatever its owner, or anybody else on this client, yields next.
    """

    asks: list[Ask]
    inbox: Inbox
    until: int


Flow = Generator[list[Ask] | Pause | NetworkPoll, list[Outcome], T]


class ClientError(Exception):
    """The client could not do what was asked of it."""


class KafkaError(ClientError):
    """A broker's error code, with its message if it sent one."""

    def __init__(self, code: int, message: str | None = None, about: str = ""):
        self.code = code
        self.name = name_of(code)
        self.retriable = is_retriable(code)
        super().__init__(": ".join(part for part in (about, self.name, message) if part))


class Unreachable(ClientError):
    """No broker answered in time; `kind` is how the last try failed."""

    def __init__(self, failed: Failed):
        self.kind = failed.kind
        self.final = failed.kind in ("unsupported", "unauthenticated")  # no try can do better
        super().__init__(f"{failed.ask.api}: {failed.kind}: {failed.reason}")


class TimedOut(KafkaError):
    """Time was up, and each try was answered by an error; the last one is the cause, as of Kafka's
    TimeoutException (AdminApiDriver, 4.3.1).
    """

    def __init__(self, last: ClientError):
        super().__init__(ErrorCode.REQUEST_TIMED_OUT, f"the last try: {last}")
        self.__cause__ = last


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential, as KIP-580 has it; `draw`, of [0, 1), spreads it by `jitter` both ways."""

    first_ms: int = 100
    most_ms: int = 1000
    jitter: float = 0.2

    def delay(self, attempt: int, draw: float = 0.5) -> int:
        """Milliseconds to wait after a try that failed; `attempt` tries failed before it."""
        if self.first_ms >= self.most_ms:
            return self.most_ms  # ExponentialBackoff: nothing grows, and nothing is spread
        spread = 1 - self.jitter + 2 * self.jitter * draw
        return min(self.most_ms, int((self.first_ms << min(attempt, 20)) * spread))
