"""Recharges: the list, one of them with its documents, a new one in two steps."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import Count, Sum
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing import selectors as funds
from apps.billing.choices import PaymentMethod
from apps.billing.days import billing_day
from apps.billing.models import RechargeRequest, Transfer
from apps.billing.payments import proofs, recharge_review
from apps.billing.payments.alipay import refunds
from apps.billing.payments.alone import Why
from apps.billing.payments.receipts import receipt_elsewhere, receipt_written_otherwise
from apps.billing.recharges.received import keep_received
from apps.common.access import on_platform, requires
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, DomainError, NotFound
from apps.common.files import attachment
from apps.common.formatting import moment
from apps.common.forms import show_error
from apps.common.money import capital_yuan, yuan
from apps.common.pages import REFUSED, done, paged, refused
from apps.common.permissions import Permission as P
from apps.console.finance.recharges import selectors as reads
from apps.console.finance.recharges.forms import ConfirmedRechargeForm, ProofsForm, RechargeForm
from apps.console.finance.recharges.listing import RechargeFilter, RechargeTable, WaitingTable
from apps.console.finance.recharges.request_views import attach_proofs
from apps.console.kit.organisations import find_organisation
from apps.console.kit.requests import StaffRequest
from apps.console.kit.second_person import nobody_else, why_words

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
RECHARGE = on_platform(P.PLATFORM_RECHARGE)
DETAIL = "console/recharges/detail.html"
NEW, REVIEW = "console/recharges/new.html", "console/recharges/review.html"


@requires(VIEW)
@require_GET
def recharge_list(request: StaffRequest) -> HttpResponse:
    filtered = RechargeFilter(request.GET, queryset=funds.recharges(request.actor), request=request)
    table = paged(request, RechargeTable(filtered.qs))
    context = {
        "table": table,
        "filter": filtered,
        "total": filtered.qs.order_by().aggregate(fen=Sum("into_wallet_fen"), count=Count("pk")),
        "waiting": paged(request, WaitingTable(reads.waiting(request.actor), prefix="w-")),
        "may_recharge": request.actor.may(P.PLATFORM_RECHARGE),
    }
    return render(request, "console/recharges/list.html", context)


@requires(VIEW)
@require_GET
def detail(request: StaffRequest, transfer_id: int) -> HttpResponse:
    return render(request, DETAIL, _page(request, reads.receipt(request.actor, transfer_id)))


def _page(request: StaffRequest, receipt: reads.Receipt) -> dict[str, Any]:
    actor, transfer = request.actor, receipt.transfer
    organisation_id = transfer.organisation_id
    context: dict[str, Any] = {"receipt": receipt, "transfer": transfer, "request_of": reads.request_behind(transfer)}
    context["in_words"] = capital_yuan(transfer.amount_fen)
    context["method_label"] = reads.method_label(transfer)
    if organisation_id is not None:
        context["wallet"] = reads.wallet(actor, organisation_id)
        context["proofs"] = proofs.proofs(actor, organisation_id=organisation_id, reference=transfer.ref)
    order = refunds.refundable(transfer)
    if order is not None:
        context |= {"order": order, "refunds": list(refunds.refunds(actor).filter(order=order))}
        context["may_refund"] = actor.may(P.PLATFORM_RECHARGE) and order.refunded_fen < order.amount_fen
        context["may_ask"] = actor.may(P.PLATFORM_RECHARGE)
    if actor.may(P.PLATFORM_RECHARGE) and receipt.is_offline:
        context |= {"attach": ProofsForm(), "attach_url": reverse("console:recharge_attach", args=[transfer.pk])}
        context["may_reverse"] = receipt.reversal is None
    return context


@requires(RECHARGE)
@require_POST
def attach(request: StaffRequest, transfer_id: int) -> HttpResponse:
    receipt = reads.receipt(request.actor, transfer_id)
    organisation_id = receipt.transfer.organisation_id
    if organisation_id is None or not receipt.is_offline:
        raise NotFound
    form = ProofsForm(request.POST, request.FILES)
    if attach_proofs(request, form, organisation_id, receipt.transfer.ref):
        return redirect("console:recharge", transfer_id)
    return render(request, DETAIL, {**_page(request, receipt), "attach": form}, status=REFUSED)


@requires(VIEW)
@require_GET
def proof(request: StaffRequest, proof_id: int) -> HttpResponse:
    """Always a download: what strangers have sent is not shown within the console's origin."""
    found = proofs.proof(request.actor, proof_id)
    return attachment(bytes(found.content), found.name, found.media_type)


@requires(RECHARGE)
@require_http_methods(["GET", "POST"])
def new(request: StaffRequest) -> HttpResponse:
    """First step: validate the input and show it with its consequences; nothing is written yet."""
    if request.method != "POST":
        initial = {"organisation": _asked_for(request), "paid_on": billing_day(db_now())}
        return render(request, NEW, {"form": RechargeForm(initial=initial)})
    form = RechargeForm(request.POST)
    if "edit" in request.POST:  # back from the second step, with everything still filled in
        return render(request, NEW, {"form": RechargeForm(initial=request.POST.dict())})
    if form.is_valid():
        context = _review(request.actor, form)
        if form.is_valid():
            return render(request, REVIEW, context)
    return refused(request, NEW, {"form": form})


