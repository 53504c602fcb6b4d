"""Where a client's signed bearer tokens come from: a file, or an authorization server.

Which of both, the settings say in one of two ways: `sasl.login.callback.handler.class` names
OAuthBearerLoginCallbackHandler, and the scheme of `sasl.oauthbearer.token.endpoint.url` decides
(KIP-768, 3.1 to 4.0); or `sasl.oauthbearer.jwt.retriever.class` names it (KIP-1139, from 4.1 on).
Client id, secret and scope are settings since then, and options of the login module before.

Sources: DefaultJwtRetriever, FileJwtRetriever, ClientCredentialsJwtRetriever, JaasOptionsUtils at
3.9.2 and 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from ..configs.parsing import register_class

URL = "sasl.oauthbearer.token.endpoint.url"
HANDLER = "sasl.login.callback.handler.class"
RETRIEVER = "sasl.oauthbearer.jwt.retriever.class"
_PACKAGE = "org.apache.kafka.common.security.oauthbearer"
HANDLERS = (
    f"{_PACKAGE}.OAuthBearerLoginCallbackHandler",
    f"{_PACKAGE}.secured.OAuthBearerLoginCallbackHandler",
)
_BY_URL, _OF_FILE, _OF_SERVER = (
    f"{_PACKAGE}.{name}JwtRetriever" for name in ("Default", "File", "ClientCredentials")
)
RETRIEVERS = (_BY_URL, _OF_FILE, _OF_SERVER)
_EXTENSION = "extension_"
for _name in (*HANDLERS, *RETRIEVERS):  # classes of Java's, which only their names stand for here
    register_class(_name, _name)


class TokenSource(NamedTuple):
    """`path` of a file that holds a token, or `url` of a server that gives one for the rest."""

    path: str | None
    url: str
    client_id: str
    secret: str
    scope: str | None
    encodes: bool  # id and secret are form-encoded first (RFC 6749, section 2.3.1)
    timeout_s: float
    extensions: Mapping[str, str]


def source_of(said: Callable[[str], str | None], options: Mapping[str, str]) -> TokenSource | None:
    """Return where tokens are from; None where the login module makes them itself. Raise ValueError
    for what says so only in part.
    """
    handler, retriever, url = said(HANDLER), said(RETRIEVER) or _BY_URL, said(URL)
    if url is None and handler is None:
        return None
    for name, value, known in ((HANDLER, handler, HANDLERS), (RETRIEVER, retriever, RETRIEVERS)):
        if value is not None and value not in known:
            raise ValueError(f"{name} is not obeyed, so it is refused: no class is loaded here")
    if url is None:
        raise ValueError(f"The OAuth configuration option {URL} value must be non-null")
    is_file = retriever == _OF_FILE or (retriever == _BY_URL and urlsplit(url).scheme == "file")
    client_id = said("sasl.oauthbearer.client.credentials.client.id") or options.get("clientId")
    secret = said("sasl.oauthbearer.client.credentials.client.secret") or options.get(
        "clientSecret"
    )
    if not is_file and not (client_id and secret):
        raise ValueError(f"tokens of {URL} need a client id and a client secret")
    return TokenSource(
        unquote(urlsplit(url).path) if is_file else None,
        url,
        client_id or "",
        secret or "",
        said("sasl.oauthbearer.scope") or options.get("scope"),
        (said("sasl.oauthbearer.header.urlencode") or "").lower() == "true",
        int(said("sasl.login.read.timeout.ms") or 10_000) / 1000,
        {
            name.removeprefix(_EXTENSION): value
            for name, value in options.items()
            if name.startswith(_EXTENSION)
        },
    )
