"""Traces: uploaded, deleted, and the platform's own past taken along as one."""

from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from apps.common.access import requires
from apps.common.errors import Conflict, DomainError
from apps.common.pages import say_refusal
from apps.whatif import selectors, services
from apps.whatif.choices import Source
from apps.whatif.forms import TraceForm
from apps.whatif.replaying.limits import LARGEST_FILE, LONGEST
from apps.whatif.replaying.table import csv_text
from apps.whatif.requests import StaffRequest
from apps.whatif.views.scenarios import MANAGE


def _picker() -> str:
    return f"{reverse('whatif:new')}?{urlencode({'source': Source.TRACE})}"


@requires(MANAGE)
@require_POST
def upload(request: StaffRequest) -> HttpResponse:
    form = TraceForm(request.POST, request.FILES)
    if not form.is_valid():
        messages.error(request, _("Choose a CSV file."))
        return redirect(_picker())
    file = form.cleaned_data["file"]
    try:
        # One byte more than may be is enough to see that there is too much.
        content = file.read(LARGEST_FILE + 1)
        trace = services.add_trace(request.actor, name=form.cleaned_data["name"] or file.name, content=content)
    except DomainError as error:
        say_refusal(request, error)
        return redirect(_picker())
    words = ngettext("%(count)s task read.", "%(count)s tasks read.", trace.tasks) % {"count": f"{trace.tasks:,}"}
    messages.success(request, words)
    return redirect(f"{_picker()}&{urlencode({'trace': trace.pk})}")


@requires(MANAGE)
@require_POST
def delete(request: StaffRequest, trace_id: UUID) -> HttpResponse:
    try:
        services.delete_trace(request.actor, trace_id)
    except Conflict as error:
        say_refusal(request, error)
    else:
        messages.success(request, _("The trace is deleted."))
    return redirect(_picker())


@requires(MANAGE)
@require_GET
def past(request: StaffRequest) -> HttpResponse:
    """The platform's last days in the format that an upload takes."""
    asked = request.GET.get("days", "")
    days = min(int(asked), LONGEST.days) if asked.isdecimal() and int(asked) > 0 else 7
    rows = selectors.past_as_trace(request.actor, days=days, simulated=request.GET.get("hardware") == "simulated")
    response = HttpResponse(csv_text(rows), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = content_disposition_header(True, "plstack-past.csv") or "attachment"
    response.headers["Cache-Control"] = "private, no-store"
    return response
