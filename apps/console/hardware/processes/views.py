"""The platform's own processes."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.common.access import on_platform, requires
from apps.common.pages import paged
from apps.common.permissions import Permission as P
from apps.console.hardware.processes import selectors as reads
from apps.console.hardware.processes.listing import ProcessTable, ReplacementTable
from apps.console.kit.requests import StaffRequest


@requires(on_platform(P.PLATFORM_NODES_VIEW))
@require_GET
def process_list(request: StaffRequest) -> HttpResponse:
    rows = reads.processes(request.actor)
    context = {
        "table": ProcessTable(rows),
        "replaced": paged(request, ReplacementTable(reads.replacements(request.actor))),
        "silent": any(row.silent for row in rows),
    }
    return render(request, "console/processes/list.html", context)
