"""A broker's access control: its authorizer, and the guards that stand before its handlers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from touchstone.reference_impl.broker.coordinators.groups import streams_are_served
from touchstone.reference_impl.broker.coordinators.share_groups import ShareGroups
from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.broker.security.acls.access import Access
from touchstone.reference_impl.broker.security.acls.authorizer import Authorizer, settings_of
from touchstone.reference_impl.broker.security.acls.guarding import (
    SHARE,
    STREAMS,
    Asked,
    once_there,
)
from touchstone.reference_impl.broker.security.acls.guards import BROKERS_ONLY, GUARDS, UNGUARDED
from touchstone.reference_impl.broker.security.acls.refusal_texts import PLACES, with_texts
from touchstone.reference_impl.cluster.acls import Entry, Pattern

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker

Handle = Callable[[Request, int], Any]


class AccessControl:
    """`authorizer` is None where none is configured: then everybody may do everything."""

    def __init__(self, broker: Broker) -> None:
        settings = settings_of(broker.config, broker.persona)
        self.acls = broker.cluster.acls
        self.authorizer = None if settings is None else Authorizer(self.acls, settings)
        self._broker = broker

    def add(self, pattern: Pattern, entry: Entry) -> None:
        self.acls.add(pattern, entry)
        self._broker.cluster.generation += 1

    def remove(self, bindings: Iterable[tuple[Pattern, Entry]]) -> None:
        """One that is named twice, or is gone, is no fault."""
        for pattern, entry in bindings:
            self.acls.discard(pattern, entry)
        self._broker.cluster.generation += 1

    def _speaks(self, protocol: str) -> bool:
        if protocol == SHARE:
            return self._broker.room(ShareGroups).enabled()
        if protocol == STREAMS:
            return streams_are_served(self._broker)
        return bool(self._broker.persona.quirk("groups.consumer-protocol-is-on"))

    def guarded(self, key: int, handle: Handle) -> Handle:
        """The handler of this API, for those who may use it; brokers of this process may."""
        broker, authorizer = self._broker, self.authorizer
        if authorizer is None or key in UNGUARDED:
            return handle
        guard = GUARDS.get(key, BROKERS_ONLY)  # what nobody thought of is for brokers

        def guarded(request: Request, now: int) -> Any:
            peer = request.connection
            if peer.of_broker:
                return handle(request, now)
            access = Access(authorizer, str(peer.principal), peer.peer_host)
            cluster = broker.cluster
            asked = Asked(
                replace(request, access=access),
                access,
                broker.persona,
                broker.metadata,
                broker.config,
                broker.persona.kraft or cluster.controller_id == broker.id,
                self._speaks,
            )
            answer = guard(asked, lambda left: handle(left.request, now))
            return once_there(answer, partial(with_texts, asked)) if key in PLACES else answer

        return guarded
