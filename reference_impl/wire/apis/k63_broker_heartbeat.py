"""BrokerHeartbeat: a broker is alive

v0  the first version (KIP-631)
v1  request adds offline_log_dirs (KIP-858)
v2  request adds cordoned_log_dirs
"""

from ..schema import Field, Message

REQUEST = Message("BrokerHeartbeatRequest", "0-2", "0+", [
    Field("broker_id", "0+", "int32"),
    Field("broker_epoch", "0+", "int64", default=-1),
    Field("current_metadata_offset", "0+", "int64"),
    Field("want_fence", "0+", "bool"),
    Field("want_shut_down", "0+", "bool"),
    Field("offline_log_dirs", "1+", "[]uuid", tag=0),
    Field("cordoned_log_dirs", "2+", "[]uuid", nullable="2+", tag=1, default=None),
])

RESPONSE = Message("BrokerHeartbeatResponse", "0-2", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("is_caught_up", "0+", "bool"),
    Field("is_fenced", "0+", "bool", default=True),
    Field("should_shut_down", "0+", "bool"),
])
