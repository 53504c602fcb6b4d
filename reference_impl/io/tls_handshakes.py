"""Two sides of TLS in one process shake hands, so that it is known whether each trusts the other.

Source: SslFactory.SslEngineValidator at 2.8.2 and 4.3.1; its words as Java 17 gives them.
"""

from __future__ import annotations

import ssl

from touchstone.reference_impl.broker.security.listener_keys import Untrusted
from touchstone.reference_impl.io.tls_stream import TlsFailed, TlsStream

_OF_ANOTHER_TIME = (9, 10)  # X509_V_ERR_CERT_NOT_YET_VALID and ..._HAS_EXPIRED
_INVALID_NOW = (
    "PKIX path validation failed: java.security.cert.CertPathValidatorException: validity check"
    " failed"
)
_UNKNOWN = (
    "PKIX path building failed: sun.security.provider.certpath.SunCertPathBuilderException: unable"
    " to find valid certification path to requested target"
)


def shake_hands(server: ssl.SSLContext, client: ssl.SSLContext) -> None:
    """Untrusted, in Java's words, where one side does not trust the other."""
    ends = TlsStream(client, server_side=False), TlsStream(server, server_side=True)
    said = b""
    for turn in range(6):  # of two round trips at most, and what follows them
        end = ends[turn % 2]
        try:
            end.received(said)
        except TlsFailed as refused:
            raise _untrusted(refused) from None
        said = end.outgoing()


def _untrusted(refused: TlsFailed) -> Untrusted:
    fault = refused.fault
    if isinstance(fault, ssl.SSLCertVerificationError):
        return Untrusted(_INVALID_NOW if fault.verify_code in _OF_ANOTHER_TIME else _UNKNOWN)
    return Untrusted(str(refused))
