"""Change terms of money: at once where one person may, otherwise by a request that a second person decides on.

The change happens with the approval, in one transaction. The requester never approves; a constraint on the row
enforces it too.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing.change_choices import ChangeKind
from apps.billing.changes.price_proposals import ListedPrice, PackagePrice, PeriodPrice, StoragePrice
from apps.billing.changes.proposals import CreditLimit, NewDiscount, NewLimits, Proposal
from apps.billing.changes.references import RESOURCES, comparable_rate, package_reference, too_low
from apps.billing.choices import RequestState
from apps.billing.models import ChangeRequest, Package, PriceVersion
from apps.billing.payments.alone import Why
from apps.billing.payments.deciders import check_answer, check_approval, check_denial, check_withdrawal
from apps.billing.prices.packages.selectors import current_price
from apps.billing.prices.packages.services import PackageSpec, create_package, update_package
from apps.billing.prices.units.services import end_unit_price, follow_price_list
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, NotFound
from apps.common.money import yuan_rate
from apps.common.permissions import Permission
from apps.notifications.services import notify_platform, notify_staff

PROPOSALS: Mapping[ChangeKind, Any] = {
    each.KIND: each
    for each in (CreditLimit, NewDiscount, NewLimits, PackagePrice, ListedPrice, StoragePrice, PeriodPrice)
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """`result`: what the change returned; None where `request` waits for a second person instead."""

    result: Any = None
    request: ChangeRequest | None = None


def submit(actor: Actor, proposal: Proposal) -> Outcome:
    """Make the change, or ask a second person for it. The same request again is the same one.

    Raises what making the change would raise, and `Conflict` while another change of the same thing waits.
    """
    actor.require(proposal.PERMISSION)
    with transaction.atomic():
        why = proposal.why_second(actor)
        if why is None:
            proposal.count(actor)
            return Outcome(result=proposal.carry_out(actor))
    try_out(actor, proposal)
    return Outcome(request=_ask(actor, proposal, why))


def try_out(actor: Actor, proposal: Proposal) -> Any:
    """What making the change would return; raises what it would raise. Nothing is changed."""
    actor.require(proposal.PERMISSION)
    with transaction.atomic():
        point = transaction.savepoint()
        result = proposal.carry_out(actor)
        transaction.savepoint_rollback(point)
        return result


def why_second(actor: Actor, proposal: Proposal) -> Why | None:
    """Why a second person would have to approve it, asked ahead."""
    with transaction.atomic():
        return proposal.why_second(actor)


def proposal_of(found: ChangeRequest) -> Proposal:
    """What a request asks for, as it would be made now."""
    made: Proposal = PROPOSALS[ChangeKind(found.kind)].of(found.organisation_id, found.terms)
    return made


def approve(actor: Actor, *, request_id: UUID) -> ChangeRequest:
    """Make the change. Raises `Conflict` for the requester, and what the change itself raises."""
    with transaction.atomic():
        found = _locked(actor, request_id)
        check_approval(actor, found)
        proposal_of(found).carry_out(actor)
        _decide(actor, found, RequestState.APPROVED, "")
    return found


def deny(actor: Actor, *, request_id: UUID, answer: str) -> ChangeRequest:
    """Refuse with a reason, which the requester is told."""
    check_answer(answer)
    with transaction.atomic():
        found = _locked(actor, request_id)
        check_denial(actor, found)
        _decide(actor, found, RequestState.DENIED, answer)
    return found


def withdraw(actor: Actor, *, request_id: UUID) -> ChangeRequest:
    """Take one's own request back."""
    with transaction.atomic():
        found = _locked(actor, request_id)
        check_withdrawal(actor, found)
        _decide(actor, found, RequestState.WITHDRAWN, "")
    return found


def offer_package(
    actor: Actor, *, spec: PackageSpec, rate_fen_per_hour: Any = None, follows_list: bool = False
) -> tuple[Package, Outcome]:
    """Create a package; a first price far below comparable ones waits for a second person, and with it every start."""
    with transaction.atomic():
        package = create_package(actor, spec=spec, follows_list=follows_list)
        if follows_list or rate_fen_per_hour is None:
            return package, Outcome()
        return package, submit(actor, PackagePrice(package.pk, rate_fen_per_hour))


def change_package(actor: Actor, *, package_id: int, spec: PackageSpec) -> Package:
    """`update_package`, refused where more resources for the same price are more than one person may give."""
    before = Package.objects.filter(pk=package_id).first()
    with _no_price_too_low():
        package = update_package(actor, package_id=package_id, spec=spec)
        price = current_price(package_id)
        grew = before is not None and any(getattr(package, name) > getattr(before, name) for name in RESOURCES)
        if grew and price is not None and too_low(price.rate_fen_per_hour, comparable_rate(package)):
            raise _too_low(price)
        return package


def follow_list(actor: Actor, *, package_id: int, follows: bool) -> PriceVersion | None:
    """`follow_price_list`, refused where that lowers the price by more than one person may."""
    with _no_price_too_low():
        return follow_price_list(actor, package_id=package_id, follows=follows)


