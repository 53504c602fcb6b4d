"""AlterUserScramCredentials: SCRAM credentials are changed

v0  the first version (KIP-554)
"""

from ..schema import Field, Message

REQUEST = Message("AlterUserScramCredentialsRequest", "0", "0+", [
    Field("deletions", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("mechanism", "0+", "int8"),
    ]),
    Field("upsertions", "0+", "[]struct", fields=[
        Field("name", "0+", "string"),
        Field("mechanism", "0+", "int8"),
        Field("iterations", "0+", "int32"),
        Field("salt", "0+", "bytes"),
        Field("salted_password", "0+", "bytes"),
    ]),
])

RESPONSE = Message("AlterUserScramCredentialsResponse", "0", "0+", [
    Field("throttle_time_ms", "0+", "int32"),
    Field("results", "0+", "[]struct", fields=[
        Field("user", "0+", "string"),
        Field("error_code", "0+", "int16"),
        Field("error_message", "0+", "string", nullable="0+"),
    ]),
])
