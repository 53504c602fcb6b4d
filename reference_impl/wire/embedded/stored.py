"""Schemas of single things on disk or inside a request: producer snapshot, quorum state, principal.

A `.snapshot` file is an int16 version before ProducerSnapshot's body, in which `crc` covers what
follows it. DefaultPrincipalData travels in Envelope requests and delegation tokens (KIP-590).
"""

from ..schema import Field, Message

PRODUCER_SNAPSHOT = Message("ProducerSnapshot", "1", "", [
    Field("crc", "1+", "uint32"),
    Field("producer_entries", "1+", "[]struct", fields=[
        Field("producer_id", "1+", "int64"),
        Field("epoch", "1+", "int16"),
        Field("last_sequence", "1+", "int32"),
        Field("last_offset", "1+", "int64"),
        Field("offset_delta", "1+", "int32"),
        Field("timestamp", "1+", "int64"),
        Field("coordinator_epoch", "1+", "int32"),
        Field("current_txn_first_offset", "1+", "int64"),
    ]),
])

QUORUM_STATE_DATA = Message("QuorumStateData", "0-1", "0+", [
    Field("cluster_id", "0", "string"),
    Field("leader_id", "0+", "int32", default=-1),
    Field("leader_epoch", "0+", "int32", default=-1),
    Field("voted_id", "0+", "int32", default=-1),
    Field("voted_directory_id", "1+", "uuid"),
    Field("applied_offset", "0", "int64"),
    Field("current_voters", "0", "[]struct", nullable="0", fields=[
        Field("voter_id", "0", "int32"),
    ]),
])

DEFAULT_PRINCIPAL_DATA = Message("DefaultPrincipalData", "0", "0+", [
    Field("type", "0+", "string"),
    Field("name", "0+", "string"),
    Field("token_authenticated", "0+", "bool"),
])
