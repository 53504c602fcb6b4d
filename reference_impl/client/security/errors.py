"""Why a broker will not have this client, or this client that broker: Java's exceptions by name.

No other try can do better, so they end the call that meets them. Source: o.a.k.common.errors at
4.3.1.
"""

from __future__ import annotations

from ..flow import ClientError


class AuthenticationException(ClientError):
    """One side does not believe who the other one is."""


class SaslAuthenticationException(AuthenticationException):
    """The broker refuses the secret, or its proof is wrong; the message is the broker's."""


class UnsupportedSaslMechanismException(AuthenticationException):
    """The broker does not enable this mechanism on the listener."""


class IllegalSaslStateException(AuthenticationException):
    """What the broker sent has no place in the exchange."""


class SslAuthenticationException(AuthenticationException):
    """The TLS handshake failed; the reason is the exception's cause."""
