"""What one can do with a pipeline or a run of it; what takes something away asks first."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common import pages
from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import Question, done, say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.pipelines import hooks, selectors, services, starting
from apps.pipelines.choices import Cause
from apps.pipelines.forms import StartForm
from apps.pipelines.models import Pipeline, PipelineRun
from apps.workloads.launching.form import new_key

SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)


@requires(SUBMIT)
@require_http_methods(["GET", "POST"])
def start(request: ActorRequest, pipeline_id: UUID) -> HttpResponse:
    """With the parameters that the pipeline has, or others."""
    pipeline = selectors.get(request.actor, pipeline_id)
    parameters = selectors.graph_of(selectors.newest_version(pipeline)).parameters
    form = StartForm(parameters, request.POST or None, initial={"key": new_key()})
    if request.method == "POST" and form.is_valid():
        asked = starting.Start(cause=Cause.HAND, key=form.cleaned_data["key"], parameters=form.values())
        try:
            return redirect("pipelines:run", starting.start(request.actor, pipeline, asked).pk)
        except DomainError as error:
            show_error(form, error)
    words = _("Each step is charged as any run, with your rights, quota and balance of the moment in which it starts.")
    question = Question(
        title=_("Start %(name)s") % {"name": pipeline.name},
        text=words,
        button=_("Start"),
        action=reverse("pipelines:start", args=[pipeline.pk]),
        back=pipeline.name,
        back_url=reverse("pipelines:detail", args=[pipeline.pk]),
        plain=True,
    )
    return pages.ask(request, form, question)


def _delete_question(pipeline: Pipeline) -> dict[str, Any]:
    return {
        "title": _("Delete %(name)s?") % {"name": pipeline.name},
        "lost": _("The pipeline with its versions, schedules and webhook; nothing starts it any more"),
        "kept": _("The training runs of its steps, and what they cost"),
        "undo": _("No"),
        "button": _("Delete pipeline"),
        "cancel": _("Keep it"),
    }


def _hook_question(pipeline: Pipeline) -> dict[str, Any]:
    return {
        "title": _("Make a new webhook token?"),
        "text": _("It is shown once. Whoever has it can start this pipeline, at your cost."),
        "lost": _("The token that there is: what uses it cannot start the pipeline any more")
        if pipeline.hook_digest
        else "",
        "undo": _("No; the token can be taken away at any time"),
        "button": _("Make a token"),
        "plain": True,
    }


def _unhook_question(pipeline: Pipeline) -> dict[str, Any]:
    return {
        "title": _("Take the webhook token away?"),
        "lost": _("Whatever uses it cannot start the pipeline any more"),
        "undo": _("No; a new token can be made"),
        "button": _("Take it away"),
        "cancel": _("Keep it"),
    }


QUESTIONS: Mapping[str, Callable[[Pipeline], dict[str, Any]]] = {
    "delete": _delete_question,
    "hook": _hook_question,
    "unhook": _unhook_question,
}


@requires(SUBMIT)
@require_GET
def ask(request: ActorRequest, pipeline_id: UUID, name: str) -> HttpResponse:
    """The confirmation, for the page's dialog."""
    pipeline = selectors.get(request.actor, pipeline_id)
    if name not in QUESTIONS:
        raise Http404
    action = reverse("pipelines:act", args=[pipeline.pk, name])
    return render(request, "components/confirm_body.html", {**QUESTIONS[name](pipeline), "action": action})


@requires(SUBMIT)
@require_POST
def act(request: ActorRequest, pipeline_id: UUID, name: str) -> HttpResponse:
    """`delete`, `hook` or `unhook`."""
    pipeline = selectors.get(request.actor, pipeline_id)
    try:
        if name == "delete":
            services.delete(request.actor, pipeline)
            return done(request, _("%(name)s is deleted.") % {"name": pipeline.name}, "pipelines:list")
        if name == "hook":
            return _show_token(request, pipeline, hooks.rotate(request.actor, pipeline))
        if name == "unhook":
            hooks.revoke(request.actor, pipeline)
            return done(request, _("The token is taken away."), "pipelines:detail", pipeline.pk)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("pipelines:detail", pipeline.pk)
    raise Http404


def _show_token(request: ActorRequest, pipeline: Pipeline, token: str) -> HttpResponse:
    """Shown once, in the answer itself: nothing keeps it."""
    url = request.build_absolute_uri(reverse("api-pipeline-hook", args=[pipeline.pk]))
    response = render(request, "pipelines/hook.html", {"pipeline": pipeline, "token": token, "hook_url": url})
    response.headers["Cache-Control"] = "no-store"
    return response


def _stop_question(row: PipelineRun) -> dict[str, Any]:
    return {
        "title": _("Stop %(name)s #%(number)s?") % {"name": row.pipeline.name, "number": row.number},
        "text": _("The steps that run are asked to save and end; no other one is started."),
        "lost": _("What their programs have not written by then"),
        "kept": _("What its steps have done so far"),
        "undo": _("It can be run again from the steps that are not done"),
        "button": _("Stop the pipeline"),
        "cancel": _("Let it run"),
    }


@requires(SUBMIT)
@require_GET
def ask_run(request: ActorRequest, pipeline_run_id: UUID, name: str) -> HttpResponse:
    """The confirmation of `stop`."""
    row = selectors.get_run(request.actor, pipeline_run_id)
    if name != "stop":
        raise Http404
    action = reverse("pipelines:act_run", args=[row.pk, name])
    return render(request, "components/confirm_body.html", {**_stop_question(row), "action": action})


@requires(SUBMIT)
@require_POST
def act_run(request: ActorRequest, pipeline_run_id: UUID, name: str) -> HttpResponse:
    """`stop`, or `again`: from what did not succeed, or from the posted `step`."""
    row = selectors.get_run(request.actor, pipeline_run_id)
    try:
        if name == "stop":
            starting.stop(request.actor, row)
            return done(request, _("Asked to stop; its steps end within seconds."), "pipelines:run", row.pk)
        if name == "again":
            starting.run_again(request.actor, row, step=request.POST.get("step", ""))
            return done(request, _("It runs again."), "pipelines:run", row.pk)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("pipelines:run", row.pk)
    raise Http404
