"""SaslHandshake: a SASL mechanism is chosen

v0  the first version; tokens follow as bare frames (KIP-43)
v1  tokens travel in SaslAuthenticate (KIP-152)

No version can ever be flexible: whoever does not know a broker yet asks with it (KAFKA-9577).
"""

from ..schema import Field, Message

REQUEST = Message("SaslHandshakeRequest", "0-1", "", [
    Field("mechanism", "0+", "string"),
])

RESPONSE = Message("SaslHandshakeResponse", "0-1", "", [
    Field("error_code", "0+", "int16"),
    Field("mechanisms", "0+", "[]string"),
])
