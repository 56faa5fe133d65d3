"""The list of boards, one board on its way to the browser, its log and its end."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from apps.billing import selectors as funds
from apps.boards import selectors, services
from apps.boards.choices import IDLE_MINUTES
from apps.boards.models import Board
from apps.boards.reconcile.ending import ends_at
from apps.boards.tables import BoardFilter, BoardTable
from apps.common.access import in_organisation, requires
from apps.common.clock import db_now
from apps.common.errors import Conflict, NotFound
from apps.common.pages import paged
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.workloads import selectors as workloads
from apps.workloads.choices import Reason, Status
from apps.workloads.logs.files import log_file
from apps.workloads.permissions import is_terminal_user
from apps.workloads.waiting import queue_card

VIEW = in_organisation(Permission.TRAINING_VIEW)
USE = in_organisation(Permission.TRAINING_SUBMIT)
STOP_POLLING = 286  # htmx: swap this response and stop polling


@requires(VIEW)
@require_GET
def board_list(request: ActorRequest) -> HttpResponse:
    filtered = BoardFilter(request.GET, queryset=selectors.boards(request.actor), request=request)
    table = BoardTable(filtered.qs, request=request)
    paged(request, table)
    context = {"table": table, "filter": filtered, "nothing_yet": not filtered.form.has_changed() and not table.rows}
    return render(request, "boards/list.html", context)


@requires(VIEW)
@require_GET
def of_workload(request: ActorRequest, workload_id: UUID) -> HttpResponse:
    """The page of the board that a workload belongs to, for links that know the workload alone."""
    board = selectors.boards(request.actor).filter(workload_id=workload_id).first()
    if board is None:
        raise NotFound
    return redirect("boards:detail", board.pk)


@requires(VIEW)
@require_GET
def detail(request: ActorRequest, board_id: UUID) -> HttpResponse:
    """With `?go=1` it leads on to TensorBoard as soon as that answers."""
    board = selectors.get(request.actor, board_id)
    context = page_context(request, board)
    if context["goes"] and context["ready"]:
        return redirect("open_workload", board.workload_id)
    return render(request, "boards/detail.html", context)


@requires(VIEW)
@require_GET
def now(request: ActorRequest, board_id: UUID) -> HttpResponse:
    """What changes of the page while the board lives; the log only once there is one, where `?log=0` says there is
    none."""
    board = selectors.get(request.actor, board_id)
    context = page_context(request, board)
    if context["goes"] and context["ready"]:
        return HttpResponse(headers={"HX-Redirect": reverse("open_workload", args=[board.workload_id])})
    context["brings_log"] = request.GET.get("log") == "0" and context["has_log"]
    status = HTTPStatus.OK if board.workload.is_live else STOP_POLLING
    return render(request, "boards/parts/now.html", context, status=status)


def page_context(request: ActorRequest, board: Board) -> dict[str, Any]:
    actor, workload = request.actor, board.workload
    attempt = workloads.current_attempt(workload)
    is_own = is_terminal_user(actor, workload)
    return {
        "board": board,
        "workload": workload,
        "attempt": attempt,
        "shown": list(board.shown.all()),
        "end_label": Reason(workload.reason).label if workload.reason in Reason else "",
        "is_own": is_own,
        "ready": is_own and selectors.is_ready(actor, board),
        "goes": is_own and "go" in request.GET,
        "ends_at": ends_at(board, db_now()),
        "idle_s": 60 * IDLE_MINUTES,
        "has_log": attempt is not None and attempt.handle is not None,
        "log_socket": f"/ws/logs/{workload.pk}/?rank=0&attempt={attempt.number if attempt else 1}",
        "wait": queue_card(actor, workload) if workload.status == Status.QUEUED else None,
        "cost": (
            funds.workload_cost(actor, workload_id=workload.pk) if actor.may(Permission.BILLING_VIEW_OWN) else None
        ),
    }


@requires(USE)
@require_http_methods(["GET", "POST"])
def stop(request: ActorRequest, board_id: UUID) -> HttpResponse:
    """GET: the dialog's question. POST: end it."""
    board = selectors.get(request.actor, board_id)
    if request.method == "POST":
        try:
            services.stop(request.actor, board)
        except Conflict as error:
            messages.warning(request, str(error.message))
        else:
            messages.success(request, _("Asked to end; it ends within seconds."))
        return redirect("boards:detail", board.pk)
    context = {
        "title": _("End this TensorBoard?"),
        "text": _("What it held is released, and charging stops."),
        "kept": _("The runs and their output"),
        "undo": _("Yes; it can be opened again on the same runs"),
        "action": reverse("boards:stop", args=[board.pk]),
        "button": _("End TensorBoard"),
        "cancel": _("Keep it open"),
    }
    return render(request, "components/confirm_body.html", context)


@requires(VIEW)
@require_GET
def log(request: ActorRequest, board_id: UUID) -> HttpResponseBase:
    """The whole log."""
    board = selectors.get(request.actor, board_id)
    attempt = workloads.program(workloads.current_attempt(board.workload), 0)
    return log_file(attempt, name="tensorboard.log", visible=lambda actor: selectors.get(actor, board_id))
