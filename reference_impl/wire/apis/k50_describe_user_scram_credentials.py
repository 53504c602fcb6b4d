"""DescribeUserScramCredentials: SCRAM credentials are asked for

v0  the first version (KIP-554)
"""

from ..schema import Field, Message

REQUEST = Message("DescribeUserScramCredentialsRequest", "0", "0+", [
    Field("users", "0+", "[]struct", nullable="0+", fields=[
        Field("name", "0+", "string"),
    ]),
])

RESPONSE = Message("DescribeUserScramCredentialsResponse", "0", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("error_code", "0+", "int16"),
    Field("error_message", "0+", "string", nullable="0+"),
    Field("results", "0+", "[]struct", fields=[
        Field("user", "0+", "string"),
        Field("error_code", "0+", "int16"),
        Field("error_message", "0+", "string", nullable="0+"),
        Field("credential_infos", "0+", "[]struct", fields=[
            Field("mechanism", "0+", "int8"),
            Field("iterations", "0+", "int32"),
        ]),
    ]),
])
