"""What stands inside control records: transaction markers and KRaft's own (KIP-98, 595, 630, 853).

The key of every control record is two int16: a version and a type from TYPES. An end-of-transaction
marker's value carries its version first; KRaft's values begin with their version as well.
"""

from ..schema import Field, Message

TYPES = {
    0: "ABORT",
    1: "COMMIT",
    2: "LEADER_CHANGE",
    3: "SNAPSHOT_HEADER",
    4: "SNAPSHOT_FOOTER",
    5: "KRAFT_VERSION",
    6: "KRAFT_VOTERS",
}

CONTROL_RECORD_TYPE_SCHEMA = Message("ControlRecordTypeSchema", "0", "", [
    Field("type", "0+", "int16"),
])

END_TXN_MARKER = Message("EndTxnMarker", "0", "", [
    Field("coordinator_epoch", "0+", "int32"),
])

LEADER_CHANGE_MESSAGE = Message("LeaderChangeMessage", "0-1", "0+", [
    Field("version", "0+", "int16"),
    Field("leader_id", "0+", "int32"),
    Field("voters", "0+", "[]struct", fields=[
        Field("voter_id", "0+", "int32"),
        Field("voter_directory_id", "1+", "uuid"),
    ]),
    Field("granting_voters", "0+", "[]struct", fields=[
        Field("voter_id", "0+", "int32"),
        Field("voter_directory_id", "1+", "uuid"),
    ]),
])

SNAPSHOT_HEADER_RECORD = Message("SnapshotHeaderRecord", "0", "0+", [
    Field("version", "0+", "int16"),
    Field("last_contained_log_timestamp", "0+", "int64"),
])

SNAPSHOT_FOOTER_RECORD = Message("SnapshotFooterRecord", "0", "0+", [
    Field("version", "0+", "int16"),
])

KRAFT_VERSION_RECORD = Message("KRaftVersionRecord", "0", "0+", [
    Field("version", "0+", "int16"),
    Field("kraft_version", "0+", "int16"),
])

VOTERS_RECORD = Message("VotersRecord", "0", "0+", [
    Field("version", "0+", "int16"),
    Field("voters", "0+", "[]struct", fields=[
        Field("voter_id", "0+", "int32"),
        Field("voter_directory_id", "0+", "uuid"),
        Field("endpoints", "0+", "[]struct", fields=[
            Field("name", "0+", "string"),
            Field("host", "0+", "string"),
            Field("port", "0+", "uint16"),
        ]),
        Field("kraft_version_feature", "0+", "struct", fields=[
            Field("min_supported_version", "0+", "int16"),
            Field("max_supported_version", "0+", "int16"),
        ]),
    ]),
])
