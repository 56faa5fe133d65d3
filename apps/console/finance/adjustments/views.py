"""Adjustments of bills: the list, and a new one in two steps."""

from typing import Any

from django.contrib import messages
from django.db.models import Count, Sum
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing.adjustments.selectors import adjustments
from apps.billing.adjustments.services import adjustment_of
from apps.billing.choices import NOTES, RechargeKind
from apps.billing.models import RechargeRequest
from apps.billing.payments import recharge_review
from apps.common.access import on_platform, requires
from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError
from apps.common.forms import show_error
from apps.common.money import capital_yuan, yuan
from apps.common.pages import done, paged, refused
from apps.common.permissions import Permission as P
from apps.console.finance.adjustments.forms import AdjustmentForm
from apps.console.finance.adjustments.listing import AdjustmentFilter, AdjustmentTable
from apps.console.finance.recharges import selectors as reads
from apps.console.finance.recharges.listing import WaitingTable
from apps.console.kit.organisations import find_organisation
from apps.console.kit.requests import StaffRequest
from apps.console.kit.second_person import nobody_else, why_words

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
RECHARGE = on_platform(P.PLATFORM_RECHARGE)
NEW, REVIEW = "console/adjustments/new.html", "console/adjustments/review.html"


@requires(VIEW)
@require_GET
def adjustment_list(request: StaffRequest) -> HttpResponse:
    filtered = AdjustmentFilter(request.GET, queryset=adjustments(request.actor), request=request)
    waiting = reads.waiting(request.actor).filter(kind__in=NOTES)
    context = {
        "table": paged(request, AdjustmentTable(filtered.qs)),
        "filter": filtered,
        "total": filtered.qs.order_by().aggregate(fen=Sum("into_wallet_fen"), count=Count("pk")),
        "waiting": paged(request, WaitingTable(waiting, prefix="w-")),
        "may_adjust": request.actor.may(P.PLATFORM_RECHARGE),
    }
    return render(request, "console/adjustments/list.html", context)


@requires(RECHARGE)
@require_http_methods(["GET", "POST"])
def new(request: StaffRequest) -> HttpResponse:
    """First step: validate the input and show it with its consequences; nothing is written yet."""
    if request.method != "POST":
        named = find_organisation(request.GET.get("organisation", ""))
        number = f"ADJ-{timezone.localtime():%Y%m%d-%H%M%S}"
        initial = {"organisation": named.name if named else "", "number": number}
        return render(request, NEW, {"form": AdjustmentForm(initial=initial)})
    form = AdjustmentForm(request.POST)
    if "edit" in request.POST:  # back from the second step, with everything still filled in
        return render(request, NEW, {"form": AdjustmentForm(initial=request.POST.dict())})
    if form.is_valid():
        return render(request, REVIEW, _review(request.actor, form))
    return refused(request, NEW, {"form": form})


def _review(actor: Actor, form: AdjustmentForm) -> dict[str, Any]:
    """Balance before and after, and the same note where it was made already."""
    data, note = form.cleaned_data, form.note()
    wallet = reads.wallet(actor, data["organisation"].pk)
    earlier = adjustment_of(data["organisation"].pk, note.number)
    why = None if earlier else recharge_review.why_second(actor, note.amount_fen)
    change = note.amount_fen if note.kind is RechargeKind.CREDIT_NOTE else -note.amount_fen
    return {
        "form": form,
        "data": data,
        "note_label": note.kind.label,
        "is_credit": change > 0,
        "in_words": capital_yuan(note.amount_fen),
        "wallet": wallet,
        "earlier": earlier,
        "after_fen": wallet.balance_fen + (0 if earlier else change),
        "why": why_words(why, actor) if why else "",
        "nobody_else": why is not None and nobody_else(actor, P.PLATFORM_RECHARGE),
        "may_see_staff": actor.may(P.PLATFORM_SECURITY_VIEW),
    }


@requires(RECHARGE)
@require_POST
def create(request: StaffRequest) -> HttpResponse:
    """Second step. Submitting it twice finds the first adjustment or request, because its number is the key."""
    form = AdjustmentForm(request.POST)
    if not form.is_valid():
        return refused(request, NEW, {"form": form})
    organisation = form.cleaned_data["organisation"]
    try:
        made = recharge_review.adjust(request.actor, organisation_id=organisation.pk, note=form.note())
    except DomainError as error:
        if isinstance(error, Conflict):
            form.add_error("number", str(error.message))
        else:
            show_error(form, error)
        return refused(request, NEW, {"form": form})
    if isinstance(made, RechargeRequest):
        return done(request, _("Asked for: a second person has to approve it."), "console:recharge_request", made.pk)
    if not made.is_new:
        messages.info(request, _("This note was recorded already. Nothing was moved."))
        return redirect("console:adjustments")
    words = _("The bill of %(name)s is adjusted by %(amount)s.")
    return done(request, words % {"amount": yuan(made.amount_fen), "name": organisation.name}, "console:adjustments")
