"""DeleteTopics: topics are removed

v0  the first version (KIP-4)
v1  response adds throttle_time_ms
v2  the broker answers before it throttles (KIP-219)
v3  may answer TOPIC_DELETION_DISABLED (KIP-322)
v4  flexible (KIP-482)
v5  response adds error_message (KIP-599)
v6  request: topics in place of topic_names; response adds topic_id; response: name may be null
     (KIP-516)
"""

from ..schema import Field, Message

REQUEST = Message("DeleteTopicsRequest", "0-6", "4+", [
    Field("topics", "6+", "[]struct", fields=[
        Field("name", "6+", "string", nullable="6+", default=None),
        Field("topic_id", "6+", "uuid"),
    ]),
    Field("topic_names", "0-5", "[]string", ignorable=True),
    Field("timeout_ms", "0+", "int32"),
])

RESPONSE = Message("DeleteTopicsResponse", "0-6", "4+", [
    Field("throttle_time_ms", "1+", "int32", ignorable=True),
    Field("responses", "0+", "[]struct", fields=[
        Field("name", "0+", "string", nullable="6+"),
        Field("topic_id", "6+", "uuid", ignorable=True),
        Field("error_code", "0+", "int16"),
        Field("error_message", "5+", "string", nullable="5+", default=None, ignorable=True),
    ]),
])
