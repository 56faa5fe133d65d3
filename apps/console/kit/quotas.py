"""Limits of resources: how an organisation's people and the platform's staff read and set them."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any
from uuid import UUID

from django import forms
from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from apps.billing.models import Package
from apps.common.actor import Actor
from apps.common.errors import Invalid, NotFound
from apps.tenants import quotas
from apps.tenants.choices import Resource
from apps.tenants.models import Department, Membership, Quota
from apps.tenants.quotas import Line, line_words
from apps.tenants.selectors import LevelLine
from apps.workloads import kinds

LINES = [(resource.value, resource.label) for resource in Resource.every()]

# Rows count in the first number's unit; people read and write the second.
UNITS: dict[Resource, tuple[int, str | Promise]] = {
    Resource.CPU_MILLI: (1000, _("cores")),
    Resource.MEMORY_MIB: (1024, "GiB"),
    Resource.GPU_MILLI: (1000, _("cards")),
    Resource.STORAGE_MIB: (1024, "GiB"),
    Resource.VOLUMES: (1, pgettext_lazy("unit", "volumes")),
}


def unit(resource: Resource) -> tuple[int, str | Promise]:
    """The divisor of a row's amount and the unit's name; kinds of work define their own units."""
    named = next((rules.quota_unit for rules in kinds.every() if rules.quota_line == resource), "")
    return UNITS.get(resource, (1, named))


@dataclass(frozen=True, slots=True)
class LimitField:
    """One line of the form as the page shows it."""

    line: LevelLine
    field: forms.BoundField
    unit: str | Promise
    used: str


class LimitsForm(forms.Form):
    """Empty means unlimited."""

    def __init__(self, data: Any = None, *, lines: Sequence[LevelLine]) -> None:
        self.lines = list(lines)
        super().__init__(data, initial={field_name(line): shown_amount(line.resource, line.limit) for line in lines})
        for line in lines:
            self.fields[field_name(line)] = forms.DecimalField(
                label=str(line_words(line.resource, line.model)),
                required=False,
                min_value=0,
                max_digits=10,
                decimal_places=0 if unit(line.resource)[0] == 1 else 3,
                widget=forms.TextInput(
                    attrs={"inputmode": "decimal", "autocomplete": "off", "placeholder": _("unlimited")}
                ),
            )

    def rows(self) -> list[LimitField]:
        return [
            LimitField(line, self[field_name(line)], unit(line.resource)[1], shown_used(line.resource, line.used))
            for line in self.lines
        ]

    def limits(self) -> dict[Line, int | None]:
        """In the units of the quota's rows."""
        return {
            (line.resource, line.model): _stored(line.resource, self.cleaned_data[field_name(line)])
            for line in self.lines
        }


def field_name(line: LevelLine) -> str:
    """A name that HTML can hold, whatever a model is called; the same tomorrow, whatever other models there are."""
    if not line.model:
        return line.resource.value
    return f"{line.resource.value}-{hashlib.sha256(line.model.encode()).hexdigest()[:10]}"


def shown_amount(resource: Resource, amount: int | None) -> str:
    """In the unit that people use, without the unit; empty for None."""
    return "" if amount is None else f"{(Decimal(amount) / unit(resource)[0]).normalize():f}"


def shown_used(resource: Resource, amount: int) -> str:
    """As `shown_amount`, with at most three decimals, rounded up: what is in use is never shown as less."""
    exact = Decimal(amount) / unit(resource)[0]
    return f"{exact.quantize(Decimal('0.001'), rounding=ROUND_CEILING).normalize():f}"


def _stored(resource: Resource, value: Decimal | None) -> int | None:
    return None if value is None else int(value * unit(resource)[0])


def gpu_models() -> list[str]:
    """Accelerator models that packages on offer need, for limits by model."""
    rows = Package.objects.filter(active=True, gpu_count__gt=0).exclude(gpu_model="").order_by()
    return list(rows.values_list("gpu_model", flat=True).distinct())


def set_limits(
    actor: Actor,
    *,
    organisation_id: UUID,
    limits: Mapping[Line, int | None],
    department_id: UUID | None = None,
    user_id: int | None = None,
) -> int:
    """Set the limits of one level; writes and logs only those that differ, and returns how many."""
    level: dict[str, Any] = {"department_id": department_id, "user_id": user_id}
    with transaction.atomic():
        rows = Quota.objects.filter(organisation_id=organisation_id, **level)
        before = {(resource, model): limit for resource, model, limit in rows.values_list("resource", "model", "limit")}
        changed = {line: limit for line, limit in limits.items() if before.get(line) != limit}
        for (resource, model), limit in changed.items():
            quotas.set_limit(
                actor,
                organisation_id=organisation_id,
                resource=resource,
                model=model,
                limit=limit,
                **level,
            )
    return len(changed)


class QuotaOut(serializers.Serializer[Any]):
    """In milli-cores, MiB, thousandths of a card, pieces; `limit` null means unlimited.

    `model`: of this accelerator model only; empty for all together.
    """

    resource = serializers.ChoiceField(choices=LINES, read_only=True)
    model = serializers.CharField(read_only=True)
    used = serializers.IntegerField(read_only=True)
    limit = serializers.IntegerField(allow_null=True, read_only=True)


class QuotaIn(serializers.Serializer[Any]):
    resource = serializers.ChoiceField(choices=LINES)
    model = serializers.CharField(max_length=60, required=False, allow_blank=True, default="")
    limit = serializers.IntegerField(min_value=0, max_value=10**12, allow_null=True)


LEVEL = [
    OpenApiParameter("department", UUID, description="The department's books, with everything below it."),
    OpenApiParameter("user", int, description="The person's books. Neither: the whole organisation's."),
]


def asked_level(asked: Mapping[str, Any], organisation_id: UUID) -> dict[str, Any]:
    """The level that `LEVEL` names, as keyword arguments. Raises `Invalid`, and `NotFound` outside the organisation."""
    try:
        if asked.get("department"):
            level: dict[str, Any] = {"department_id": UUID(asked["department"])}
            departments = Department.objects.filter(organisation_id=organisation_id)
            known = departments.filter(pk=level["department_id"]).exists()
        elif asked.get("user"):
            level = {"user_id": int(asked["user"])}
            members = Membership.objects.filter(organisation_id=organisation_id)
            known = members.filter(user_id=level["user_id"]).exists()
        else:
            return {}
    except (ValueError, OverflowError) as error:
        raise Invalid("Name a department or a person by id.") from error
    if not known:
        raise NotFound
    return level
