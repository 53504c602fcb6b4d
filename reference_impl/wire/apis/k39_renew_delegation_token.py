"""RenewDelegationToken: a delegation token lives on

v0  the first version (KIP-48)
v1  the broker answers before it throttles (KIP-219)
v2  flexible (KIP-482)
"""

from ..schema import Field, Message

REQUEST = Message("RenewDelegationTokenRequest", "0-2", "2+", [
    Field("hmac", "0+", "bytes"),
    Field("renew_period_ms", "0+", "int64"),
])

RESPONSE = Message("RenewDelegationTokenResponse", "0-2", "2+", [
    Field("error_code", "0+", "int16"),
    Field("expiry_timestamp_ms", "0+", "int64"),
    Field("throttle_time_ms", "0+", "int32"),
])
