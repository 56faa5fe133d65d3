"""Workloads of all organisations: the list, one of them, its log, stopping it."""

from uuid import UUID

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.billing import selectors as funds
from apps.common import bulk
from apps.common.access import on_platform, requires
from apps.common.errors import Conflict
from apps.common.pages import done, paged, say_refusal
from apps.common.permissions import Permission as P
from apps.console.kit import live as overview
from apps.console.kit.requests import StaffRequest
from apps.console.work.workloads import selectors as reads
from apps.console.work.workloads.bulk_acts import WORKLOADS
from apps.console.work.workloads.facts import workload_facts
from apps.console.work.workloads.listing import WorkloadFilter, WorkloadTable
from apps.workloads import faults, services
from apps.workloads import selectors as kernel
from apps.workloads.choices import Status
from apps.workloads.logs.files import log_file
from apps.workloads.programs import asked_rank, ranks_of
from apps.workloads.startup import startup_steps
from apps.workloads.waiting import explain_wait

VIEW = on_platform(P.PLATFORM_WORKLOADS_VIEW)
MANAGE = on_platform(P.PLATFORM_WORKLOADS_MANAGE)


@requires(VIEW)
@require_GET
def workload_list(request: StaffRequest) -> HttpResponse:
    filtered = WorkloadFilter(request.GET, queryset=reads.workloads(request.actor), request=request)
    table = paged(request, WorkloadTable(filtered.qs, bulk=bulk.offered(request, WORKLOADS)))
    context = {"table": table, "filter": filtered, "last_event_id": overview.newest_event_id()}
    return render(request, "console/workloads/list.html", context)


@requires(MANAGE)
@require_POST
def bulk_act(request: StaffRequest) -> HttpResponse:
    return bulk.answer(request, WORKLOADS)


@requires(VIEW)
@require_GET
def detail(request: StaffRequest, workload_id: UUID) -> HttpResponse:
    actor = request.actor
    workload = kernel.get(actor, workload_id)
    attempts = kernel.attempts(workload)
    attempt = attempts[0] if attempts else None
    cost = funds.workload_cost(actor, workload_id=workload.pk)
    rank = asked_rank(workload, request.GET.get("rank", ""), attempt)
    context = {
        "workload": workload,
        "attempts": attempts,
        "attempt": attempt,
        "stale": attempt is not None and kernel.is_stale(attempt),
        "steps": startup_steps(workload, attempt),
        "wait": explain_wait(actor, workload) if workload.status == Status.QUEUED else None,
        "failure": faults.card(workload, attempt),
        "events": kernel.events(workload).order_by("-pk")[:100],
        "facts": workload_facts(actor, workload, attempt),
        "cost": cost,
        "log_url": f"/ws/logs/{workload.pk}/?portal=console&rank={rank}",
        "rank": rank,
        "rank_text": str(rank),
        "ranks": ranks_of(workload, attempt),
        "burning": workload.status in (Status.RUNNING, Status.STOPPING) and workload.started_at is not None,
        "may_stop": actor.may(P.PLATFORM_WORKLOADS_MANAGE) and workload.is_live and workload.status != Status.STOPPING,
        "sees_money": actor.may(P.PLATFORM_FINANCE_VIEW),
        "last_event_id": overview.newest_event_id(),
    }
    return render(request, "console/workloads/detail.html", context)


@requires(MANAGE)
@require_POST
def stop(request: StaffRequest, workload_id: UUID) -> HttpResponse:
    workload = kernel.get(request.actor, workload_id)
    try:
        services.stop(request.actor, workload)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("console:workload", workload_id)
    return done(request, _("%(name)s is asked to stop.") % {"name": workload.name}, "console:workload", workload_id)


@requires(VIEW)
@require_GET
def log(request: StaffRequest, workload_id: UUID) -> HttpResponseBase:
    """The whole log of the newest attempt, as a download; of several members, that of `?rank=`."""
    workload = kernel.get(request.actor, workload_id)
    rank = asked_rank(workload, request.GET.get("rank", ""))
    program = kernel.program(kernel.current_attempt(workload), rank)
    return log_file(program, name=f"{workload.name}.log", visible=lambda actor: kernel.get(actor, workload_id))
