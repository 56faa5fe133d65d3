"""Which packages an organisation may use, and requests for those that need approval."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.billing.choices import RequestState
from apps.billing.models import Package, PackageRequest, PackageRestriction
from apps.billing.requests import selectors as reads
from apps.billing.requests.settings import Approvers, ReviewSettings
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.permissions import Permission
from apps.notifications.services import notify_organisation, notify_platform, notify_user
from apps.tenants import settings
from apps.tenants.models import Organisation, User

REASON_MAX = 500


def restrict_packages(actor: Actor, *, organisation_id: UUID, package_ids: Iterable[int] | None) -> None:
    """Let an organisation use these packages and no others; None lets it use all. What runs goes on."""
    actor.require(Permission.PLATFORM_TENANTS_MANAGE)
    with transaction.atomic():
        organisation = Organisation.objects.select_for_update(no_key=True).filter(pk=organisation_id).first()
        if organisation is None:
            raise NotFound
        before = _listed(organisation_id)
        if package_ids is None:
            PackageRestriction.objects.filter(pk=organisation_id).delete()
        else:
            wanted = set(package_ids)
            packages = list(Package.objects.filter(pk__in=wanted))
            if len(packages) != len(wanted):
                raise Invalid.field("packages", _("There is no such package."))
            row, _made = PackageRestriction.objects.get_or_create(organisation_id=organisation_id)
            row.packages.set(packages)
        after = _listed(organisation_id)
        if after != before:
            target = Target("organisation", str(organisation_id), organisation.name)
            record(
                actor,
                action="organisation.packages",
                organisation_id=organisation_id,
                target=target,
                before={"packages": before},
                after={"packages": after},
            )


def _listed(organisation_id: UUID) -> str:
    row = PackageRestriction.objects.filter(pk=organisation_id).first()
    return "*" if row is None else ", ".join(row.packages.order_by("name_en").values_list("name_en", flat=True))


def set_needs_review(actor: Actor, *, package_id: int, needs_review: bool) -> None:
    """Require approval before anybody starts on the package, or stop requiring it. What runs goes on."""
    actor.require(Permission.PLATFORM_PRICES_MANAGE)
    with transaction.atomic():
        package = Package.objects.select_for_update(no_key=True).filter(pk=package_id).first()
        if package is None:
            raise NotFound
        if package.needs_review != needs_review:
            package.needs_review = needs_review
            package.save(update_fields=["needs_review"])
            record(
                actor,
                action="billing.package.update",
                target=Target("package", str(package.pk), package.name_en),
                before={"needs_review": not needs_review},
                after={"needs_review": needs_review},
            )


def request_package(actor: Actor, *, package_id: int, reason: str) -> PackageRequest:
    """Ask for a package that needs approval, and notify who decides. One open request per person and package.

    Raises `NotFound` if it is not on offer here, `Conflict` if it may be used already, was requested, or needs no
    approval, `Invalid` without a reason.
    """
    actor.require(Permission.BILLING_VIEW_OWN)
    organisation_id, person = actor.organisation(), actor.person()
    package = reads.offered_packages(actor).filter(pk=package_id).first()
    if package is None:
        raise NotFound
    if reads.usable_packages(actor).filter(pk=package_id).exists():
        raise Conflict(_("You may use this package already."))
    cleaned = reason.strip()
    if not 1 <= len(cleaned) <= REASON_MAX:
        raise Invalid.field("reason", _("Say in up to 500 characters what you need it for."))
    try:
        with transaction.atomic():
            made: PackageRequest = PackageRequest.objects.create(
                organisation_id=organisation_id, user_id=person, package=package, reason=cleaned
            )
            _log(actor, made, "requested", {"reason": cleaned})
            _tell_approvers(actor, made)
    except IntegrityError as error:
        raise Conflict(_("You have asked for this package; nobody has decided yet.")) from error
    return made


def withdraw_request(actor: Actor, *, request_id: UUID) -> None:
    """Take one's own open request back."""
    with transaction.atomic():
        found = _locked(request_id, user_id=actor.person())
        _decide(actor, found, RequestState.WITHDRAWN, "")


def withdraw_all(actor: Actor, user: User) -> None:
    """Of an account that is being deleted: nobody has to decide about them any more."""
    for found in PackageRequest.objects.filter(user=user, state=RequestState.PENDING).order_by("pk"):
        _decide(actor, _locked(found.pk), RequestState.WITHDRAWN, "")


