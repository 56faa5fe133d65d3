"""The wallet: what there is, how long it lasts, what came in."""

from datetime import timedelta
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from apps.billing.adjustments.selectors import adjustments
from apps.billing.adjustments.tables import AdjustmentTable
from apps.billing.choices import ArrearsStatus, VoucherState
from apps.billing.consumption.spending import unrated
from apps.billing.funds import wallets
from apps.billing.funds.wallets import Wallet
from apps.billing.metering.selectors import storage_fen_per_hour
from apps.billing.payments.alipay import orders
from apps.billing.payments.alipay.settings import AlipaySettings
from apps.billing.payments.tables import TopUpTable
from apps.billing.prices.discounts.selectors import own_discount
from apps.billing.recharges.selectors import recharges
from apps.billing.recharges.tables import RechargeTable
from apps.billing.vouchers.selectors import voucher_sums, vouchers, vouchers_in
from apps.billing.vouchers.tables import VoucherTable
from apps.billing.wallet.selectors import balance_history, open_holds
from apps.billing.wallet.tables import HoldTable
from apps.common.access import in_organisation, requires
from apps.common.badges import Tone
from apps.common.clock import db_now
from apps.common.formatting import estimated_moment, moment
from apps.common.money import FEN_PER_YUAN, yuan, yuan_rate
from apps.common.pages import paged
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.tenants import settings

HELD_SHOWN, VOUCHERS_SHOWN, ADJUSTMENTS_SHOWN, PAYMENTS_SHOWN = 10, 20, 10, 10
# Of vouchers those that pay now or will; all of them stand on a page of their own.
SHOWN = (VoucherState.VALID, VoucherState.PLANNED)
# The past as far as it helps to judge the future, and at most a week of that.
PAST, AHEAD = timedelta(days=3), timedelta(days=7)
TONES = {ArrearsStatus.NORMAL: Tone.RUN, ArrearsStatus.LOW: Tone.WARN}


@requires(in_organisation(Permission.BILLING_VIEW))
@require_GET
def wallet(request: ActorRequest) -> HttpResponse:
    actor = request.actor
    now, holds = wallets.wallet(actor), open_holds(actor)
    table = RechargeTable(recharges(actor), request=request)
    paged(request, table)
    context = {
        "wallet": now,
        "status": status_words(now),
        "strip": _strip(now),
        "table": table,
        "payments": TopUpTable(orders.orders(actor)[:PAYMENTS_SHOWN], orderable=False),
        "adjustments": AdjustmentTable(adjustments(actor)[:ADJUSTMENTS_SHOWN]),
        "holds": HoldTable(holds[:HELD_SHOWN]),
        "holds_count": holds.count(),
        "unrated_fen": unrated(actor),
        "vouchers": VoucherTable(vouchers_in(actor, SHOWN)[:VOUCHERS_SHOWN]),
        "vouchers_left_fen": voucher_sums(vouchers(actor)).left_fen,
        "discount": own_discount(actor),
        "may_top_up": actor.may(Permission.BILLING_TOP_UP),
        "pays_online": settings.get(AlipaySettings).is_ready,
    }
    return render(request, "billing/wallet.html", context)


def _strip(now: Wallet) -> list[dict[str, Any]]:
    tone = "" if now.status is ArrearsStatus.NORMAL else TONES.get(now.status, Tone.FAIL)
    return [
        {
            "label": _("Balance"),
            "value": yuan(now.balance_fen),
            "sub": _("%(amount)s of it set aside") % {"amount": yuan(now.held_fen)},
        },
        {
            "label": _("Available"),
            "value": yuan(now.available_fen),
            "tone": tone,
            "sub": _("with %(amount)s of credit") % {"amount": yuan(now.credit_limit_fen)}
            if now.credit_limit_fen
            else _("Balance less what is set aside"),
        },
        {
            "label": _("Cost per hour"),
            "value": yuan_rate(now.burn_fen_per_hour),
            "sub": _burn_words(now),
        },
        {
            "label": _("Lasts until"),
            "value": estimated_moment(now.runs_until) if now.runs_until and not now.used_up else "—",
            "tone": tone if now.runs_until else "",
            "sub": _lasts_words(now),
        },
    ]


def _lasts_words(now: Wallet) -> str:
    if now.used_up:
        return _("It is used up, and what runs goes on")
    return _("At what runs now") if now.runs_until else _("Nothing that costs runs now")


def _burn_words(now: Wallet) -> str:
    """What runs and what is kept, told apart where both cost."""
    stored = storage_fen_per_hour(now.organisation_id)
    if not stored:
        return _("Everything that runs in the organisation")
    return _("%(running)s for what runs, %(stored)s for stored data") % {
        "running": yuan_rate(now.burn_fen_per_hour - stored),
        "stored": yuan_rate(stored),
    }


def status_words(now: Wallet) -> dict[str, Any]:
    """Where the organisation stands: {"tone", "label", "text"}; the text says what follows from it."""
    texts = {
        ArrearsStatus.LOW: _("Less than a day is left at what runs now. Nothing is stopped yet."),
        ArrearsStatus.RELEASED: _("Stored data may be moved into the recycle bin at any time; a top-up ends that."),
    }
    text = texts.get(now.status, "")
    when = {"time": moment(now.release_at)}
    if now.status is ArrearsStatus.SUSPENDED:
        text = _("Running work was saved and stopped. Data is kept until %(time)s; a top-up lets work go on.") % when
    if now.status is ArrearsStatus.RELEASE_PENDING:
        text = _("Data is kept until %(time)s. From then on it may be moved into the recycle bin; top up to keep it.")
        text = text % when
    if now.status is ArrearsStatus.GRACE:
        text = _("Running work is stopped at %(time)s unless the wallet is topped up; nothing new starts.") % {
            "time": moment(now.grace_until)
        }
    return {"tone": TONES.get(now.status, Tone.FAIL), "label": now.status.label, "text": text}


@requires(in_organisation(Permission.BILLING_VIEW_OWN))
@require_GET
def balance(request: ActorRequest) -> JsonResponse:
    """The chart of the balance in yuan: its past, and its projection at the present burn."""
    now = db_now()
    past = balance_history(request.actor, since=now - PAST)
    series = [{"name": _("Balance"), "unit": "¥", "points": [_point(p.at, p.balance_fen) for p in past]}]
    ahead = _projection(wallets.wallet(request.actor), now)
    if ahead:
        series.append({"name": _("At what runs now"), "unit": "¥", "points": ahead})
    return JsonResponse(series, safe=False)


def _projection(now: Wallet, at: Any) -> list[list[Any]]:
    """A straight line at the present cost, to the end of the money or of a week, whichever comes first."""
    if now.burn_fen_per_hour <= 0:
        return []
    end = min(now.runs_until or at + AHEAD, at + AHEAD)
    used = now.burn_fen_per_hour * int((end - at).total_seconds()) / 3600
    return [_point(at, now.balance_fen), _point(end, int(now.balance_fen - used))]


def _point(at: Any, fen: int) -> list[Any]:
    return [at.isoformat(), fen / FEN_PER_YUAN]
