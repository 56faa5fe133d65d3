"""Changes of prices, discounts, credit limits and of what one person may do alone that a second person decides on."""

import uuid

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.billing.change_choices import ChangeKind
from apps.billing.choices import RequestState
from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation, User

OF_ORGANISATIONS = [ChangeKind.CREDIT_LIMIT, ChangeKind.DISCOUNT]


class ChangeRequest(TenantModel):
    """`terms`: what is wanted, as its proposal writes it; `before`: what held when it was asked for.

    `subject` names what is changed (a package, a unit, an organisation …): one change of it waits at a time. `why` is
    the rule that asks for a second person. Only `changes.services` changes the state.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=16, choices=ChangeKind)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, null=True, related_name="+")
    subject = models.CharField(max_length=200)
    terms = models.JSONField()
    before = models.JSONField()
    why = models.CharField(max_length=16)
    state = models.CharField(max_length=12, choices=RequestState, default=RequestState.PENDING)
    requested_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    decided_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)
    answer = models.CharField(_("answer"), max_length=500, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["state", "-created_at"], name="change_request_state"),
            models.Index(fields=["kind", "subject", "-decided_at"], name="change_request_subject"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "subject"], condition=Q(state=RequestState.PENDING), name="change_request_one_pending"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=OF_ORGANISATIONS, organisation__isnull=False)
                | (~Q(kind__in=OF_ORGANISATIONS) & Q(organisation__isnull=True)),
                name="change_request_organisation",
            ),
            models.CheckConstraint(
                condition=Q(state=RequestState.PENDING, decided_at__isnull=True)
                | (~Q(state=RequestState.PENDING) & Q(decided_at__isnull=False)),
                name="change_request_decided_has_time",
            ),
            # Two people: whoever asked is not who approves.
            models.CheckConstraint(
                condition=~Q(state=RequestState.APPROVED)
                | (Q(decided_by__isnull=False) & ~Q(decided_by=F("requested_by"))),
                name="change_request_two_people",
            ),
        ]
