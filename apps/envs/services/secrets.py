"""Secrets that an environment is given: chosen once, asked for again at every start."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid
from apps.envs import program
from apps.secrets.choosing import ChosenSecret, chosen_of, references_of
from apps.secrets.references import SecretReference

Rows = Sequence[Mapping[str, str]]


def chosen(actor: Actor, choices: Iterable[ChosenSecret]) -> list[dict[str, Any]]:
    """Rows for `Environment.secrets`. Raises `Invalid` (field `secrets`) for what the actor cannot use."""
    return [asdict(each) for each in references_of(actor, choices, variables=program.OWN_VARIABLES)]


def references(rows: Rows) -> tuple[SecretReference, ...]:
    return tuple(SecretReference(**row) for row in rows)


def resolve(actor: Actor, rows: Rows) -> tuple[SecretReference, ...]:
    """As they may be used today. `Conflict` where one is gone or no longer open to the actor."""
    try:
        return references_of(actor, chosen_of(references(rows)))
    except Invalid as error:
        names = ", ".join(row["name"] for row in rows)
        raise Conflict(
            _("A secret that it is given is gone, or not yours to use any more: one of %(names)s.") % {"names": names},
            hint=_("Change the secrets in the environment's settings, then start again."),
        ) from error
