"""SaslAuthenticate: SASL tokens

v0  the first version (KIP-152)
v1  response adds session_lifetime_ms (KIP-368)
v2  flexible (KIP-482)
"""

from ..schema import Field, Message

REQUEST = Message("SaslAuthenticateRequest", "0-2", "2+", [
    Field("auth_bytes", "0+", "bytes"),
])

RESPONSE = Message("SaslAuthenticateResponse", "0-2", "2+", [
    Field("error_code", "0+", "int16"),
    Field("error_message", "0+", "string", nullable="0+"),
    Field("auth_bytes", "0+", "bytes"),
    Field("session_lifetime_ms", "1+", "int64", ignorable=True),
])
