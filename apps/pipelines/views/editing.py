"""Making a pipeline and changing it: the form, also from a file."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.automl.search.exchange.fields import LARGEST
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import DomainError, Invalid
from apps.common.files import attachment
from apps.common.pages import REFUSED, done, say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.pipelines import exchange, selectors, services
from apps.pipelines.forms import PipelineForm, initial_of, rows_like
from apps.pipelines.models import Pipeline
from apps.pipelines.rows import empty_row
from apps.training import selectors as training
from apps.workloads.launching.form import new_key

SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)
OFFERED_RUNS = 100


@requires(SUBMIT)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    """GET: `?run=` which run the first step is like, or `?like=` another pipeline. POST: make it."""
    actor = request.actor
    if request.method != "POST":
        return render(request, "pipelines/form.html", _page(actor, _first_form(actor, request)))
    form = PipelineForm(actor, request.POST)
    if form.is_valid():
        draft = form.draft()
        if not form.has_row_errors:
            try:
                made = services.create(actor, draft, key=form.cleaned_data["key"])
                return done(request, _("%(name)s can be started.") % {"name": made.name}, "pipelines:detail", made.pk)
            except DomainError as error:
                form.show(error)
    return render(request, "pipelines/form.html", _page(actor, form), status=REFUSED)


def _first_form(actor: Actor, request: ActorRequest) -> PipelineForm:
    like = _uuid(request.GET.get("like", ""))
    if like is not None:
        before = selectors.get(actor, like)
        version = selectors.newest_version(before)
        initial = {**initial_of(before, version), "name": "", "key": new_key()}
        return PipelineForm(actor, initial=initial, **rows_like(selectors.graph_of(version)))
    run = request.GET.get("run", "")
    return PipelineForm(actor, initial={"key": new_key()}, rows=[empty_row(run)] if _uuid(run) else None)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


@requires(SUBMIT)
@require_http_methods(["GET", "POST"])
def edit(request: ActorRequest, pipeline_id: UUID) -> HttpResponse:
    """Another graph is a new version."""
    actor = request.actor
    pipeline = selectors.get(actor, pipeline_id)
    version = selectors.newest_version(pipeline)
    if request.method != "POST":
        initial = {**initial_of(pipeline, version), "key": new_key()}
        form = PipelineForm(actor, initial=initial, **rows_like(selectors.graph_of(version)))
        return render(request, "pipelines/form.html", _page(actor, form, pipeline))
    form = PipelineForm(actor, request.POST)
    if form.is_valid():
        draft = form.draft()
        if not form.has_row_errors:
            try:
                services.change(actor, pipeline, draft)
                return done(request, _("Saved."), "pipelines:detail", pipeline.pk)
            except DomainError as error:
                form.show(error)
    return render(request, "pipelines/form.html", _page(actor, form, pipeline), status=REFUSED)


@requires(SUBMIT)
@require_POST
def read_file(request: ActorRequest) -> HttpResponse:
    """The form of a new pipeline with what the file says; nothing is made."""
    try:
        found = exchange.read(_content(request))
    except DomainError as error:
        say_refusal(request, error)
        return redirect("pipelines:new")
    initial = {**found.initial, "key": new_key()}
    form = PipelineForm(request.actor, initial=initial, **rows_like(found.graph))
    return render(request, "pipelines/form.html", {**_page(request.actor, form), "ignored": found.ignored})


def _content(request: ActorRequest) -> bytes:
    """Raises `Invalid`."""
    file = request.FILES.get("file")
    if file is None:
        raise Invalid.field("file", _("Choose a file."))
    content: bytes = file.read(LARGEST + 1)
    return content


@requires(in_organisation(Permission.TRAINING_VIEW))
@require_GET
def file(request: ActorRequest, pipeline_id: UUID) -> HttpResponse:
    """The newest version as YAML."""
    pipeline = selectors.get(request.actor, pipeline_id)
    content = exchange.write(pipeline, selectors.newest_version(pipeline)).encode()
    return attachment(content, f"{pipeline.name}.yaml", "application/yaml")


def _page(actor: Actor, form: PipelineForm, pipeline: Pipeline | None = None) -> dict[str, Any]:
    """Everything around the form."""
    return {
        "form": form,
        "pipeline": pipeline,
        "rows": form.rows or [empty_row()],
        "empty": empty_row(),
        "runs": _offered(actor, form),
        "action": reverse("pipelines:edit", args=[pipeline.pk]) if pipeline else reverse("pipelines:new"),
        "cancel_url": reverse("pipelines:detail", args=[pipeline.pk]) if pipeline else reverse("pipelines:list"),
    }


def _offered(actor: Actor, form: PipelineForm) -> list[tuple[str, str]]:
    """The newest runs to choose from, those that were chosen always among them. Steps of pipelines are like others."""
    rows = training.runs(actor)
    plain = rows.filter(trial_of__isnull=True, step_of__isnull=True, archived_at__isnull=True)[:OFFERED_RUNS]
    chosen = rows.filter(pk__in=[each for row in form.rows if (each := _uuid(row.typed["template"]))])
    found = {str(each.pk): each for each in (*chosen, *plain)}
    return [(pk, f"{each.name} v{each.version} · {each.workload.get_status_display()}") for pk, each in found.items()]
