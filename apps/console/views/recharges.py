"""Recharges: the list, one of them, a new one in two steps."""

from typing import Any

from django.contrib import messages
from django.db.models import Count, Sum
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing import selectors as funds
from apps.billing import services
from apps.common.access import on_platform, requires
from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError
from apps.common.forms import show_error
from apps.common.money import yuan
from apps.common.permissions import Permission as P
from apps.console.filters import RechargeFilter
from apps.console.forms.recharges import RechargeForm
from apps.console.requests import StaffRequest
from apps.console.selectors import recharges as reads
from apps.console.selectors.organisations import find
from apps.console.tables.finance import RechargeTable
from apps.console.views.shared import done, paged, refused

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
RECHARGE = on_platform(P.PLATFORM_RECHARGE)
NEW, REVIEW = "console/recharges/new.html", "console/recharges/review.html"


@requires(VIEW)
@require_GET
def recharge_list(request: StaffRequest) -> HttpResponse:
    filtered = RechargeFilter(request.GET, queryset=funds.recharges(request.actor), request=request)
    table = paged(request, RechargeTable(filtered.qs))
    context = {
        "table": table,
        "filter": filtered,
        "total": filtered.qs.order_by().aggregate(fen=Sum("amount_fen"), count=Count("pk")),
        "may_recharge": request.actor.may(P.PLATFORM_RECHARGE),
    }
    return render(request, "console/recharges/list.html", context)


@requires(VIEW)
@require_GET
def detail(request: StaffRequest, transfer_id: int) -> HttpResponse:
    receipt = reads.receipt(request.actor, transfer_id)
    organisation_id = receipt.transfer.organisation_id
    wallet = reads.wallet(request.actor, organisation_id) if organisation_id else None
    context = {"receipt": receipt, "transfer": receipt.transfer, "wallet": wallet}
    return render(request, "console/recharges/detail.html", context)


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
    return {"form": form, "data": data, "wallet": wallet, "earlier": earlier, "after_fen": wallet.balance_fen + added}


@requires(RECHARGE)
@require_POST
def create(request: StaffRequest) -> HttpResponse:
    """Second step. A second press finds the first one's transfer: the reference is the key."""
    form = RechargeForm(request.POST)
    if not form.is_valid():
        return refused(request, NEW, {"form": form})
    data = form.cleaned_data
    organisation = data["organisation"]
    earlier = reads.recorded(request.actor, organisation_id=organisation.pk, reference=data["reference"])
    try:
        transfer = services.top_up(
            request.actor,
            organisation_id=organisation.pk,
            amount_fen=data["amount"],
            reference=data["reference"],
            note=data["note"],
        )
    except DomainError as error:
        if isinstance(error, Conflict):
            form.add_error("reference", str(error.message))
        else:
            show_error(form, error)
        return refused(request, NEW, {"form": form})
    if earlier is not None:
        messages.info(request, _("This payment was recorded already. Nothing was added."))
        return redirect("console:recharge", transfer.pk)
    words = _("%(amount)s was credited to %(name)s.") % {"amount": yuan(transfer.amount_fen), "name": organisation.name}
    return done(request, words, "console:recharge", transfer.pk)
