"""Secrets: values that people set once and give to what they run. They are sealed, and no page or API shows them."""

import uuid

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.secrets.choices import Scope
from apps.tenants.models import Department, Organisation, User

NAME = r"^[A-Z_][A-Z0-9_]{0,99}$"


class Secret(TenantModel):
    """A name and a sealed value. With an `owner` it is theirs alone, without one the organisation's.

    `department`: only people of it, and of those below it, use the organisation's secret; everybody where it is empty.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    department = models.ForeignKey(Department, on_delete=models.PROTECT, null=True, related_name="+")
    name = models.CharField(max_length=100)
    description = models.CharField(max_length=200, blank=True)
    sealed = models.BinaryField()
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    rotated_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "owner", "name"], name="secret_name_once", nulls_distinct=False
            ),
            models.CheckConstraint(condition=models.Q(name__regex=NAME), name="secret_name_of_a_variable"),
            models.CheckConstraint(
                condition=models.Q(owner__isnull=True) | models.Q(department__isnull=True),
                name="secret_of_a_person_or_of_a_department",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def scope(self) -> Scope:
        return Scope.ORGANISATION if self.owner_id is None else Scope.PERSONAL