def _asked_for(request: StaffRequest) -> str:
    """The name of the organisation that a link named, however it named it."""
    wanted = request.GET.get("organisation", "")
    found = find_organisation(wanted)
    return found.name if found else wanted


def _review(actor: Actor, form: RechargeForm) -> dict[str, Any]:
    """Balance before and after; adds an error if the reference belongs to another amount."""
    data = form.cleaned_data
    wallet = reads.wallet(actor, data["organisation"].pk)
    earlier = reads.find_by_reference(actor, organisation_id=data["organisation"].pk, reference=data["reference"])
    if earlier is not None and earlier.amount_fen != data["amount"]:
        words = _("This reference has already credited %(amount)s to it. Check the slip, or use the right reference.")
        form.add_error("reference", words % {"amount": yuan(earlier.amount_fen)})
    known = None if earlier else receipt_written_otherwise(data["organisation"].pk, data["reference"])
    if known is not None:
        form.add_error("reference", _("This receipt is booked for it already, written %(known)s.") % {"known": known})
    elsewhere = None if earlier else receipt_elsewhere(data["organisation"].pk, data["reference"])
    why = Why.RECEIPT if elsewhere else recharge_review.why_second(actor, data["amount"])
    added = 0 if earlier else data["amount"]
    needs_second = earlier is None and why is not None
    return {
        "form": form,
        "data": data,
        "wallet": wallet,
        "earlier": earlier,
        "after_fen": wallet.balance_fen + added,
        "needs_second": needs_second,
        "proofs_field": ConfirmedRechargeForm(proven=needs_second)["proofs"],
        "in_words": capital_yuan(data["amount"]),
        "method_label": PaymentMethod(data["method"]).label,
        "elsewhere": elsewhere,
        "why": why_words(why, actor) if why and needs_second else "",
        "nobody_else": needs_second and nobody_else(actor, P.PLATFORM_RECHARGE),
        "may_see_staff": actor.may(P.PLATFORM_SECURITY_VIEW),
    }


class Unproven(Exception):
    """A second person is to approve what no document proves."""


def _review_again(request: StaffRequest, form: ConfirmedRechargeForm) -> HttpResponse:
    """The second step again with everything typed, and what has become known since it was shown first."""
    plain = RechargeForm(request.POST)
    context = _review(request.actor, plain) if plain.is_valid() else {"form": plain}
    form.add_error("proofs", _("Attach the bank slip or the contract: a second person decides on what they see."))
    return refused(request, REVIEW, {**context, "proofs_field": form["proofs"]})


@requires(RECHARGE)
@require_POST
def create(request: StaffRequest) -> HttpResponse:
    """Second step. Submitting it twice finds the first transfer or request, because the reference is the key."""
    form = ConfirmedRechargeForm(request.POST, request.FILES)
    if not form.is_valid():
        return refused(request, NEW, {"form": form})
    data = form.cleaned_data
    organisation = data["organisation"]
    try:
        made = _record(request.actor, form)
    except Unproven:
        return _review_again(request, form)
    except DomainError as error:
        if isinstance(error, Conflict):
            form.add_error("reference", str(error.message))
        else:
            show_error(form, error)
        return refused(request, NEW, {"form": form})
    if isinstance(made, RechargeRequest):
        return done(request, _asked_words(made), "console:recharge_request", made.pk)
    if not made.is_new:
        who = {"who": made.actor_label, "when": moment(made.at, seconds=True)}
        messages.info(request, _("%(who)s recorded this payment already, %(when)s. Nothing was added.") % who)
        return redirect("console:recharge", made.pk)
    words = _("%(amount)s was credited to %(name)s.") % {"amount": yuan(made.amount_fen), "name": organisation.name}
    return done(request, words, "console:recharge", made.pk)


def _asked_words(made: RechargeRequest) -> str:
    elsewhere = receipt_elsewhere(made.organisation_id, made.reference)
    if elsewhere is None:
        return _("Asked for: a second person has to approve it.")
    words = _("Asked for: its receipt is booked for %(name)s, so a second person has to approve it.")
    return words % {"name": elsewhere.name}


def _record(actor: Actor, form: ConfirmedRechargeForm) -> Transfer | RechargeRequest:
    """The recharge, or the request for one, with what is known and what proves it, all or nothing.

    Raises `Unproven` for a request without a document, and what `recharge` and `keep_received` raise.
    """
    data = form.cleaned_data
    whose, reference = data["organisation"].pk, data["reference"]
    with transaction.atomic():
        made = recharge_review.recharge(
            actor, organisation_id=whose, amount_fen=data["amount"], reference=reference, note=data["note"]
        )
        keep_received(actor, organisation_id=whose, reference=reference, received=form.received())
        for name, content in data["proofs"]:
            proofs.add_proof(actor, organisation_id=whose, reference=reference, name=name, content=content)
        known = proofs.proofs(actor, organisation_id=whose, reference=reference)
        if isinstance(made, RechargeRequest) and not known.exists():
            raise Unproven
    return made
