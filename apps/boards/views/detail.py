"""The list of boards, one board on its way to the browser, its log and its end."""

from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.boards import selectors, services
from apps.boards.choices import IDLE_MINUTES
from apps.boards.models import Board
from apps.boards.reconcile.ending import ends_at
from apps.boards.tables import BoardFilter, BoardTable
from apps.common.access import in_organisation
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.workloads.choices import Reason
from apps.workloads.permissions import is_terminal_user
from apps.workloads.single_workload.pages import WorkPages


class BoardPages(WorkPages[Board]):
    """With `?go=1` a board's page leads on to TensorBoard as soon as that answers."""

    room, called = "boards", "board"
    view, use = in_organisation(Permission.TRAINING_VIEW), in_organisation(Permission.TRAINING_SUBMIT)
    table, filters = BoardTable, BoardFilter

    def rows(self, actor: Actor) -> QuerySet[Board]:
        return selectors.boards(actor)

    def stop(self, actor: Actor, row: Board) -> None:
        services.stop(actor, row)

    def about(self, request: ActorRequest, row: Board) -> dict[str, Any]:
        actor, workload = request.actor, row.workload
        is_own = is_terminal_user(actor, workload)
        return {
            "shown": list(row.shown.all()),
            "end_label": Reason(workload.reason).label if workload.reason in Reason else "",
            "is_own": is_own,
            "ready": is_own and selectors.is_ready(actor, row),
            "goes": is_own and "go" in request.GET,
            "ends_at": ends_at(row, db_now()),
            "idle_s": 60 * IDLE_MINUTES,
        }

    def leads_to(self, row: Board, context: dict[str, Any]) -> str:
        return reverse("open_workload", args=[row.workload_id]) if context["goes"] and context["ready"] else ""

    def end_question(self, row: Board) -> dict[str, Any]:
        return {
            "title": _("End this TensorBoard?"),
            "text": _("What it held is released, and charging stops."),
            "kept": _("The runs and their output"),
            "undo": _("Yes; it can be opened again on the same runs"),
            "button": _("End TensorBoard"),
            "cancel": _("Keep it open"),
            "asked": _("Asked to end; it ends within seconds."),
        }

    def log_name(self, row: Board) -> str:
        return "tensorboard.log"
