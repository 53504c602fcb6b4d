"""What every Python program of a client campaign does: lines in, lines out, one session at a time.

    in    run HOST:PORT TOPIC GROUP      begin to write to the topic and to read it
          stop                           close the clients
    out   ready                          the next session can begin
          progress                       a record was acknowledged, and one was read, since the last
          error WORDS                    the client reported an error of its own
          fatal WORDS                    it raised what is none, or a thread of it died of one
          closed                         the session is over

The programs in Java and Go say the same. Whether an error is just is not judged here.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

ERRORS_AT_MOST = 200
"""Lines of errors a session prints; a client that reports without end must not fill the pipe."""


@dataclass
class Session:
    """One session: where to, and what came of it so far."""

    bootstrap: str
    topic: str
    group: str
    stopped: threading.Event = field(default_factory=threading.Event)
    acknowledged: bool = False
    read: bool = False
    errors: int = 0

    def note(self, *, acknowledged: bool = False, read: bool = False) -> None:
        """A record was acknowledged, or read; says so when both have happened."""
        self.acknowledged |= acknowledged
        self.read |= read
        if self.acknowledged and self.read:
            self.acknowledged = self.read = False
            say("progress")

    def report(self, problem: object) -> None:
        """The client reported an error of its own."""
        self.errors += 1
        if self.errors <= ERRORS_AT_MOST:
            say(f"error {type(problem).__name__}: {problem}")


def say(line: str) -> None:
    print(" ".join(line.split())[:400], flush=True)


def fatal(problem: BaseException | None) -> None:
    say(f"fatal {type(problem).__name__}: {problem}")


def play(once: Callable[[Session], None], own: tuple[type[BaseException], ...]) -> None:
    """Run sessions until the input ends. `once` makes clients, works with them until the session
    is stopped, and closes them; what it raises of `own` is reported, and it is called again, as an
    application would. Anything else that it raises is fatal.
    """
    threading.excepthook = lambda args: fatal(args.exc_value)
    lines: queue.Queue[list[str]] = queue.Queue()
    running: list[Session] = []

    def read() -> None:
        for line in sys.stdin:
            words = line.split()
            if words[:1] == ["stop"]:
                for session in running:
                    session.stopped.set()
            else:
                lines.put(words)
        lines.put([])

    threading.Thread(target=read, daemon=True).start()
    say("ready")
    while words := lines.get():
        _, bootstrap, topic, group = words
        session = Session(bootstrap, topic, group)
        running[:] = [session]
        while not session.stopped.is_set():
            try:
                once(session)
            except own as problem:
                session.report(problem)
                session.stopped.wait(0.1)
            except Exception as problem:
                fatal(problem)
                session.stopped.wait(0.1)
        say("closed")
