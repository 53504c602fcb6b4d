"""Who coordinates a group or a transactional id, and how it is asked.

A coordinator is looked up when it is needed. It is forgotten when it does not answer or says that
it is not the one, and then the question goes to whoever FindCoordinator names next; all of that is
here, so members, commits and transactions only see answers that are about them.

Sources: AbstractCoordinator.ensureCoordinatorReady, TransactionManager.lookupCoordinator at 4.3.1.
"""

from collections.abc import Callable, Collection

from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.errors import is_retriable
from touchstone.reference_impl.wire.schema import Struct

from .flow import ANY, LATEST_VERSION, Answer, Ask, Failed, Flow, KafkaError, Unreachable
from .metadata import Tries, View

GROUP, TRANSACTION = 0, 1
MOVED = frozenset({E.NOT_COORDINATOR, E.COORDINATOR_NOT_AVAILABLE})
ANY_VERSION = (0, LATEST_VERSION)


def code_of(body: Struct) -> int:
    return body["error_code"]


class Coordinator:
    def __init__(
        self, view: View, key: str, kind: int = GROUP, *, request_timeout_ms: int = 30_000
    ):
        self.view = view
        self.key = key
        self.kind = kind
        self.request_timeout_ms = request_timeout_ms
        self.node: int | None = None

    def forget(self) -> None:
        self.node = None

    def find(self, give_up: int) -> Flow[int]:
        """Its node id; KafkaError or Unreachable for what does not pass, or at `give_up`."""
        tries = Tries(self.view, give_up)
        while self.node is None or self.view.resolve(self.node) is None:
            body = {"key": self.key, "key_type": self.kind, "coordinator_keys": [self.key]}
            patience = min(self.request_timeout_ms, self.view.patience_ms)
            ask = Ask(ANY, "FindCoordinator", body, patience, (self.kind, LATEST_VERSION))
            (outcome,) = yield [ask]
            if isinstance(outcome, Failed):
                unreachable = Unreachable(outcome)
                error: KafkaError | Unreachable = unreachable
                final = unreachable.final
            else:
                row = (outcome.body.get("coordinators") or [outcome.body])[0]
                if not row["error_code"]:
                    self.node = row["node_id"]
                    self.view.meet(self.node, row["host"], row["port"])
                    break
                error = KafkaError(row["error_code"], row.get("error_message"), self.key)
                final = not is_retriable(row["error_code"])
            if final:
                raise error
            yield from tries.again(error)
        return self.node

    def once(
        self,
        api: str,
        body: Struct,
        *,
        timeout_ms: int | None = None,
        versions: tuple[int, int] = ANY_VERSION,
    ) -> Flow[Answer | Failed]:
        """One try. A coordinator that does not answer is forgotten; what it says is not judged."""
        timeout = timeout_ms or self.request_timeout_ms
        node = yield from self.find(self.view.now + timeout)
        (outcome,) = yield [Ask(node, api, body, timeout, versions)]
        if isinstance(outcome, Failed):
            error = Unreachable(outcome)
            if error.final:
                raise error
            self.forget()
        return outcome

    def ask(
        self,
        api: str,
        body: Struct,
        *,
        give_up: int,
        code: Callable[[Struct], int] = code_of,
        again: Collection[int] = (),
        elsewhere: Collection[int] = MOVED,
        versions: tuple[int, int] = ANY_VERSION,
    ) -> Flow[Answer]:
        """The answer of whoever is the coordinator, asked until its code is none of these.

        `again` waits and asks the same one, `elsewhere` looks for another; COORDINATOR_LOAD_IN_
        PROGRESS always waits. At `give_up` the last error is raised.
        """
        tries = Tries(self.view, give_up)
        while True:
            outcome = yield from self.once(api, body, versions=versions)
            if isinstance(outcome, Failed):
                error: KafkaError | Unreachable = Unreachable(outcome)
            else:
                found = code(outcome.body)
                if found in elsewhere:
                    self.forget()
                elif found != E.COORDINATOR_LOAD_IN_PROGRESS and found not in again:
                    return outcome
                error = KafkaError(found, about=api)
            yield from tries.again(error)
