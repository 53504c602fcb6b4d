"""Brokers leave announcements in ZooKeeper: ISRs that they changed, directories that failed.

A leader that writes the state znode itself (1.0, 2.2) tells nobody, and a broker that lost a log
directory cannot tell whom it concerns; each leaves a numbered child of a znode that the controller
watches. The controller reads all children there are, acts, and removes them; while nobody hears
they stay. Here are the children; `zookeeper_controller` knows what they mean, `isr_changes` of
`broker/replication` when they are written, `znodes` their text. Where a real ZooKeeper is attached
it numbers them, so they go there first (`elsewhere`) and come back by its watch.

Sources: CTL-19, CTL-20, REPL-17; ReplicationUtils.propagateIsrChanges and
LogDirUtils.propagateLogDirEvent@1.0.2, KafkaZkClient@2.2.1, 2.8.2.
"""

from __future__ import annotations

from collections.abc import Callable

ISR_CHANGES, LOG_DIR_EVENTS = "/isr_change_notification", "/log_dir_event_notification"
_NAMES = {ISR_CHANGES: "isr_change_", LOG_DIR_EVENTS: "log_dir_event_"}


class Announcements:
    def __init__(self) -> None:
        self.standing: dict[str, str] = {}  # path -> text, oldest first
        self.elsewhere: Callable[[str, str], None] | None = None  # (path without number, text)
        self._left = dict.fromkeys(_NAMES, 0)

    def leave(self, parent: str, text: str) -> None:
        """A new child with the next number, as ZooKeeper makes it of a sequential node."""
        path = f"{parent}/{_NAMES[parent]}"
        if self.elsewhere is not None:
            self.elsewhere(path, text)
            return
        self.standing[f"{path}{self._left[parent]:010}"] = text
        self._left[parent] += 1

    def take(self, parent: str) -> list[str]:
        """The texts of all children, which are removed."""
        paths = [path for path in self.standing if path.startswith(f"{parent}/")]
        return [self.standing.pop(path) for path in paths]
