"""A spending cap beside the start button: how long it lasts at the price that is quoted."""

from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from apps.billing.caps.selectors import affordable_time
from apps.billing.caps.services import least_fen
from apps.common.formatting import duration, moment
from apps.common.money import FEN_PER_YUAN, yuan
from apps.common.money_fields import YuanField
from apps.workloads.offers.quoting import Offer


def with_cap(card: dict[str, Any], offer: Offer | None, text: Any) -> dict[str, Any]:
    """The quote's card with a row for the cap as typed, complete or not; as it is without one."""
    fen = _typed(text)
    if offer is None or not fen or not offer.quote.rate_fen_per_hour:
        return card
    return {**card, "rows": [*card["rows"], _row(offer, fen)]}


def _typed(text: Any) -> int | None:
    try:
        return YuanField(required=False).clean(text)
    except ValidationError:  # half-typed
        return None


def _row(offer: Offer, fen: int) -> dict[str, Any]:
    rate = offer.quote.rate_fen_per_hour
    row = {"label": _("Spending cap"), "value": yuan(fen), "strong": True}
    if fen < least_fen(rate):
        return {**row, "tone": "fail", "sub": _("at least %(least)s, ten minutes") % {"least": yuan(least_fen(rate))}}
    if offer.quote.prepaid_until is not None:
        return {**row, "sub": _("counts from %(when)s on: until then it is covered") % _when(offer.quote.prepaid_until)}
    time = duration(affordable_time(fen, rate).total_seconds())
    return {**row, "sub": _("lasts %(time)s; then it is saved and stopped") % {"time": time}}


def _when(at: datetime) -> dict[str, str]:
    return {"when": moment(at)}


def yuan_text(fen: int | None) -> str:
    """An amount as one would type it; empty for none."""
    return "" if fen is None else f"{fen // FEN_PER_YUAN}.{fen % FEN_PER_YUAN:02d}"
