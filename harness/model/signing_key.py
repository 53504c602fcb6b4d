"""The key that signs bearer tokens in claims: it protects nothing, as everybody can read it here.

Brokers that we start read its public half from a file, so that a claim says what each token is
signed with. RS256 signs the same text alike every time, and so a request is the same in every run.

Sources: RFC 7515 (JSON Web Signature), RFC 7517 (JSON Web Key), RFC 8017 section 8.2.1 (RS256).
"""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64decode

KID = "touchstone"
_EXPONENT = "AQAB"
_MODULUS = (
    "uG3o20aATjY0ZO4rkaJXd1f9C5em8aVDJ5VYGeKEUmByURqTzZy6IYdkWBdDxsyLsHK0WUF8xq6VirC4Sn664XMz"
    "qvunQUkm5tKqrIJlQIBEDiVRu5VoQsbTauJgho7DRG14TRA3qvvaRtMy-wsdIdRD2x6I1XF3OMi6ZuSYV-kplDy-"
    "WrAQxajy_46jbkz5O_EYQjYk9DNomWAuuoxxZzg83lFhd2m77NAZAm4zNfhVP1-"
    "ffWc9gQxYLD9XSzLvLJ151L8KLsdadhRhiBo6OY3cCEl97ZIAhTPS2TSGOIeNHq3QM6vJUdNEyclRj11yiiBxh6R"
    "2hd97qi9PghnsGw"
)
_SECRET = (
    "Fj6Hbd8gfY5zHlNNpPiYJRhTOHE3nQCqS11rbV_RRuBEGX0jo5KKLp4WX7uanKEyHfuPvg40fwAyoDI1YCLN5oBP"
    "FInav_iTPRbeqAToMnHmA3DD3WSlWRyDBmq8aq5QZfHwJxdUJ4bN6mnxxa6u-"
    "lQQRR73MQtI7mvjc6KRr1SHF_NTFKG2J2DVSR8bDBmuNAGO4E2eERltBaU01dOczsMBt9xjshqmuWRJYV3Mn6Ktc"
    "7pAmnPOtn_-sYooe4PoxeihM9m-GG0TarzUtF7DeeazqNgg43pd5VhF_IZ96rfb2AYZ-"
    "HWQyoWMc8nlEvIdH_cUJicdwJKzUtfNfPZ6qQ"
)
_SIZE = 256  # bytes
_SHA256 = bytes.fromhex("3031300d060960864801650304020105000420")  # before the hash
JWKS = json.dumps(
    {"keys": [{"kty": "RSA", "kid": KID, "use": "sig", "e": _EXPONENT, "n": _MODULUS}]}
)


def _number(text: str) -> int:
    return int.from_bytes(urlsafe_b64decode(text + "=" * (-len(text) % 4)), "big")


def rs256(text: bytes) -> bytes:
    digest = _SHA256 + hashlib.sha256(text).digest()
    padded = b"\0\1" + b"\xff" * (_SIZE - len(digest) - 3) + b"\0" + digest
    signed = pow(int.from_bytes(padded, "big"), _number(_SECRET), _number(_MODULUS))
    return signed.to_bytes(_SIZE, "big")


def hs256_of_what_is_public(text: bytes) -> bytes:
    """As somebody signs who hopes that the public key is taken for a secret."""
    return hmac.digest(JWKS.encode(), text, "sha256")


SIGNATURES = {"RS256": rs256, "HS256": hs256_of_what_is_public}
