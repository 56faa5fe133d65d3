"""Vouchers: the list, one of them with what it paid, a new one, taking one back."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing import selectors as funds
from apps.billing.choices import RechargeKind, VoucherState
from apps.billing.models import RechargeRequest, Voucher, VoucherUse
from apps.billing.payments import recharge_review
from apps.billing.vouchers import selectors as reads
from apps.billing.vouchers.services import void_voucher
from apps.common.access import on_platform, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.money import yuan
from apps.common.pages import done, paged, refused
from apps.common.permissions import Permission as P
from apps.console.finance.recharges import selectors as recharges
from apps.console.finance.recharges.listing import WaitingTable
from apps.console.finance.vouchers.forms import VoidForm, VoucherForm
from apps.console.finance.vouchers.listing import VoucherFilter, VoucherTable, VoucherUseTable
from apps.console.kit.organisations import find_organisation
from apps.console.kit.requests import StaffRequest

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
GRANT = on_platform(P.PLATFORM_RECHARGE)
NEW, DETAIL = "console/vouchers/new.html", "console/vouchers/detail.html"


@requires(VIEW)
@require_GET
def voucher_list(request: StaffRequest) -> HttpResponse:
    filtered = VoucherFilter(request.GET, queryset=reads.vouchers(request.actor), request=request)
    waiting = recharges.waiting(request.actor).filter(kind=RechargeKind.VOUCHER)
    context = {
        "table": paged(request, VoucherTable(filtered.qs)),
        "waiting": paged(request, WaitingTable(waiting, prefix="w-")),
        "filter": filtered,
        "strip": _strip(reads.voucher_sums(filtered.qs)),
        "may_grant": request.actor.may(P.PLATFORM_RECHARGE),
    }
    return render(request, "console/vouchers/list.html", context)


def _strip(sums: reads.VoucherSums) -> list[dict[str, Any]]:
    return [
        {"label": _("Granted"), "value": yuan(sums.granted_fen), "sub": _("vouchers of this list")},
        {"label": _("Used"), "value": yuan(sums.used_fen), "sub": _("paid for usage, to revenue")},
        {"label": _("Left"), "value": yuan(sums.left_fen), "sub": _("can still be used")},
        {"label": _("Ended unused"), "value": yuan(sums.ended_fen), "sub": _("expired or taken back")},
    ]


@requires(GRANT)
@require_http_methods(["GET", "POST"])
def new(request: StaffRequest) -> HttpResponse:
    given: dict[str, Any] = {
        "packages": funds.packages(request.actor, active_only=False),
        "alone_fen": recharge_review.alone_fen(),
    }
    if request.method != "POST":
        named = find_organisation(request.GET.get("organisation", ""))
        form = VoucherForm(**given, initial={"organisation": named.name if named else ""})
        return render(request, NEW, {"form": form})
    form = VoucherForm(request.POST, **given)
    if form.is_valid():
        data = form.cleaned_data
        try:
            made = recharge_review.grant(
                request.actor, organisation_id=data["organisation"].pk, spec=form.spec(), key=data["key"]
            )
        except DomainError as error:
            show_error(form, error)
        else:
            if isinstance(made, RechargeRequest):
                said = _("Asked for: a second person has to approve it.")
                return done(request, said, "console:recharge_request", made.pk)
            words = {"amount": yuan(made.amount_fen), "name": data["organisation"].name}
            return done(request, _("%(name)s has a voucher of %(amount)s.") % words, "console:voucher", made.pk)
    return refused(request, NEW, {"form": form})


@requires(VIEW)
@require_GET
def detail(request: StaffRequest, voucher_id: int) -> HttpResponse:
    return render(request, DETAIL, _page(request, reads.voucher(request.actor, voucher_id), VoidForm()))


@requires(GRANT)
@require_POST
def void(request: StaffRequest, voucher_id: int) -> HttpResponse:
    voucher, form = reads.voucher(request.actor, voucher_id), VoidForm(request.POST)
    if form.is_valid():
        try:
            void_voucher(request.actor, voucher_id=voucher_id, reason=form.cleaned_data["reason"])
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("What was left of the voucher was taken back."), "console:voucher", voucher_id)
    return refused(request, DETAIL, _page(request, voucher, form))


def _page(request: StaffRequest, voucher: Voucher, form: VoidForm) -> dict[str, Any]:
    uses = VoucherUse.objects.filter(voucher=voucher).select_related("run").order_by("-pk")
    live = voucher.state in (VoucherState.VALID, VoucherState.PLANNED)  # type: ignore[attr-defined]
    return {
        "voucher": voucher,
        "request_of": recharges.request_behind(voucher.transfer),
        "table": paged(request, VoucherUseTable(uses), counted=False),
        "ended_fen": voucher.amount_fen - voucher.used_fen - voucher.left_fen,
        "form": form,
        "may_void": live and request.actor.may(P.PLATFORM_RECHARGE),
    }
