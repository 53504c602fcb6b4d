"""What is said beside the code to whoever may not do something: by API and release.

Texts are quirks (`personas/acl_path.py`). `{code}` stands for the sentence of the code itself, and
`{request}` for the request as Kafka prints it, with its session; None is no text.

Sources: Errors, AuthHelper.authorizeClusterOperation, ControllerApis at 2.8.2, 3.9;
KafkaApis.authorizeClusterAlter at 1.0.2; where a text was seen stands in its row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from touchstone.reference_impl.broker.effects import Connection
from touchstone.reference_impl.broker.security.acls.guarding import Asked
from touchstone.reference_impl.wire.errors import ErrorCode as E
from touchstone.reference_impl.wire.schema import Struct

OF_CODES = {
    int(E.TOPIC_AUTHORIZATION_FAILED): "Topic authorization failed.",
    int(E.GROUP_AUTHORIZATION_FAILED): "Group authorization failed.",
    int(E.CLUSTER_AUTHORIZATION_FAILED): "Cluster authorization failed.",
    int(E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED): "Transactional Id authorization failed.",
}
# API key -> where its texts stand: the fields of rows, and "" for the answer itself.
PLACES: Mapping[int, tuple[str, ...]] = {
    10: ("", "coordinators"),
    19: ("topics",),
    20: ("responses",),
    29: ("",),
    30: ("results",),
    31: ("filter_results",),
    32: ("results",),
    33: ("responses",),
    37: ("results",),
    44: ("responses",),
    45: ("",),
    46: ("",),
    49: ("entries",),
    51: ("results",),
}


def with_texts(asked: Asked, body: Struct) -> Struct:
    """The answer with the texts of its refusals."""
    key = asked.request.header.key
    text, request = asked.persona.quirk(f"acls.text-of-{key}"), _printed(asked.request.connection)
    for place in PLACES[key]:
        rows: Iterable[Struct] = body.get(place) or () if place else (body,)
        for row in rows:
            sentence = OF_CODES.get(row.get("error_code", 0))
            if sentence is not None:
                row["error_message"] = text and text.format(code=sentence, request=request)
    return body


def _printed(peer: Connection) -> str:
    """A request as RequestChannel.Request.toString has it, as far as this broker knows its peer."""
    session = f"Session({peer.principal},/{peer.peer_host})"
    return f"Request(processor=0, connectionId={peer.id}, session={session}, buffer=null)"
