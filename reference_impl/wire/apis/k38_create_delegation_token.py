"""CreateDelegationToken: a delegation token is made

v0  the first version (KIP-48)
v1  the broker answers before it throttles (KIP-219)
v2  flexible (KIP-482)
v3  request adds owner_principal_type, owner_principal_name; response adds
     token_requester_principal_type, token_requester_principal_name (KIP-373)
"""

from ..schema import Field, Message

REQUEST = Message("CreateDelegationTokenRequest", "0-3", "2+", [
    Field("owner_principal_type", "3+", "string", nullable="3+"),
    Field("owner_principal_name", "3+", "string", nullable="3+"),
    Field("renewers", "0+", "[]struct", fields=[
        Field("principal_type", "0+", "string"),
        Field("principal_name", "0+", "string"),
    ]),
    Field("max_lifetime_ms", "0+", "int64"),
])

RESPONSE = Message("CreateDelegationTokenResponse", "0-3", "2+", [
    Field("error_code", "0+", "int16"),
    Field("principal_type", "0+", "string"),
    Field("principal_name", "0+", "string"),
    Field("token_requester_principal_type", "3+", "string"),
    Field("token_requester_principal_name", "3+", "string"),
    Field("issue_timestamp_ms", "0+", "int64"),
    Field("expiry_timestamp_ms", "0+", "int64"),
    Field("max_timestamp_ms", "0+", "int64"),
    Field("token_id", "0+", "string"),
    Field("hmac", "0+", "bytes"),
    Field("throttle_time_ms", "0+", "int32"),
])
