"""SaslHandshake.

v0  the first version
v1  same shape
"""

from ..schema import Field, Message

REQUEST = Message("SaslHandshakeRequest", "0-1", "", [
    Field("mechanism", "0+", "string"),
])

RESPONSE = Message("SaslHandshakeResponse", "0-1", "", [
    Field("error_code", "0+", "int16"),
    Field("mechanisms", "0+", "[]string"),
])
