"""Setting, replacing, describing and deleting secrets. Each leaves an audit row, without the value."""

import re
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.permissions import Permission as P
from apps.common.text import check_visible
from apps.secrets import selectors
from apps.secrets.choices import Scope
from apps.secrets.models import NAME, Secret
from apps.secrets.values import sealed
from apps.tenants.models import Department, Organisation

MOST = 100  # of one person, and of one organisation
RESERVED = "PLSTACK_"


@dataclass(frozen=True, slots=True)
class NewSecret:
    """What a person fills in. `department_id`: of an organisation's secret, who uses it; None for everybody."""

    scope: Scope
    name: str
    value: str = field(repr=False)
    description: str = ""
    department_id: UUID | None = None


def create(actor: Actor, new: NewSecret) -> Secret:
    """Set a secret once. Raises `Invalid` beside the fields, `Conflict` at the limit, `Denied`."""
    actor.require(P.SECRETS_MANAGE if new.scope is Scope.ORGANISATION else P.SECRETS_USE)
    owner_id = None if new.scope is Scope.ORGANISATION else actor.person()
    department = _department(actor, new.department_id, new.scope)
    pk = uuid4()
    made = Secret(
        pk=pk,
        organisation_id=actor.organisation(),
        owner_id=owner_id,
        department=department,
        name=clean_name(new.name),
        description=_described(new.description),
        sealed=sealed(new.value, pk),
        created_by_id=actor.person(),
    )
    with transaction.atomic():
        _refuse_more(actor, owner_id)
        _insert(made)
        _log(actor, "secret.created", made, after=_shown(made))
    made.refresh_from_db()
    return made


def rotate(actor: Actor, secret_id: UUID, value: str) -> Secret:
    """Another value from now on. What runs keeps the former until it starts again."""
    with transaction.atomic():
        secret = _locked(actor, secret_id)
        secret.sealed, secret.rotated_at = sealed(value, secret.pk), db_now()
        secret.save(update_fields=["sealed", "rotated_at"])
        _log(actor, "secret.rotated", secret)
    return secret


def describe(actor: Actor, secret_id: UUID, *, description: str, department_id: UUID | None) -> Secret:
    """What it is for, and who uses it."""
    with transaction.atomic():
        secret = _locked(actor, secret_id)
        before = _shown(secret)
        secret.description = _described(description)
        secret.department = _department(actor, department_id, secret.scope)
        secret.save(update_fields=["description", "department"])
        _log(actor, "secret.changed", secret, before=before, after=_shown(secret))
    return secret


def delete(actor: Actor, secret_id: UUID, *, although_used: bool = False) -> None:
    """For good, with its value. Raises `Conflict` that names what still uses it, unless `although_used`."""
    with transaction.atomic():
        secret = _locked(actor, secret_id)
        used = selectors.uses(secret)
        if used and not although_used:
            raise in_use([use.name for use in used])
        _log(actor, "secret.deleted", secret, before=_shown(secret))
        secret.delete()


def in_use(names: list[str]) -> Conflict:
    told = ngettext(
        "%(count)s thing still uses it: %(names)s.", "%(count)s things still use it: %(names)s.", len(names)
    )
    shown = ", ".join(names[:5]) + (" …" if len(names) > 5 else "")
    return Conflict(
        told % {"count": len(names), "names": shown},
        hint=_("What runs keeps its value until it ends; what starts later is refused. Confirm to delete it anyway."),
    )


def clean_name(name: str) -> str:
    """Raises `Invalid` (field `name`)."""
    cleaned = name.strip()
    if not re.fullmatch(NAME, cleaned):
        raise Invalid.field(
            "name", _("A name has capital letters, digits and _, does not start with a digit, and 100 of them at most.")
        )
    if cleaned.startswith(RESERVED):
        raise Invalid.field("name", _("Names that start with PLSTACK_ are the platform's own."))
    return cleaned


def _described(text: str) -> str:
    text = " ".join(text.split())
    if len(text) > 200:
        raise Invalid.field("description", _("A description has 200 characters at most."))
    return check_visible(text, "description")


def _department(actor: Actor, department_id: UUID | None, scope: Scope) -> Department | None:
    if department_id is None:
        return None
    if scope is Scope.PERSONAL:
        raise Invalid.field("department", _("A secret of your own is yours alone."))
    rows = Department.objects.filter(organisation_id=actor.organisation(), pk=department_id)
    found: Department | None = rows.first()
    if found is None:
        raise Invalid.field("department", _("Choose one of the departments."))
    return found


def _refuse_more(actor: Actor, owner_id: int | None) -> None:
    """Counted under the organisation's row, so that two at once do not both take the last place."""
    organisation_id = actor.organisation()
    Organisation.objects.select_for_update(no_key=True).get(pk=organisation_id)
    if Secret.objects.filter(organisation_id=organisation_id, owner_id=owner_id).count() >= MOST:
        raise Conflict(_("There are 100 secrets already."), hint=_("Delete one that is not needed."))


def _insert(made: Secret) -> None:
    try:
        with transaction.atomic():
            made.save(force_insert=True)
    except IntegrityError as error:
        raise Invalid.field("name", _("There is a secret of this name. Replace its value instead.")) from error


def _locked(actor: Actor, secret_id: UUID) -> Secret:
    """A row to change. Raises `NotFound` for what the actor does not see, `Denied` for what they only use."""
    seen = selectors.get(actor, secret_id)
    if not selectors.may_change(actor, seen):
        raise Denied(P.SECRETS_MANAGE)
    rows = Secret.objects.select_for_update(of=("self",)).select_related("department")
    secret: Secret | None = rows.filter(pk=secret_id).first()
    if secret is None:
        raise NotFound
    return secret


def _shown(secret: Secret) -> dict[str, Any]:
    return {
        "scope": secret.scope.value,
        "description": secret.description,
        "department": secret.department.name if secret.department else None,
    }


def _log(actor: Actor, action: str, secret: Secret, **values: Any) -> None:
    record(actor, action=action, target=Target("secret", str(secret.pk), secret.name), **values)
