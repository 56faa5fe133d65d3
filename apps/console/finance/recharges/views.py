"""Recharges: the list, one of them with its documents, a new one in two steps."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import Count, Sum
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing import selectors as funds
from apps.billing.models import RechargeRequest
from apps.billing.payments import proofs, recharge_review
from apps.billing.payments.alipay import refunds
from apps.common.access import on_platform, requires
from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError, NotFound
from apps.common.forms import show_error
from apps.common.money import yuan
from apps.common.pages import REFUSED, done, paged, refused
from apps.common.permissions import Permission as P
from apps.console.finance.recharges import selectors as reads
from apps.console.finance.recharges.forms import ConfirmedRechargeForm, ProofsForm, RechargeForm
from apps.console.finance.recharges.listing import RechargeFilter, RechargeTable, WaitingTable
from apps.console.finance.recharges.request_views import attached
from apps.console.kit.organisations import find
from apps.console.kit.requests import StaffRequest

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
    context: dict[str, Any] = {"receipt": receipt, "transfer": transfer, "request_of": reads.asked_as(transfer)}
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
    if attached(request, form, organisation_id, receipt.transfer.ref):
        return redirect("console:recharge", transfer_id)
    return render(request, DETAIL, {**_page(request, receipt), "attach": form}, status=REFUSED)


@requires(VIEW)
@require_GET
def proof(request: StaffRequest, proof_id: int) -> HttpResponse:
    """Always a download: what strangers have sent is not shown within the console's origin."""
    found = proofs.proof(request.actor, proof_id)
    return HttpResponse(
        bytes(found.content),
        content_type=found.media_type,
        headers={
            "Content-Disposition": content_disposition_header(True, found.name) or "attachment",
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "sandbox",
        },
    )


@requires(RECHARGE)
@require_http_methods(["GET", "POST"])
def new(request: StaffRequest) -> HttpResponse:
    """First step: what is typed is checked and shown again with its consequences; nothing is written yet."""
    if request.method != "POST":
        return render(request, NEW, {"form": RechargeForm(initial={"organisation": _asked_for(request)})})
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
    found = find(wanted)
    return found.name if found else wanted


def _review(actor: Actor, form: RechargeForm) -> dict[str, Any]:
    """Balance before and after; adds an error where the reference belongs to another amount."""
    data = form.cleaned_data
    wallet = reads.wallet(actor, data["organisation"].pk)
    earlier = reads.recorded(actor, organisation_id=data["organisation"].pk, reference=data["reference"])
    if earlier is not None and earlier.amount_fen != data["amount"]:
        words = _("This reference has already credited %(amount)s to it. Check the slip, or use the right reference.")
        form.add_error("reference", words % {"amount": yuan(earlier.amount_fen)})
    added = 0 if earlier else data["amount"]
    return {
        "form": form,
        "data": data,
        "wallet": wallet,
        "earlier": earlier,
        "after_fen": wallet.balance_fen + added,
        "needs_second": earlier is None and recharge_review.needs_second(data["amount"]),
        "proofs_field": ConfirmedRechargeForm()["proofs"],
    }


@requires(RECHARGE)
@require_POST
def create(request: StaffRequest) -> HttpResponse:
    """Second step. A second press finds the first one's transfer or request: the reference is the key."""
    form = ConfirmedRechargeForm(request.POST, request.FILES)
    if not form.is_valid():
        return refused(request, NEW, {"form": form})
    data = form.cleaned_data
    organisation = data["organisation"]
    try:
        with transaction.atomic():
            made = recharge_review.recharge(
                request.actor,
                organisation_id=organisation.pk,
                amount_fen=data["amount"],
                reference=data["reference"],
                note=data["note"],
            )
            for name, content in data["proofs"]:
                proofs.add_proof(
                    request.actor,
                    organisation_id=organisation.pk,
                    reference=data["reference"],
                    name=name,
                    content=content,
                )
    except DomainError as error:
        if isinstance(error, Conflict):
            form.add_error("reference", str(error.message))
        else:
            show_error(form, error)
        return refused(request, NEW, {"form": form})
    if isinstance(made, RechargeRequest):
        return done(request, _("Asked for: a second person has to approve it."), "console:recharge_request", made.pk)
    if not made.is_new:
        messages.info(request, _("This payment was recorded already. Nothing was added."))
        return redirect("console:recharge", made.pk)
    words = _("%(amount)s was credited to %(name)s.") % {"amount": yuan(made.amount_fen), "name": organisation.name}
    return done(request, words, "console:recharge", made.pk)
