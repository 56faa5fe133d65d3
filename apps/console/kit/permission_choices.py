"""Permissions to tick, for whoever defines a role."""

from collections.abc import Iterable
from typing import Any

from apps.common.actor import Actor
from apps.common.permissions import Permission as P
from apps.tenants.permission_words import grouped, words_for
from apps.tenants.roles import organisation_permissions


def choices(
    actor: Actor,
    chosen: Iterable[str],
    *,
    had: Iterable[str] = (),
    among: frozenset[P] | None = None,
) -> list[dict[str, Any]]:
    """Every permission of `among` (None: of an organisation) under its heading.

    Those that the actor does not hold cannot be ticked.
    """
    ticked, kept = set(chosen), set(had)
    return [
        {
            "label": group.label,
            "items": [
                {
                    "name": permission.value,
                    "words": words_for(permission),
                    "chosen": permission.value in ticked,
                    "locked": not actor.may(permission) and permission.value not in kept,
                }
                for permission in group.permissions
            ],
        }
        for group in grouped(organisation_permissions() if among is None else among)
    ]
