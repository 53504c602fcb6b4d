"""The accounts of SCRAM: users with credentials, and delegation tokens, which stand for users."""

from __future__ import annotations

from touchstone.reference_impl.broker.security.scram import Account
from touchstone.reference_impl.cluster.client_settings import ClientSettings
from touchstone.reference_impl.cluster.delegation_tokens import DelegationTokens
from touchstone.reference_impl.cluster.scram_credentials import NUMBERS


class ScramAccounts:
    """Those of one mechanism; `key` is the secret of tokens, None where there are none."""

    def __init__(
        self, mechanism: str, users: ClientSettings, tokens: DelegationTokens, key: str | None
    ) -> None:
        self._mechanism, self._users, self._tokens, self._key = mechanism, users, tokens, key

    def user(self, name: str) -> Account | None:
        held = self._users.credential(name, NUMBERS[self._mechanism])
        return None if held is None else Account(name, held)

    def token(self, token_id: str) -> Account | None:
        token = self._tokens.get(token_id)
        if token is None or self._key is None:
            return None
        held = self._tokens.credential(token_id, self._key, self._mechanism)
        return None if held is None else Account(token.owner[1], held, token.expires)
