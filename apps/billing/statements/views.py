"""The organisation's own statements: what was issued to it, each line down to its charges, and to print."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from apps.billing.models import Charge
from apps.billing.statements import selectors as reads
from apps.billing.statements.digest import is_intact
from apps.billing.statements.filters import BillFilter
from apps.billing.statements.tables import BillTable, ChargeTable, paged_by_line
from apps.common.access import in_organisation, requires
from apps.common.pages import paged
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest

VIEW = in_organisation(Permission.BILLING_VIEW)


@requires(VIEW)
@require_GET
def bills(request: ActorRequest) -> HttpResponse:
    filtered = BillFilter(request.GET, queryset=reads.statements(request.actor), request=request)
    table = BillTable(filtered.qs)
    paged(request, table)
    return render(request, "billing/statements/list.html", {"table": table, "filter": filtered})


@requires(VIEW)
@require_GET
def bill(request: ActorRequest, statement_id: UUID) -> HttpResponse:
    found = reads.statement_document(request.actor, statement_id)
    context = {"paper": found, "line_route": "billing:bill_line", "intact": is_intact(found.statement)}
    return render(request, "billing/statements/detail.html", context)


@requires(VIEW)
@require_GET
def bill_line(request: ActorRequest, statement_id: UUID, position: int) -> HttpResponse:
    """The charges that one line is the sum of."""
    line = reads.charged_line(request.actor, statement_id, position)
    statement = reads.statement(request.actor, statement_id)
    rows = reads.charges_of_line(request.actor, statement, line)
    table = paged_by_line(request, ChargeTable(rows, opens=_opened), line)
    context = {"statement": statement, "line": line, "table": table, "bill_route": "billing:bill"}
    return render(request, "billing/statements/line.html", context)


def _opened(charge: Charge) -> str:
    return f"{reverse('billing:run', args=[charge.session.workload_id])}?charge={charge.pk}"
