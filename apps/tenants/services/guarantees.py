"""What organisations are guaranteed, and how their departments share what they get."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Invalid, NotFound
from apps.common.permissions import Permission
from apps.tenants import quotas
from apps.tenants.authority import organisation_for
from apps.tenants.models import Department, Guarantee, Organisation

MOST_MILLI = 10**8  # a hundred thousand cards
WEIGHTS = range(1, 101)


@dataclass(frozen=True, slots=True)
class Promise:
    """Cards of one model (`gpu_model` empty: of any) in the real world or in the simulated one."""

    gpu_model: str = ""
    simulated: bool = False


def set_guarantees(actor: Actor, *, organisation_id: UUID, milli: Mapping[Promise, int]) -> None:
    """Guarantee an organisation thousandths of cards; 0 withdraws a guarantee. Others are left unchanged.

    Nothing that runs is ended by it: what others hold beyond their own guarantee is asked to give way once the
    organisation waits for it. Raises `NotFound`, `Invalid`.
    """
    actor.require(Permission.PLATFORM_TENANTS_MANAGE)
    for promise, amount in milli.items():
        _check(promise, amount)
    with transaction.atomic():
        quotas.lock(organisation_id)
        organisation = Organisation.objects.filter(pk=organisation_id).first()
        if organisation is None:
            raise NotFound
        for promise, amount in milli.items():
            _set(actor, organisation, promise, amount)


def _check(promise: Promise, amount: int) -> None:
    if not 0 <= amount <= MOST_MILLI:
        raise Invalid.field("gpu_milli", _("Give a number of cards from 0 to 100000."))
    if len(promise.gpu_model) > 60:
        raise Invalid.field("gpu_model", _("The name of a model has at most 60 characters."))


def _set(actor: Actor, organisation: Organisation, promise: Promise, amount: int) -> None:
    key: dict[str, Any] = {"organisation": organisation, "gpu_model": promise.gpu_model, "simulated": promise.simulated}
    row = Guarantee.objects.filter(**key).first()
    before = row.gpu_milli if row else 0
    if before == amount:
        return
    if amount:
        Guarantee.objects.update_or_create(**key, defaults={"gpu_milli": amount, "updated_at": Now()})
    else:
        Guarantee.objects.filter(**key).delete()
    record(
        actor,
        action="organisation.guarantee",
        organisation_id=organisation.pk,
        target=Target("organisation", str(organisation.pk), organisation.name),
        before=_audit_values(promise, before),
        after=_audit_values(promise, amount),
    )


def _audit_values(promise: Promise, amount: int) -> dict[str, str | int | bool]:
    return {"model": promise.gpu_model, "simulated": promise.simulated, "gpu_milli": amount}


def set_department_weight(
    actor: Actor, *, department_id: UUID, weight: int, organisation_id: UUID | None = None
) -> None:
    """Set a department's share of what its organisation gets, relative to its siblings: 1 to 100."""
    organisation_id = organisation_for(actor, organisation_id)
    _check_weight(weight)
    with transaction.atomic():
        quotas.lock(organisation_id)
        found = Department.objects.filter(pk=department_id, organisation_id=organisation_id).first()
        if found is None:
            raise NotFound
        if found.weight != weight:
            record(
                actor,
                action="department.weight",
                organisation_id=organisation_id,
                target=Target("department", str(found.pk), found.name),
                before={"weight": found.weight},
                after={"weight": weight},
            )
            Department.objects.filter(pk=found.pk).update(weight=weight)


def _check_weight(weight: int) -> None:
    if weight not in WEIGHTS:
        raise Invalid.field("weight", _("A weight is a number from 1 to 100."))
