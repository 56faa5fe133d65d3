"""One's own cost at a glance, for pages below billing that include it."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.billing import selectors as funds
from apps.billing.forms import Period, days_of
from apps.billing.selectors.spending import charged
from apps.common.access import in_organisation, requires
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest


@requires(in_organisation(Permission.BILLING_VIEW_OWN))
@require_GET
def mine(request: ActorRequest) -> HttpResponse:
    """A card with what one's own runs cost this month and the month before."""
    actor = request.actor
    months = {}
    for name, period in (("this_fen", Period.MONTH), ("last_fen", Period.LAST_MONTH)):
        since, until = days_of(period)
        own = funds.ChargeFilter(since=since, until=until, user_id=actor.user_id)
        months[name] = charged(actor, filters=own)
    return render(request, "billing/mine.html", months)
