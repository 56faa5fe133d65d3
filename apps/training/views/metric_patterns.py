"""Own patterns, tried on a sample of a log while one types."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from apps.common.access import in_organisation, requires
from apps.common.errors import Invalid
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.tracking.collecting.trying import tried


@requires(in_organisation(Permission.TRAINING_SUBMIT))
@require_POST
def try_patterns(request: ActorRequest) -> HttpResponse:
    context: dict[str, object] = {}
    try:
        patterns = request.POST.get("metric_patterns", "").splitlines()
        rows = tried(patterns, request.POST.get("metric_sample", ""))
        context = {"rows": rows, "found": sum(len(row.points) for row in rows)}
    except Invalid as error:
        context = {"problem": error.message}
    return render(request, "training/parts/tried.html", context)
