"""Tokens for the registry: JSON Web Tokens as distribution's "Token Authentication Implementation" has them."""

import base64
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jwt
from django.conf import settings

from apps.registry.distribution.access import Action
from apps.registry.distribution.keys import Signer, signer

ISSUER = "plstack"
SERVICE = "plstack-registry"
ALGORITHM = "ES256"
LIFETIME_S = 300
SKEW_S = 60
PLATFORM = "plstack:platform"
"""Who the platform itself is to the registry; no user name has a colon."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What somebody may do with a repository (`kind` "repository"), or with the registry itself."""

    name: str
    actions: frozenset[str]
    kind: str = "repository"


class BadToken(Exception):
    """It is none of ours, or has expired."""


def issue(subject: str, grants: Iterable[Grant], lifetime_s: int = LIFETIME_S) -> str:
    """A token for `subject`, a user name or `PLATFORM`, that ends after `lifetime_s` seconds."""
    now = int(time.time())
    access = [{"type": each.kind, "name": each.name, "actions": sorted(each.actions)} for each in grants]
    claims = {
        "iss": ISSUER,
        "aud": SERVICE,
        "sub": subject,
        "iat": now,
        "nbf": now - SKEW_S,
        "exp": now + lifetime_s,
        "jti": secrets.token_urlsafe(16),
        "access": access,
    }
    ours = _signer()
    headers = {"x5c": [base64.b64encode(ours.der()).decode()]}
    return jwt.encode(claims, ours.key, algorithm=ALGORITHM, headers=headers)


def for_platform(*grants: Grant) -> str:
    """What the platform itself reads and deletes with."""
    return issue(PLATFORM, grants)


def read(token: str) -> Mapping[str, Any]:
    """The claims of a token that is ours and still valid. Raises BadToken."""
    try:
        claims: Mapping[str, Any] = jwt.decode(
            token, _signer().key.public_key(), algorithms=[ALGORITHM], audience=SERVICE, issuer=ISSUER
        )
    except jwt.PyJWTError as error:
        raise BadToken from error
    return claims


def allows(claims: Mapping[str, Any], name: str, action: Action) -> bool:
    return any(
        each["type"] == "repository" and each["name"] == name and action.value in each["actions"]
        for each in claims["access"]
    )


def _signer() -> Signer:
    return signer(Path(settings.PLSTACK_HOME) / "secrets")
