"""Envelope: a request is forwarded with its principal

v0  the first version (KIP-590)
"""

from ..schema import Field, Message

REQUEST = Message("EnvelopeRequest", "0", "0+", [
    Field("request_data", "0+", "bytes"),
    Field("request_principal", "0+", "bytes", nullable="0+"),
    Field("client_host_address", "0+", "bytes"),
])

RESPONSE = Message("EnvelopeResponse", "0", "0+", [
    Field("response_data", "0+", "bytes", nullable="0+", default=None),
    Field("error_code", "0+", "int16"),
])
