"""Requests to change terms of money, and who else may decide on them."""

from uuid import UUID

from django.db.models import QuerySet

from apps.billing.choices import RequestState
from apps.billing.models import ChangeRequest
from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission


def change_requests(actor: Actor) -> QuerySet[ChangeRequest]:
    """All of them, newest first."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    rows: QuerySet[ChangeRequest] = ChangeRequest.objects.select_related("organisation", "requested_by", "decided_by")
    return rows.order_by("-created_at", "-pk")


def waiting_changes(actor: Actor) -> QuerySet[ChangeRequest]:
    return change_requests(actor).filter(state=RequestState.PENDING)


def change_request(actor: Actor, request_id: UUID) -> ChangeRequest:
    """One of them; `NotFound` otherwise."""
    found = change_requests(actor).filter(pk=request_id).first()
    if found is None:
        raise NotFound
    return found
