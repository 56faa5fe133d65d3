"""What one member more, or the fewest, would cost and bring, beside the price of a run of several."""

from typing import Any

from django.utils.translation import gettext as _

from apps.common.money import yuan_rate
from apps.workloads.offers.picker import starts_in
from apps.workloads.offers.quoting import Offer


def one_more_rows(offer: Offer) -> list[dict[str, Any]]:
    """A row for `components/kv.html`; none where there may be no more members."""
    more = offer.with_one_more
    if more is None:
        return []
    start = _("start: %(when)s") % {"when": starts_in(more.forecast)}
    cards = _("%(more)s GPUs instead of %(now)s") % {"more": more.cards, "now": offer.members * offer.package.gpu_count}
    sub = f"{cards} · {start}" if more.cards else start
    return [{"label": _("With one more member"), "value": yuan_rate(more.rate_fen_per_hour), "sub": sub}]


def fewest_rows(offer: Offer) -> list[dict[str, Any]]:
    """Of an elastic run; none where it starts with all members or not at all."""
    if offer.least is None:
        return []
    rate = yuan_rate(offer.quote.rate_fen_per_hour / offer.members * offer.least)
    return [
        {
            "label": _("With only %(count)s of them") % {"count": offer.least},
            "value": rate,
            "sub": _("where there is no room for all; only members that run are charged"),
        }
    ]
