"""Organisations and their departments."""

import uuid

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.common.scoping import TenantModel, organisation_manager
from apps.tenants.choices import OrganisationStatus


class Organisation(models.Model):
    """A tenant: owns wallets, quotas, people and everything they make."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(_("name"), max_length=80)
    slug = models.SlugField(_("short name"), max_length=40, unique=True)
    status = models.CharField(max_length=16, choices=OrganisationStatus, default=OrganisationStatus.ACTIVE)
    # Its share of what is over every guarantee, relative to other organisations'.
    weight = models.PositiveSmallIntegerField(_("weight"), default=1)
    created_at = models.DateTimeField(db_default=Now())

    objects = organisation_manager("id")

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(models.functions.Lower("name"), name="organisation_name_once"),
            models.CheckConstraint(condition=models.Q(weight__range=(1, 100)), name="organisation_weight_1_to_100"),
        ]

    def __str__(self) -> str:
        return self.name


class Department(TenantModel):
    """A part of an organisation, to any depth."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="departments")
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="children")
    name = models.CharField(_("name"), max_length=80)
    # Its share of the organisation's part of the queue, relative to the departments beside it.
    weight = models.PositiveSmallIntegerField(_("weight"), default=1)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "parent", "name"], name="department_name_once", nulls_distinct=False
            ),
            models.CheckConstraint(condition=~models.Q(parent=models.F("id")), name="department_not_own_parent"),
            models.CheckConstraint(condition=models.Q(weight__range=(1, 100)), name="department_weight_1_to_100"),
        ]

    def __str__(self) -> str:
        return self.name
