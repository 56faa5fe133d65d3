"""Exchanging an API token for one of the registry: who asks, what they may have of what they ask for."""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.scoping import acting
from apps.registry.distribution import bearer
from apps.registry.distribution.access import Action, allowed_actions
from apps.registry.distribution.capacity import Capacity, capacity_of
from apps.registry.distribution.scopes import Scope
from apps.tenants import second_factor, sign_in_limits, tokens
from apps.tenants.models import ApiToken


class OverCapacity(DomainError):
    """The organisation keeps as much in the registry as it may."""

    code = "registry_full"
    status = HTTPStatus.FORBIDDEN

    def __init__(self, capacity: Capacity) -> None:
        told = _("Your organisation has used %(used)s of %(limit)s in the image registry: nothing more can be pushed.")
        sizes = {"used": filesizeformat(capacity.used), "limit": filesizeformat(capacity.limit)}
        super().__init__(told % sizes, hint=_("Delete images that nobody needs, or ask for more room."))


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
    """Of what is asked for, what the actor may. Raises `OverCapacity` where only that forbids a push."""
    with acting(actor):
        found = []
        for scope in scopes:
            actions = scope.actions & allowed_actions(actor, scope.name)
            if Action.PUSH in actions and not (capacity := capacity_of(actor.organisation())).left:
                raise OverCapacity(capacity)
            if actions:
                found.append(bearer.Grant(scope.name.text, frozenset(action.value for action in actions)))
    return found


def _is_named(token: ApiToken, username: str) -> bool:
    names = {token.user.username.casefold(), token.user.email.casefold()} - {""}
    return username.casefold() in names