def end_listed_price(actor: Actor, *, price_id: int) -> None:
    """`end_unit_price`, refused where that lowers a package's price by more than one person may."""
    with _no_price_too_low():
        end_unit_price(actor, price_id=price_id)


@contextmanager
def _no_price_too_low() -> Iterator[None]:
    """Undo with a `Conflict` what gives a package a price that only two people may set."""
    with transaction.atomic():
        last = PriceVersion.objects.aggregate(pk=Max("pk"))["pk"] or 0
        yield
        for made in PriceVersion.objects.filter(pk__gt=last).select_related("package"):
            if too_low(made.rate_fen_per_hour, package_reference(made.package)):
                raise _too_low(made)


def _too_low(price: PriceVersion) -> Conflict:
    names = {"name": price.package.name_en, "rate": yuan_rate(price.rate_fen_per_hour)}
    return Conflict(
        _("For what it has, %(name)s at %(rate)s would be lower than one person may make it.") % names,
        hint=_("Set the price of the package first: a second person approves it."),
    )


def _ask(actor: Actor, proposal: Proposal, why: Why) -> ChangeRequest:
    wanted = ChangeRequest(
        kind=proposal.KIND,
        organisation_id=proposal.organisation_id,
        subject=proposal.subject,
        terms=proposal.terms(),
        before=proposal.before(),
        why=why,
        requested_by_id=actor.person(),
    )
    try:
        with transaction.atomic():
            wanted.save(force_insert=True)
            _log(actor, wanted, "asked", before=wanted.before, after=wanted.terms)
            notify_platform(
                permission=proposal.PERMISSION,
                kind="change.asked",
                data={**notice_data(wanted), "person": actor.label},
                dedup=f"change_request:{wanted.pk}",
                but=wanted.requested_by_id,
            )
    except IntegrityError as error:
        return _existing(wanted, error)
    return wanted


def _existing(wanted: ChangeRequest, error: IntegrityError) -> ChangeRequest:
    """The request of an earlier submission of the form, if it asked for the same."""
    rows = ChangeRequest.objects.filter(kind=wanted.kind, subject=wanted.subject, state=RequestState.PENDING)
    known: ChangeRequest | None = rows.select_related("organisation").first()
    if known is None or (known.terms, known.requested_by_id) != (wanted.terms, wanted.requested_by_id):
        raise Conflict(
            _("Another change of it waits for a second person."),
            hint=_("Decide on that one first, or take it back."),
        ) from error
    return known


def _locked(actor: Actor, request_id: UUID) -> ChangeRequest:
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    rows = ChangeRequest.objects.select_for_update(of=("self",)).select_related("organisation", "requested_by")
    found: ChangeRequest | None = rows.filter(pk=request_id).first()
    if found is None:
        raise NotFound
    actor.require(PROPOSALS[ChangeKind(found.kind)].PERMISSION)
    if found.state != RequestState.PENDING:
        raise Conflict(_("This request has been decided already."))
    return found


def _decide(actor: Actor, found: ChangeRequest, state: RequestState, answer: str) -> None:
    found.state, found.answer = state, answer.strip()
    found.decided_at, found.decided_by_id = db_now(), actor.user_id
    found.save(update_fields=["state", "answer", "decided_at", "decided_by"])
    after = {**found.terms, "state": state.value, "answer": found.answer}
    _log(actor, found, state.value, before={**found.before, "state": RequestState.PENDING.value}, after=after)
    if state is not RequestState.WITHDRAWN:
        notify_staff(
            user_id=found.requested_by_id,
            kind=f"change.{state.value}",
            data={**notice_data(found), "by": actor.label, "reason": found.answer},
            dedup=f"change_request:{found.pk}:{state}",
        )


def notice_data(found: ChangeRequest) -> dict[str, Any]:
    """For the words of notices: what, of what, from what to what."""
    return {
        "change": found.kind,
        "subject": name_of(found),
        "subject_zh": _package(found).name_zh if "package_id" in found.terms else "",
        "before": found.before,
        "after": found.terms,
        "request": str(found.pk),
    }


def _package(found: ChangeRequest) -> Package:
    package: Package = Package.objects.get(pk=found.terms["package_id"])
    return package


def name_of(found: ChangeRequest) -> str:
    """A name for people of what is changed; empty where the kind says all."""
    if found.organisation is not None:
        return str(found.organisation.name)
    if "package_id" in found.terms:
        return str(_package(found).name_en)
    return " ".join(filter(None, found.terms.get("unit", ())))


def _log(actor: Actor, found: ChangeRequest, verb: str, *, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    record(
        actor,
        action=f"billing.change.{verb}",
        target=Target("change", str(found.pk), name_of(found) or found.kind),
        organisation_id=found.organisation_id,
        before={"kind": found.kind, **before},
        after={"kind": found.kind, **after},
    )
