"""Where releases differ in how a peer says who it is: one row a behaviour.

A row is the sentence, the value from each release on that changed it, and where it was seen; how it
is read stands in `releases.py`.
"""

from __future__ import annotations

from touchstone.reference_impl.broker.personas.releases import Rows

_SEEN = "observed on SASL listeners of all five releases"

_ALTERED = "observed on 2.8.2, 3.9.2 and 4.3.1, whose listeners were altered while they ran"

ROWS: Rows = {
    "listeners.are-lists": (
        "Refusals print `listeners` as Java prints a list, and say of two that are alike what they "
        "say of one that cannot be read.",
        {"1.0": False, "4.3": True},
        _ALTERED,
    ),
    "listeners.share-ports-by-protocol": (
        "Two listeners may have one port where one has an IPv4 address and the other one of IPv6.",
        {"1.0": False, "3.9": True},
        _ALTERED,
    ),
    "listeners.advertised-are-compared": (
        "An alteration may not change what a broker of KRaft advertises (else only the old ones "
        "have to be among its listeners).",
        {"1.0": True, "4.3": False},
        _ALTERED,
    ),
    "sasl.refused-handshakes-name-mechanisms": (
        "SaslHandshake names the enabled mechanisms also where it is out of turn.",
        {"1.0": True, "2.2": False},
        _SEEN,
    ),
    "sasl.refusals-wait": (
        "What is said of a failed authentication, and the end of its connection, wait for "
        "connection.failed.authentication.delay.ms (KIP-306).",
        {"1.0": False, "2.2": True},
        _SEEN,
    ),
    "sasl.refusal": (
        "What SaslAuthenticate says of wrong credentials: {0} is authentication or "
        "re-authentication, {1} the mechanism.",
        {
            "1.0": "Authentication failed due to invalid credentials with SASL mechanism {1}",
            "2.2": "Authentication failed during {0} due to invalid credentials with SASL mechanism"
            " {1}",
        },
        _SEEN,
    ),
    "sasl.success-message": (
        "The error message of a SaslAuthenticate without an error.",
        {"1.0": None, "2.8": ""},
        _SEEN,
    ),
    "sasl.expired-sessions-are-closed": (
        "A request after the end of a session closes its connection; without the quirk it is not "
        "answered, and nothing is read any more.",
        {"1.0": True, "2.2": False, "2.8": True},
        "observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1; 1.0.2 has no sessions",
    ),
    "sasl.tokens-end-sessions": (
        "A session that a token of OAUTHBEARER began ends with it also where no "
        "connections.max.reauth.ms is set.",
        {"1.0": False, "3.9": True},
        "observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1; 1.0.2 has no OAUTHBEARER",
    ),
    "sasl.bare-sessions-end": (
        "A session that began with bare tokens has an end as well.",
        {"1.0": False, "2.8": True},
        "observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1; 1.0.2 has no sessions",
    ),
    "sasl.plain-says-what-is-missing": (
        "A PLAIN token without user or password, or of another number of parts, is refused in "
        "words of its own; without the quirk empty parts at its end do not count.",
        {"1.0": False, "2.8": True},
        _SEEN,
    ),
    "sasl.scram-nonce-is-repeated": (
        "A client's final SCRAM message must repeat both nonces: its own is never looked at, must "
        "end with them, or be them.",
        {"1.0": "never", "3.9": "at the end", "4.3": "whole"},
        "observed on all five releases; ScramSaslServer of the jars of 3.9.2 and 4.3.1",
    ),
    "sasl.scram-hears-extensions": (
        "The extensions of a client's first SCRAM message are part of what is signed.",
        {"1.0": False, "2.2": True},
        _SEEN,
    ),
    "sasl.bearer-tokens-are-base64": (
        "A bearer token may have all letters of base64, also those that URLs cannot have.",
        {"1.0": False, "3.9": True},
        "observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1; 1.0.2 has no OAUTHBEARER",
    ),
    "sasl.signed-token-handlers": (
        "The classes of a callback handler that validates signed tokens of OAUTHBEARER (KIP-768).",
        {
            "1.0": (),
            "3.9": (
                "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler",
                "org.apache.kafka.common.security.oauthbearer.secured"
                ".OAuthBearerValidatorCallbackHandler",
            ),
            "4.3": (
                "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler",
            ),
        },
        "observed on 3.9.2 and 4.3.1; releases before 3.1 have no such class",
    ),
    "sasl.oauth-urls-are-listed": (
        "No URL is read that org.apache.kafka.sasl.oauthbearer.allowed.urls does not list; without "
        "the quirk that holds only where it is set.",
        {"1.0": False, "4.3": True},
        "observed on 3.9.2 and 4.3.1",
    ),
    "sasl.jwks-files-are-read-again": (
        "A file of keys that has changed is read again when a token comes.",
        {"1.0": False, "4.3": True},
        "JwksFileVerificationKeyResolver at 3.9.2 and 4.3.1; observed on both",
    ),
    "sasl.token-sessions-end": (
        "A session that began with a delegation token ends with the token.",
        {"1.0": False, "3.9": True},
        "observed on 2.2.1, 2.8.2, 3.9.2 and 4.3.1; 1.0.2 has no tokens",
    ),
}
