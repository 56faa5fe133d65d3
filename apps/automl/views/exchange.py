"""Experiments from files, and as files."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.automl import exchange, selectors
from apps.automl.forms import ExperimentForm
from apps.automl.search.exchange.fields import LARGEST
from apps.automl.views.new import page
from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError, Invalid, NotFound
from apps.common.files import attachment
from apps.common.pages import say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.training import selectors as training
from apps.workloads.launching.form import new_key


@requires(in_organisation(Permission.TRAINING_SUBMIT))
@require_POST
def read_katib(request: ActorRequest) -> HttpResponse:
    """The form of a new experiment with what the file says; nothing is started."""
    try:
        imported = exchange.read_katib(_content(request))
    except DomainError as error:
        say_refusal(request, error)
        return redirect("tuning:new")
    run = _run(request)
    initial = {**imported.initial, "key": new_key(), "run": run}
    form = ExperimentForm(initial=initial, rows=imported.rows)
    return render(request, "tuning/new.html", {**page(request.actor, form), "ignored": imported.ignored})


def _content(request: ActorRequest) -> bytes:
    """Raises `Invalid`."""
    file = request.FILES.get("file")
    if file is None:
        raise Invalid.field("file", _("Choose a file."))
    content: bytes = file.read(LARGEST + 1)
    return content


def _run(request: ActorRequest) -> UUID | None:
    try:
        return training.get(request.actor, UUID(request.POST.get("run", ""))).pk
    except (ValueError, NotFound):
        latest = training.latest(request.actor)
        return latest.pk if latest else None


@requires(in_organisation(Permission.TRAINING_VIEW))
@require_GET
def katib(request: ActorRequest, experiment_id: UUID) -> HttpResponse:
    experiment = selectors.get(request.actor, experiment_id)
    content = exchange.write_katib(experiment).encode()
    return attachment(content, f"{experiment.name}.yaml", "application/yaml")


@requires(in_organisation(Permission.TRAINING_VIEW))
@require_GET
def study(request: ActorRequest, experiment_id: UUID) -> HttpResponse:
    experiment = selectors.get(request.actor, experiment_id)
    return attachment(exchange.study_file(experiment), f"{experiment.name}.db", "application/vnd.sqlite3")
