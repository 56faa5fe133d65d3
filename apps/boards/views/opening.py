"""Opening TensorBoard: what it would show and cost, and the start."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.boards import selectors, services
from apps.boards.choices import IDLE_MINUTES, KIND
from apps.boards.models import Board
from apps.boards.program import labels
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError, Invalid, NotFound
from apps.common.pages import REFUSED, say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.training.models import Run
from apps.workloads.offers import quotecard
from apps.workloads.offers.quoting import contract_on, offer

USE = in_organisation(Permission.TRAINING_SUBMIT)


@requires(USE)
@require_POST
def choose(request: ActorRequest) -> HttpResponse:
    """From the rows that were ticked in the list of runs, `id`, to the page about them."""
    try:
        if request.POST.get("all"):
            raise Invalid.field("runs", _("Tick the runs one by one: one TensorBoard shows only a few."))
        chosen = selectors.chosen_runs(request.actor, _ids(request.POST.getlist("id")))
    except Invalid as error:
        say_refusal(request, error)
        return redirect("training:list")
    return redirect(f"{reverse('boards:new')}?{urlencode([('run', run.pk) for run in chosen])}")


@requires(USE)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    """GET: the runs `?run=`, the price and the button; what is open already is gone to. POST: open it."""
    actor = request.actor
    chosen = selectors.chosen_runs(actor, _ids((request.POST or request.GET).getlist("run")))
    if request.method != "POST":
        found = selectors.open_on(actor, chosen)
        return go_to(found) if found else render(request, "boards/new.html", _page(actor, chosen))
    try:
        return go_to(services.open_board(actor, [run.pk for run in chosen]).board)
    except DomainError as error:
        return render(request, "boards/new.html", _page(actor, chosen, error), status=REFUSED)


def go_to(board: Board) -> HttpResponse:
    """To its page, which goes on to TensorBoard as soon as that answers: forms may lead to this site alone."""
    return redirect(f"{reverse('boards:detail', args=[board.pk])}?go=1")


def _ids(texts: list[str]) -> list[UUID]:
    try:
        return [UUID(text) for text in texts]
    except ValueError as error:
        raise NotFound from error


def _page(actor: Actor, chosen: list[Run], error: DomainError | None = None) -> dict[str, Any]:
    context = {
        "runs": list(zip(labels(chosen), chosen, strict=True)),
        "error": error,
        "idle_s": 60 * IDLE_MINUTES,
        "longest_s": services.longest_s(actor),
    }
    try:
        package = selectors.package_for(actor)
    except Conflict as refusal:
        return {**context, "error": error or refusal}
    card = quotecard.card(actor, offer(actor, package, kind=KIND))
    contract = contract_on(actor, package, preemptible=True)
    return {**context, "quote": {**card, "label": _("What it costs"), "icon": "chart-line"}, "contract": contract}
