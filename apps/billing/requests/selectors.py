"""Which packages a person may start on, and the requests for those that need approval."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from apps.billing.choices import RequestState
from apps.billing.models import Package, PackageRequest, PackageRestriction
from apps.common.actor import Actor
from apps.common.permissions import Permission


def offered_packages(actor: Actor, rows: "QuerySet[Package] | None" = None) -> "QuerySet[Package]":
    """The packages on offer that the actor's organisation may use at all."""
    found = (Package.objects.all() if rows is None else rows).filter(active=True)
    if actor.organisation_id is None:
        return found
    restricted = PackageRestriction.objects.with_scopes_disabled().filter(pk=actor.organisation_id)
    return found.filter(~Exists(restricted) | Exists(restricted.filter(packages=OuterRef("pk"))))


def usable_packages(actor: Actor, rows: "QuerySet[Package] | None" = None) -> "QuerySet[Package]":
    """Offered packages that the actor may start on now: without need of approval, or approved for the person."""
    found = offered_packages(actor, rows)
    if actor.organisation_id is None:
        return found
    return found.filter(Q(needs_review=False) | Q(pk__in=_approved(actor).values("package_id")))


def _approved(actor: Actor) -> "QuerySet[PackageRequest]":
    rows: QuerySet[PackageRequest] = PackageRequest.objects.with_scopes_disabled().filter(
        Q(expires_at__isnull=True) | Q(expires_at__gt=Now()),
        organisation_id=actor.organisation_id,
        user_id=actor.user_id,
        state=RequestState.APPROVED,
    )
    return rows.order_by()


@dataclass(frozen=True, slots=True)
class Requestable:
    """A package that the person has to ask for. `state` empty: not asked yet; the last answer otherwise."""

    package: Package
    state: str = ""
    asked_at: datetime | None = None
    answer: str = ""

    @property
    def may_ask(self) -> bool:
        return self.state != RequestState.PENDING


def requestable_packages(actor: Actor) -> list[Requestable]:
    """Offered packages that need approval and are not approved for the person, with the state of their request."""
    if actor.organisation_id is None or actor.user_id is None:
        return []
    packages = list(
        offered_packages(actor).filter(needs_review=True).exclude(pk__in=_approved(actor).values("package_id"))
    )
    rows = PackageRequest.objects.with_scopes_disabled().filter(
        organisation_id=actor.organisation_id, user_id=actor.user_id, package__in=packages
    )
    last = {row.package_id: row for row in rows.order_by("created_at")}
    return [
        Requestable(package, row.state, row.created_at, row.answer) if row else Requestable(package)
        for package in packages
        for row in [last.get(package.pk)]
    ]


def requests(actor: Actor, *, mine: bool = False) -> "QuerySet[PackageRequest]":
    """Newest first: one's own, the organisation's for its reviewers, all for the platform's reviewers."""
    rows: QuerySet[PackageRequest] = PackageRequest.objects.select_related(
        "user", "package", "decided_by", "organisation"
    )
    if actor.platform:
        actor.require(Permission.PLATFORM_PACKAGES_REVIEW)
        return rows
    rows = rows.filter(organisation_id=actor.organisation())
    if mine or not actor.may(Permission.PACKAGES_REVIEW):
        rows = rows.filter(user_id=actor.person())
    return rows


def restriction(organisation_id: UUID) -> list[int] | None:
    """Ids of the packages that the organisation is limited to; None where it may use all."""
    row = PackageRestriction.objects.filter(pk=organisation_id).first()
    return None if row is None else list(row.packages.order_by("pk").values_list("pk", flat=True))
