"""One run: its page with tabs, and the parts that refresh while it lives."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_GET

from apps.billing import selectors as funds
from apps.billing.caps.selectors import cap_of
from apps.billing.prepaid.seats import pay_ahead, seat_of
from apps.billing.prices.own import own_prices
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import NotFound
from apps.common.feeds import growing
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.storage import services as storage
from apps.training import checkpoints, continuing, failures, passport, selectors
from apps.training.metric_pages import metrics_tab, progress_of
from apps.training.models import Run
from apps.training.remedies import remedies
from apps.training.views.files import output_context
from apps.workloads import selectors as workloads
from apps.workloads import startup
from apps.workloads.choices import Status
from apps.workloads.launching.form import new_key
from apps.workloads.models import Attempt, Workload
from apps.workloads.offers.alternatives import Alternatives, would_start_now
from apps.workloads.permissions import is_terminal_user
from apps.workloads.programs import asked_rank, ranks_of
from apps.workloads.series import charts_of, series_of
from apps.workloads.terminal.places import terminal_place
from apps.workloads.waiting import queue_card

VIEW = in_organisation(Permission.TRAINING_VIEW)
TABS = ("overview", "metrics", "log", "terminal", "output", "events", "cost", "settings")
WITH_PASSPORT = ("overview", "settings")
MAX_CHARGES = 200
STOP_POLLING = 286  # htmx: swap this response and stop polling


@requires(VIEW)
@require_GET
def of_workload(request: ActorRequest, workload_id: UUID) -> HttpResponse:
    """The page of the run that a workload belongs to, for links that know the workload alone."""
    run = selectors.runs(request.actor).filter(workload_id=workload_id).first()
    if run is None:
        gone = selectors.deleted_of_workload(request.actor, workload_id)
        if gone is None:
            raise NotFound
        return render(request, "training/deleted.html", {"run": gone}, status=410)
    return redirect("training:detail", run.pk)


@requires(VIEW)
@require_GET
def detail(request: ActorRequest, run_id: UUID) -> HttpResponse:
    """`?tab=` chooses the tab, `?path=` a folder of the outputs, `?attempt=` and `?rank=` whose log and charts."""
    run = selectors.get(request.actor, run_id)
    return render(request, "training/detail.html", page_context(request, run))


@requires(VIEW)
@require_GET
def part(request: ActorRequest, run_id: UUID, name: str) -> HttpResponse:
    """`now`: what changes of the page while the run lives. The browser takes each element by its id; the charts and the
    log come along only where the attempt is another than `?shown=`, so that they are never made anew for nothing.
    `versions`: the panel of versions, of which others may live longer than the run."""
    if name not in ("now", "versions"):
        return HttpResponse(status=404)
    run = selectors.get(request.actor, run_id)
    if name == "versions":
        return render(request, "training/parts/versions.html", {"run": run, **_versions(request.actor, run)})
    context = page_context(request, run)
    context["refresh_live"] = request.GET.get("shown", "") != context["shown"]
    status = HTTPStatus.OK if run.workload.is_live else STOP_POLLING
    return render(request, "training/parts/now.html", context, status=status)


def page_context(request: ActorRequest, run: Run) -> dict[str, Any]:
    """The frame of the page and what its tab shows."""
    tab = request.GET.get("tab", "overview")
    shows_terminal = is_terminal_user(request.actor, run.workload) and (run.workload.is_live or tab == "terminal")
    tab = tab if tab in TABS and (tab != "terminal" or shows_terminal) else "overview"
    attempts = workloads.attempts(run.workload)
    attempt = attempts[0] if attempts else None
    rank = asked_rank(run.workload, request.GET.get("rank", ""), attempt)
    began = continuing.continuation_of(run)
    context = {
        "run": run,
        "workload": run.workload,
        "attempt": attempt,
        "attempts": attempts,
        "stale": attempt is not None and workloads.is_stale(attempt),
        "tab": tab,
        "tabs": _tabs(tab, TABS if shows_terminal else tuple(name for name in TABS if name != "terminal")),
        "shown": _shown(attempt, rank),
        "rank": rank,
        "ranks": ranks_of(run.workload, attempt),
        "resumable": not run.workload.is_live and checkpoints.has_any(run),
        "began": began,
        "log_attempt": attempt,
        "log_socket": _log_socket(run, rank),
        "last_event_id": selectors.last_event_id(request.actor, run),
        "passport": passport.summary_rows(run, began, continuing.continued_by(run)[:5]) if tab in WITH_PASSPORT else [],
    }
    return context | _LOADERS[tab](request, run, attempt)


def _shown(attempt: Attempt | None, rank: int) -> str:
    """Whose charts and log there are to see: "2.0" for those of attempt 2 and rank 0, "2.0-log" before it runs, when
    there is only the log of its preparation, "" before any is on a machine."""
    if attempt is None or attempt.handle is None:
        return ""
    whose = f"{attempt.number}.{rank}"
    return whose if attempt.started_at or attempt.ended_at else f"{whose}-log"


def _tabs(current: str, names: tuple[str, ...]) -> list[dict[str, Any]]:
    labels = {
        "overview": pgettext("tab", "Overview"),
        "metrics": _("Metrics"),
        "log": _("Log"),
        "terminal": _("Terminal"),
        "output": _("Output"),
        "events": _("Events"),
        "cost": _("Cost"),
        "settings": _("Settings"),
    }
    return [
        {"label": label, "url": f"?tab={tab}", "current": tab == current}
        for tab, label in labels.items()
        if tab in names
    ]


def _held(workload: Workload) -> int:
    """What an hour costs the organisation, in fen."""
    own = own_prices(workload.organisation_id, db_now())
    return own.hour(workload.price_version.rate_fen_per_hour, workload.member_count)


def _overview(request: ActorRequest, run: Run, attempt: Attempt | None) -> dict[str, Any]:
    workload, actor = run.workload, request.actor
    waits = workload.status == Status.QUEUED
    return {
        "wait": queue_card(actor, workload) if waits else None,
        "instead": _would_start_now(actor, run, workloads.attempts(workload)) if waits else None,
        "key": new_key() if waits else "",
        "held_fen": _held(workload) if waits else 0,
        "failure": _failure(actor, run, attempt),
        "steps": startup.startup_steps(workload, attempt),
        "start_seconds": startup.total_seconds(workload, attempt),
        "outputs": selectors.outputs_or_none(run) if workload.ended_at else None,
        "charts": charts_of(run.workload),
        "progress": progress_of(run.workload),
        **_versions(actor, run),
        **_money(actor, run),
    }


def _versions(actor: Actor, run: Run) -> dict[str, Any]:
    return {"versions": list(selectors.versions(actor, run)[:10])}


def _failure(actor: Actor, run: Run, attempt: Attempt | None) -> dict[str, Any] | None:
    card = failures.card(run, attempt)
    return card and {**card, "fixes": [*remedies(actor, run), *card["fixes"]]}


def _would_start_now(actor: Actor, run: Run, attempts: list[Attempt]) -> Alternatives:
    """Judged by what its earlier attempts used, or, without any, by the previous version."""
    before = attempts or (workloads.attempts(run.parent.workload) if run.parent else [])
    return would_start_now(actor, run.workload, before)


def _money(actor: Actor, run: Run) -> dict[str, Any]:
    if not actor.may(Permission.BILLING_VIEW_OWN):
        return {"cost": None}
    cost = funds.workload_cost(actor, workload_id=run.workload_id)
    return {
        "cost": cost,
        "unmetered": run.workload.simulated and cost.rate_fen_per_hour is None,
        "cap": cap_of(run.workload_id),
        "may_cap": run.workload.is_live and actor.may(Permission.TRAINING_SUBMIT),
        **(_live_money(actor, run) if run.workload.is_live else {}),
    }


def _live_money(actor: Actor, run: Run) -> dict[str, Any]:
    seat = seat_of(run.workload_id)
    return {
        "wallet": funds.wallet(actor),
        "seat": seat,
        "ahead": None if seat else pay_ahead(actor, run.workload.package_id),
        "sees_orders": actor.may(Permission.BILLING_VIEW),
    }


def _log(request: ActorRequest, run: Run, attempt: Attempt | None) -> dict[str, Any]:
    number = request.GET.get("attempt", "")
    chosen = [a for a in workloads.attempts(run.workload) if str(a.number) == number]
    shown = chosen[0] if chosen else attempt
    rank = asked_rank(run.workload, request.GET.get("rank", ""), shown)
    socket = _log_socket(run, rank)
    return {"log_attempt": shown, "log_socket": socket, "rank": rank, "ranks": ranks_of(run.workload, shown)}


def _log_socket(run: Run, rank: int) -> str:
    return f"/ws/logs/{run.workload_id}/?rank={rank}&attempt="


def _metrics(request: ActorRequest, run: Run, attempt: Attempt | None) -> dict[str, Any]:
    return metrics_tab(request.actor, run)


def _terminal(request: ActorRequest, run: Run, attempt: Attempt | None) -> dict[str, Any]:
    rank = asked_rank(run.workload, request.GET.get("rank", ""), attempt)
    return {"terminal": terminal_place(request.actor, run.workload, attempt, rank, request.get_host())}


def _output(request: ActorRequest, run: Run, attempt: Attempt | None) -> dict[str, Any]:
    return output_context(run, request.GET.get("path", ""))


def _events(request: ActorRequest, run: Run, attempt: Attempt | None) -> dict[str, Any]:
    return {"events": workloads.events(run.workload).order_by("-pk")[:500]}


def _cost(request: ActorRequest, run: Run, attempt: Attempt | None) -> dict[str, Any]:
    money = _money(request.actor, run)
    if money["cost"] is not None:
        filters = funds.ChargeFilter(workload_id=run.workload_id)
        money["charges"] = funds.charges(request.actor, filters=filters)[:MAX_CHARGES]
    return money


def _settings(request: ActorRequest, run: Run, attempt: Attempt | None) -> dict[str, Any]:
    return {
        "command": passport.command_text(run),
        "code_files": storage.file_names(run.code),
        "code_text": selectors.code_text(run),
    }


_LOADERS: dict[str, Callable[[ActorRequest, Run, Attempt | None], dict[str, Any]]] = {
    "overview": _overview,
    "metrics": _metrics,
    "log": _log,
    "terminal": _terminal,
    "output": _output,
    "events": _events,
    "cost": _cost,
    "settings": _settings,
}


@growing(every_s=5)
@requires(VIEW)
@require_GET
def metrics(request: ActorRequest, run_id: UUID, name: str) -> JsonResponse:
    """Points of one chart newer than `?since=` (Unix seconds), of the member `?rank=`."""
    run = selectors.get(request.actor, run_id)
    try:
        since = float(request.GET.get("since", 0))
    except ValueError:
        since = 0.0
    chart = series_of(run.workload, name, since, asked_rank(run.workload, request.GET.get("rank", "")))
    return JsonResponse(chart, safe=False) if chart is not None else JsonResponse({}, status=404)
