"""Exchanging an API token for one of the registry: who asks, what they may have of what they ask for."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.registry.distribution import bearer
from apps.registry.distribution.access import allowed_actions
from apps.registry.distribution.scopes import Scope
from apps.tenants import second_factor, sign_in_limits, tokens
from apps.tenants.models import ApiToken


class SignInRefused(Exception):
    """User name and API token do not belong together, or let nobody in."""


@dataclass(frozen=True, slots=True)
class Login:
    """What `docker login` sends."""

    username: str
    secret: str
    address: str | None


def signed_in(login: Login) -> Actor:
    """The person of the API token, in its organisation.

    Raises SignInRefused, `TooManyTries` after many failures, `DomainError` where the person lacks a second factor or
    the token is for the console. Only failures are counted: a secret of 256 bits is not found by trying.
    """
    try:
        token = tokens.token_by_secret(login.secret)
        if not _is_named(token, login.username):
            raise SignInRefused
    except (tokens.TokenRefused, SignInRefused) as error:
        _account, user_id = sign_in_limits.account_of(login.username)
        caller = sign_in_limits.Caller(sign_in_limits.network_of(login.address), "")
        sign_in_limits.begin(caller, (f"registry:{_account}", user_id))
        raise SignInRefused from error
    actor = tokens.organisation_actor_of(token, login.address)
    second_factor.admit(actor)
    tokens.note_use(token)
    return actor


def granted(actor: Actor, scopes: Sequence[Scope]) -> list[bearer.Grant]:
    """Of what is asked for, what the actor may. Whether there is room is asked when something is brought: only then do
    clients print why not.
    """
    with acting(actor):
        found = []
        for scope in scopes:
            actions = scope.actions & allowed_actions(actor, scope.name)
            if actions:
                found.append(bearer.Grant(scope.name.text, frozenset(action.value for action in actions)))
    return found


def _is_named(token: ApiToken, username: str) -> bool:
    names = {token.user.username.casefold(), token.user.email.casefold()} - {""}
    return username.casefold() in names
