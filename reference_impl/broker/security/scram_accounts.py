"""The accounts of SCRAM: users with credentials, and delegation tokens, which stand for users."""

from __future__ import annotations

from touchstone.reference_impl.broker.security.scram import Account
from touchstone.reference_impl.broker.security.token_secrets import credential_of
from touchstone.reference_impl.cluster.client_settings import ClientSettings
from touchstone.reference_impl.cluster.delegation_tokens import DelegationTokens
from touchstone.reference_impl.cluster.scram_credentials import NUMBERS, ScramCredential


class ScramAccounts:
    """Those of one mechanism; `key` is the secret of tokens, None where there are none."""

    def __init__(
        self, mechanism: str, users: ClientSettings, tokens: DelegationTokens, key: str | None
    ) -> None:
        self._mechanism, self._users, self._tokens, self._key = mechanism, users, tokens, key
        self._made: dict[str, ScramCredential] = {}  # of tokens: to make one takes a while

    def user(self, name: str) -> Account | None:
        held = self._users.credential(name, NUMBERS[self._mechanism])
        return None if held is None else Account(name, held)

    def token(self, token_id: str) -> Account | None:
        token = self._tokens.get(token_id)
        if token is None or self._key is None:
            self._made.pop(token_id, None)
            return None
        if token_id not in self._made:
            for gone in [each for each in self._made if self._tokens.get(each) is None]:
                del self._made[gone]
            self._made[token_id] = credential_of(token_id, self._key, self._mechanism)
        return Account(token.owner[1], self._made[token_id], token.expires)