def approve(actor: Actor, *, request_id: UUID, answer: str = "", days: int | None = None) -> PackageRequest:
    """Let the person use the package, for `days` or as the settings say. Tells them."""
    return _decided(actor, request_id, RequestState.APPROVED, answer, days or settings.get(ReviewSettings).days)


def deny(actor: Actor, *, request_id: UUID, answer: str) -> PackageRequest:
    """Refuse with a reason, which the person is told."""
    if not answer.strip():
        raise Invalid.field("answer", _("Say why, so that the person knows what to do."))
    return _decided(actor, request_id, RequestState.DENIED, answer, None)


def revoke_approval(actor: Actor, *, request_id: UUID, answer: str = "") -> PackageRequest:
    """Take an approval back: nothing new starts on it, what runs goes on."""
    with transaction.atomic():
        found = _locked(request_id)
        require_approver(actor, found.organisation_id)
        _decide(actor, found, RequestState.REVOKED, answer, source=RequestState.APPROVED)
    return found


def require_approver(actor: Actor, organisation_id: UUID) -> None:
    """Require a reviewer: the platform's always, an organisation's if the settings leave it to them."""
    if actor.platform:
        actor.require(Permission.PLATFORM_PACKAGES_REVIEW)
        return
    actor.require(Permission.PACKAGES_REVIEW)
    if organisation_id != actor.organisation_id:
        raise NotFound
    if settings.get(ReviewSettings).approvers is not Approvers.ORGANISATION:
        raise Denied(Permission.PLATFORM_PACKAGES_REVIEW)


def _decided(actor: Actor, request_id: UUID, state: RequestState, answer: str, days: int | None) -> PackageRequest:
    with transaction.atomic():
        found = _locked(request_id)
        require_approver(actor, found.organisation_id)
        if state is RequestState.APPROVED and days:
            found.expires_at = db_now() + timedelta(days=days)
        _decide(actor, found, state, answer)
        kind = "package.approved" if state is RequestState.APPROVED else "package.denied"
        data = {"package": found.package.name_en, "by": actor.label, "reason": found.answer}
        notify_user(
            organisation_id=found.organisation_id,
            user_id=found.user_id,
            kind=kind,
            data=data,
            dedup=f"package_request:{found.pk}:{state}",
        )
    return found


def _decide(
    actor: Actor,
    found: PackageRequest,
    state: RequestState,
    answer: str,
    *,
    source: RequestState = RequestState.PENDING,
) -> None:
    if found.state != source:
        raise Conflict(_("This request has been decided already."))
    if len(answer.strip()) > REASON_MAX:
        raise Invalid.field("answer", _("An answer has at most 500 characters."))
    found.state, found.answer = state, answer.strip()
    found.decided_at, found.decided_by_id = db_now(), actor.user_id
    found.save(update_fields=["state", "answer", "decided_at", "decided_by", "expires_at"])
    _log(actor, found, state.value, {"reason": found.answer})


def _locked(request_id: UUID, **which: Any) -> PackageRequest:
    rows = PackageRequest.objects.select_for_update(of=("self",)).select_related("package", "user")
    found: PackageRequest | None = rows.filter(pk=request_id, **which).first()
    if found is None:
        raise NotFound
    return found


def _tell_approvers(actor: Actor, made: PackageRequest) -> None:
    data = {"person": actor.label, "package": made.package.name_en, "reason": made.reason}
    dedup = f"package_request:{made.pk}"
    if settings.get(ReviewSettings).approvers is Approvers.ORGANISATION:
        notify_organisation(
            organisation_id=made.organisation_id,
            kind="package.requested",
            data={**data, "page": "organisation:requests"},
            dedup=dedup,
            permission=Permission.PACKAGES_REVIEW,
        )
        return
    notify_platform(
        permission=Permission.PLATFORM_PACKAGES_REVIEW,
        kind="package.requested",
        data={**data, "page": "console:requests"},
        dedup=dedup,
    )


def _log(actor: Actor, request: PackageRequest, verb: str, after: dict[str, str]) -> None:
    record(
        actor,
        action=f"package_request.{verb}",
        organisation_id=request.organisation_id,
        target=Target("package", str(request.package_id), request.package.name_en),
        after=after,
    )
