"""Java's own stores are read: two that keytool of Java 17 made, and nothing else.

    keytool -genkeypair -alias Mine -keyalg EC -groupname secp256r1 -dname CN=alice \\
        -validity 36500 -storetype JKS -keystore k.jks -storepass store-secret -keypass key-secret
    keytool -importcert -alias ca -storetype JKS -keystore t.jks ... of the certificate of that
"""

from __future__ import annotations

import base64
import ssl

import pytest

from touchstone.reference_impl.io import java_keystores, tls_stores
from touchstone.reference_impl.security.tls_stores import JKS, Store, UnreadableStore

KEYS = base64.b64decode("""
/u3+7QAAAAIAAAABAAAAAQAEbWluZQAAAaIiCeBZAAAAfzB9MA4GCisGAQQBKgIRAQEFAARrYv7885pTB9zV1SxWqECh
6FpiDq6yf3ld56N9cfQDgbgt1Z/AjRvzAyv0cMOfXnD7ofevGIYNEkqar8895+hTGY0yeW5Jp42q1ssz9IQHn6T6oofq
SoTADsoAMUqfzCfchb0ABLzFF/VAp0QAAAABAAVYLjUwOQAAATwwggE4MIHfoAMCAQICCAD3xuaNNtbNMAoGCCqGSM49
BAMCMBAxDjAMBgNVBAMTBWFsaWNlMCAXDTI2MTEyODEyMDMyMVoYDzIxMjYxMTA0MTIwMzIxWjAQMQ4wDAYDVQQDEwVh
bGljZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABETvkC3i9ObuiN+jpKKnSzJ/k2FO9ftQ2qAw/pIAUj0Q0mKURxYd
t3LUwywANbt9JH5lE7LaTV1a+TNGyRyy8t+jITAfMB0GA1UdDgQWBBSGlvNuhWXdv9vfzq6JnNGczzv6jzAKBggqhkjO
PQQDAgNIADBFAiEA2jkl5KX4m41hS56WI/fwFjZ27yrsGbMgssC/1n9DfzMCIFaExgReawFhgVjp1ceZq++yhHlK8u8X
GN+ncToCbsQUnyiQTa/6fr3bFhNGovavUNIhhHQ=
""")
TRUSTED = base64.b64decode("""
/u3+7QAAAAIAAAABAAAAAgACY2EAAAGiIgnxLQAFWC41MDkAAAE8MIIBODCB36ADAgECAggA98bmjTbWzTAKBggqhkjO
PQQDAjAQMQ4wDAYDVQQDEwVhbGljZTAgFw0yNjExMjgxMjAzMjFaGA8yMTI2MTEwNDEyMDMyMVowEDEOMAwGA1UEAxMF
YWxpY2UwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARE75At4vTm7ojfo6Sip0syf5NhTvX7UNqgMP6SAFI9ENJilEcW
Hbdy1MMsADW7fSR+ZROy2k1dWvkzRskcsvLfoyEwHzAdBgNVHQ4EFgQUhpbzboVl3b/b386uiZzRnM87+o8wCgYIKoZI
zj0EAwIDSAAwRQIhANo5JeSl+JuNYUueliP38BY2du8q7BmzILLAv9Z/Q38zAiBWhMYEXmsBYYFY6dXHmavvsoR5SvLv
Fxjfp3E6Am7EFGiX/Xdssu8uG1X0zaUszWmDzsXA
""")
STORE, KEY = "store-secret", "key-secret"


def test_a_key_is_read_with_its_certificate_and_its_alias(tmp_path):
    key, chain, alias = java_keystores.as_pem(KEYS, STORE, KEY)
    assert alias == "mine"
    path = tmp_path / "both.pem"
    path.write_text(key + chain)
    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(path)  # they fit


def test_trusted_certificates_are_read():
    key, chain, alias = java_keystores.as_pem(TRUSTED, STORE)
    assert (key, alias) == ("", "")
    assert chain == java_keystores.as_pem(KEYS, STORE, KEY)[1]


@pytest.mark.parametrize(
    ("data", "store", "key", "words"),
    [
        (KEYS, "another", KEY, "password was incorrect"),
        (KEYS, STORE, "another", "the password of the key is another"),
        (KEYS, STORE, None, "the password of the key is another"),  # it is the store's, else
        (KEYS[:-1], STORE, KEY, "tampered with"),
        (KEYS[:200] + b"x" + KEYS[201:], STORE, KEY, "tampered with"),
        (b"", STORE, KEY, "tampered with"),
    ],
)
def test_what_cannot_be_read_is_refused(data, store, key, words):
    with pytest.raises(ValueError, match=words):
        java_keystores.as_pem(data, store, key)


def test_both_kinds_of_store_go_into_a_context(tmp_path):
    keys, trusted = tmp_path / "k.jks", tmp_path / "t.jks"
    keys.write_bytes(KEYS)
    trusted.write_bytes(TRUSTED)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    shown = tls_stores.load_keys(context, Store(JKS, str(keys), STORE), KEY)
    assert shown.alias == "mine"
    tls_stores.load_trusted(context, Store(JKS, str(trusted), STORE), ssl.Purpose.SERVER_AUTH)
    assert context.cert_store_stats()["x509"] == 1
    with pytest.raises(UnreadableStore, match="Failed to load SSL keystore .* of type JKS: "):
        tls_stores.load_keys(context, Store(JKS, str(keys), "wrong"), KEY)
