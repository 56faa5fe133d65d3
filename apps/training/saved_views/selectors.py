"""The views that an actor finds: their own, and those that are shared with the organisation."""

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

from django.db.models import Q, QuerySet
from django.urls import reverse

from apps.common.actor import Actor
from apps.common.errors import DomainError, NotFound
from apps.common.permissions import Permission
from apps.training.choices import KIND
from apps.training.models import SavedView, ViewSubject
from apps.training.selectors import runs
from apps.workloads.permissions import may_manage

PAGES = {ViewSubject.COMPARISON: "training:compare", ViewSubject.LIST: "training:list"}
RUN = "run"


@dataclass(frozen=True, slots=True)
class Opened:
    """`lost`: how many of its runs are gone, or out of the actor's sight."""

    address: str
    lost: int
    left: int


def views(actor: Actor) -> QuerySet[SavedView]:
    """By name."""
    actor.require(Permission.TRAINING_VIEW)
    rows = SavedView.objects.filter(Q(owner_id=actor.user_id) | Q(shared=True), organisation_id=actor.organisation())
    return rows.select_related("owner").order_by("name", "pk")


def views_of(actor: Actor, whose: str) -> QuerySet[SavedView]:
    """`mine`, `organisation`, or all for anything else."""
    rows = views(actor)
    if whose == "mine":
        return rows.filter(owner_id=actor.user_id)
    return rows.filter(shared=True) if whose == "organisation" else rows


def view(actor: Actor, view_id: UUID) -> SavedView:
    found = views(actor).filter(pk=view_id).first()
    if found is None:
        raise NotFound
    return found


def shown_view(actor: Actor, text: str) -> SavedView | None:
    """The view that an address names; None for none, or one that the actor does not find."""
    try:
        return view(actor, UUID(text))
    except (ValueError, NotFound):
        return None


def changeable(actor: Actor, view_id: UUID) -> SavedView:
    """Its owner may change it, and of a shared one who manages the organisation's runs; `NotFound` for others."""
    row = view(actor, view_id)
    may_manage(actor, KIND, row.owner_id)
    return row


def link(row: SavedView) -> str:
    return reverse("training:view", args=[row.pk])


def may_change(actor: Actor, row: SavedView) -> bool:
    try:
        may_manage(actor, KIND, row.owner_id)
    except DomainError:
        return False
    return True


def run_ids(query: str) -> list[UUID]:
    """Raises `NotFound` for what is no id."""
    try:
        return [UUID(value) for key, value in parse_qsl(query) if key == RUN]
    except ValueError as error:
        raise NotFound from error


def opened(actor: Actor, row: SavedView) -> Opened:
    """Its address, with those of its runs that the actor sees."""
    parts, lost, left = parse_qsl(row.query), 0, 0
    if row.subject == ViewSubject.COMPARISON:
        wanted = run_ids(row.query)
        seen = {str(pk) for pk in runs(actor).filter(pk__in=wanted).values_list("pk", flat=True)}
        parts = [(key, value) for key, value in parts if key != RUN or value in seen]
        lost, left = len(set(wanted)) - len(seen), len(seen)
    address = f"{reverse(PAGES[ViewSubject(row.subject)])}?{urlencode([*parts, ('view', row.pk)])}"
    return Opened(address, lost, left)
