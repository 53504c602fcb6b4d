"""The target as it was before the first case, so that no replay is answered by what others left.

A reference broker is started anew, which takes milliseconds and forgets everything. Another target
gets its topics back, empty; its groups, producers and transactions stay.
"""

from __future__ import annotations

from collections.abc import Callable

from touchstone.fuzz.runner import Link
from touchstone.harness.model.target import Shape, Target


def restorer(
    target: Target, shape: Shape, link: Link, prepare: Callable[[], object]
) -> Callable[[], object]:
    """What puts a running target of this shape back in order; `prepare` makes the topics. The link
    leads to the target afterwards.
    """
    if target.kind != "reference":
        return prepare

    def restart() -> None:
        target.stop()
        link.close()
        link.address = target.start(shape).bootstrap[0]
        prepare()

    return restart
