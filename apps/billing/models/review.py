"""Who may buy what: restrictions of organisations, and requests for packages that need approval."""

import uuid

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import RequestState
from apps.billing.models.catalogue import Package
from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation, User


class PackageRestriction(TenantModel):
    """An organisation with a row may use the packages listed in it and no others; without one, all."""

    organisation = models.OneToOneField(Organisation, on_delete=models.PROTECT, primary_key=True, related_name="+")
    packages = models.ManyToManyField(Package, related_name="+")
    updated_at = models.DateTimeField(db_default=Now())


class PackageRequest(TenantModel):
    """A person's wish to use a package that needs approval. Approved, it lets them until `expires_at` (None: for good).

    Only `apps.billing.requests.services` changes the state.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    package = models.ForeignKey(Package, on_delete=models.PROTECT, related_name="requests")
    reason = models.CharField(_("reason"), max_length=500)
    state = models.CharField(max_length=12, choices=RequestState, default=RequestState.PENDING)
    decided_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)
    answer = models.CharField(_("answer"), max_length=500, blank=True)
    expires_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "user", "package"],
                condition=Q(state=RequestState.PENDING),
                name="package_request_one_pending",
            ),
            models.CheckConstraint(
                condition=Q(state=RequestState.PENDING, decided_at__isnull=True)
                | (~Q(state=RequestState.PENDING) & Q(decided_at__isnull=False)),
                name="package_request_decided_has_time",
            ),
        ]
        indexes = [
            models.Index(fields=["organisation", "state", "-created_at"], name="package_request_state"),
            models.Index(fields=["organisation", "user", "package"], name="package_request_person"),
        ]
