"""Which secrets a person gives to their work: what they chose, as references and back."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Invalid
from apps.common.permissions import Permission as P
from apps.secrets import selectors
from apps.secrets.models import Secret
from apps.secrets.references import FOLDER, SecretReference
from apps.secrets.services import RESERVED

MOST = 20
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}\Z")
FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,99}\Z")


@dataclass(frozen=True, slots=True)
class ChosenSecret:
    """`variable` or `file`; without both it is the variable of the secret's own name."""

    secret_id: UUID
    variable: str = ""
    file: str = ""


def references_of(
    actor: Actor, chosen: Iterable[ChosenSecret], *, variables: Collection[str] = ()
) -> tuple[SecretReference, ...]:
    """Raises `Invalid` (field `secrets`) for what the actor cannot use, and for names that cannot be or are taken.

    `variables`: those that the work sets otherwise.
    """
    wanted = tuple(chosen)
    if not wanted:
        return ()
    if len(wanted) > MOST:
        raise _invalid(_("No more than 20 secrets at a time."))
    rows = selectors.usable(actor).in_bulk({each.secret_id for each in wanted})
    found = tuple(_reference(each, rows.get(each.secret_id)) for each in wanted)
    places = [each.place for each in found]
    if len(set(places)) < len(places) or {each.variable for each in found} & set(variables):
        raise _invalid(_("Two values have the same variable or file. Give one of them another name."))
    return found


def _reference(chosen: ChosenSecret, secret: Secret | None) -> SecretReference:
    if secret is None:
        raise _invalid(_("A secret that was chosen is gone, or is not yours to use. Choose another one."))
    if chosen.variable and chosen.file:
        raise _invalid(_("A secret is given as a variable or as a file. Choose one of them."))
    variable = "" if chosen.file else chosen.variable or secret.name
    if variable and (not VARIABLE.match(variable) or variable.startswith(RESERVED)):
        raise _invalid(
            _("A variable's name has letters, digits and _ only, does not start with a digit, nor with PLSTACK_.")
        )
    if chosen.file and not FILE.match(chosen.file):
        raise _invalid(_("A file's name has letters, digits, dots, - and _, and does not start with a dot or -."))
    return SecretReference(str(secret.pk), secret.name, variable, chosen.file)


def _invalid(message: Any) -> Invalid:
    return Invalid.field("secrets", message)


def chosen_of(references: Iterable[SecretReference]) -> tuple[ChosenSecret, ...]:
    return tuple(ChosenSecret(UUID(each.secret), each.variable, each.file) for each in references)


def carried(
    actor: Actor, references: Sequence[SecretReference]
) -> tuple[tuple[ChosenSecret, ...], tuple[SecretReference, ...]]:
    """Of earlier work's secrets those that the actor may give to theirs, and those that they have to choose anew."""
    mine = _usable_ids(actor, references)
    kept = tuple(each for each in references if UUID(each.secret) in mine)
    return chosen_of(kept), tuple(each for each in references if UUID(each.secret) not in mine)


def _usable_ids(actor: Actor, references: Sequence[SecretReference]) -> set[UUID]:
    if not references or not actor.may(P.SECRETS_USE):
        return set()
    rows = selectors.usable(actor).filter(pk__in=[each.secret for each in references])
    return set(rows.values_list("pk", flat=True))


def refuse_lost(actor: Actor, references: Sequence[SecretReference]) -> None:
    """Raises `Invalid` (field `secrets`) that names those which the actor may not give to work of theirs."""
    _kept, lost = carried(actor, references)
    if lost:
        names = ", ".join(each.name for each in lost)
        raise Invalid.field(
            "secrets",
            _("It used secrets that are gone or not yours to use: %(names)s.") % {"names": names},
            hint=_("Clone it, and choose secrets of your own for them."),
        )


def posted(data: Any) -> tuple[ChosenSecret, ...]:
    """Rows of `secrets_key` (an id) and `secrets_value` (a variable, or a path below /run/secrets)."""
    ids, places = (data.getlist(f"secrets_{part}") if hasattr(data, "getlist") else () for part in ("key", "value"))
    pairs = zip(ids, [*places, *[""] * len(ids)], strict=False)
    return tuple(_row(text_id.strip(), place.strip()) for text_id, place in pairs if text_id.strip())


def _row(text_id: str, place: str) -> ChosenSecret:
    """What is no id is one that nobody has."""
    try:
        secret_id = UUID(text_id)
    except ValueError:
        secret_id = UUID(int=0)
    if place.startswith("/"):
        inside = place.removeprefix(f"{FOLDER}/")
        return ChosenSecret(secret_id, file=inside if inside != place else "/")
    return ChosenSecret(secret_id, variable=place)


def rows(actor: Actor, chosen: Iterable[ChosenSecret]) -> Mapping[str, Any]:
    """What `secrets/choices.html` shows: the secrets that there are, and a row for each that is chosen."""
    found = list(selectors.usable(actor)) if actor.may(P.SECRETS_USE) else []
    picked = [(str(each.secret_id), f"{FOLDER}/{each.file}" if each.file else each.variable) for each in chosen]
    return {
        "own": [secret for secret in found if secret.owner_id is not None],
        "shared": [secret for secret in found if secret.owner_id is None],
        "rows": picked,
    }


def fold(actor: Actor, chosen: Sequence[ChosenSecret], anew: Sequence[SecretReference] = ()) -> Mapping[str, Any]:
    """What `secrets/choose.html` shows. Where nothing is chosen, it asks for the secrets when somebody opens it."""
    later = not chosen and not anew and actor.may(P.SECRETS_USE)
    return {"later": True} if later else rows(actor, chosen)
