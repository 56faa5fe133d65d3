"""What one can do with an experiment or a trial: each asks first, in a dialog that names what follows."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.automl import adopting, selectors, services
from apps.automl.forms import ChangeForm, GoOnForm
from apps.automl.models import Experiment, Trial
from apps.common import pages
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import Question, done, say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.training.placing import text_of
from apps.workloads.launching.form import new_key
from apps.workloads.offers.cap_quote import yuan_text

SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)


def _stop_question(experiment: Experiment) -> dict[str, Any]:
    return {
        "title": _("Stop %(name)s?") % {"name": experiment.name},
        "text": _("The trials that run are asked to save and end; no other one is started."),
        "lost": _("What their programs have not written by then"),
        "kept": _("All trials with their runs, metrics and outputs"),
        "undo": _("No; unless it is final, more trials can be added afterwards"),
        "button": _("Stop experiment"),
        "cancel": _("Keep searching"),
    }


def _delete_question(experiment: Experiment) -> dict[str, Any]:
    return {
        "title": _("Delete %(name)s?") % {"name": experiment.name},
        "lost": _("The experiment: its space, its charts and what the search knows"),
        "kept": _("The runs of its trials, and what they cost"),
        "undo": _("No"),
        "button": _("Delete experiment"),
        "cancel": _("Keep it"),
    }


QUESTIONS: Mapping[str, Callable[[Experiment], dict[str, Any]]] = {"stop": _stop_question, "delete": _delete_question}


@requires(SUBMIT)
@require_GET
def ask(request: ActorRequest, experiment_id: UUID, name: str) -> HttpResponse:
    """The confirmation of `stop` or `delete`, for the page's dialog."""
    experiment = selectors.get(request.actor, experiment_id)
    if name not in QUESTIONS:
        raise Http404
    action = reverse("tuning:act", args=[experiment.pk, name])
    return render(request, "components/confirm_body.html", {**QUESTIONS[name](experiment), "action": action})


def _pause(actor: Actor, experiment: Experiment) -> str:
    services.pause(actor, experiment, paused=True)
    return _("No new trials for now; those that run go on.")


def _unpause(actor: Actor, experiment: Experiment) -> str:
    services.pause(actor, experiment, paused=False)
    return _("New trials are started again.")


def _stop(actor: Actor, experiment: Experiment) -> str:
    services.stop(actor, experiment)
    return _("Asked to stop; its trials end within seconds.")


ACTS: Mapping[str, Callable[[Actor, Experiment], str]] = {"stop": _stop, "pause": _pause, "unpause": _unpause}


@requires(SUBMIT)
@require_POST
def act(request: ActorRequest, experiment_id: UUID, name: str) -> HttpResponse:
    """`stop`, `pause`, `unpause` or `delete`."""
    experiment = selectors.get(request.actor, experiment_id)
    try:
        if name == "delete":
            services.delete(request.actor, experiment)
            return done(request, _("%(name)s is deleted.") % {"name": experiment.name}, "tuning:list")
        if name not in ACTS:
            raise Http404
        return done(request, ACTS[name](request.actor, experiment), "tuning:detail", experiment.pk)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("tuning:detail", experiment.pk)


@requires(SUBMIT)
@require_http_methods(["GET", "POST"])
def change(request: ActorRequest, experiment_id: UUID) -> HttpResponse:
    """How wide and how long it searches."""
    experiment = selectors.get(request.actor, experiment_id)
    initial = {name: getattr(experiment, name) for name in ("parallel", "most_trials", "most_failed")}
    form = ChangeForm(request.POST or None, initial={**initial, "budget": yuan_text(experiment.budget_fen)})
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            services.change(
                request.actor,
                experiment,
                **{name: data[name] for name in ("parallel", "most_trials", "most_failed")},
                budget_fen=data["budget"],
            )
            return done(request, _("Changed; it counts from now on."), "tuning:detail", experiment.pk)
        except DomainError as error:
            show_error(form, error)
    text = _("What has been tried stays. Fewer at a time stops nobody: those that run go on.")
    return pages.ask(
        request, form, _question(experiment, _("Change the experiment"), text, _("Change"), "tuning:change")
    )


@requires(SUBMIT)
@require_http_methods(["GET", "POST"])
def go_on(request: ActorRequest, experiment_id: UUID) -> HttpResponse:
    """More trials of one that has ended."""
    experiment = selectors.get(request.actor, experiment_id)
    form = GoOnForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            services.go_on(request.actor, experiment, more=form.cleaned_data["more"])
            return done(request, _("It goes on."), "tuning:detail", experiment.pk)
        except DomainError as error:
            show_error(form, error)
    text = _("The search goes on from all that it has tried, at today's price.")
    return pages.ask(request, form, _question(experiment, _("Go on searching"), text, _("Go on"), "tuning:go_on"))


def _question(experiment: Experiment, title: str, text: str, button: str, to: str) -> Question:
    return Question(
        title=title,
        text=text,
        button=button,
        action=reverse(to, args=[experiment.pk]),
        back=experiment.name,
        back_url=reverse("tuning:detail", args=[experiment.pk]),
        plain=True,
    )


@requires(SUBMIT)
@require_GET
def ask_trial(request: ActorRequest, experiment_id: UUID, number: int, name: str) -> HttpResponse:
    """The confirmation of `stop` or `adopt`."""
    trial = selectors.trial(request.actor, experiment_id, number)
    if name not in ("stop", "adopt"):
        raise Http404
    question = _stop_trial_question(trial) if name == "stop" else _adopt_question(request.actor, trial)
    action = reverse("tuning:act_trial", args=[experiment_id, number, name])
    return render(request, "components/confirm_body.html", {**question, "action": action})


def _stop_trial_question(trial: Trial) -> dict[str, Any]:
    return {
        "title": _("Give up trial %(number)s?") % {"number": trial.number},
        "text": _("Its run is stopped, and another point is tried in its place. It counts as one of the trials."),
        "kept": _("Its run, metrics and outputs so far"),
        "undo": _("No"),
        "button": _("Give up"),
        "cancel": _("Let it run"),
    }


def _adopt_question(actor: Actor, trial: Trial) -> dict[str, Any]:
    run = trial.experiment.template
    values = ", ".join(f"{name} = {text_of(value)}" for name, value in trial.values.items())
    words = {"name": run.name, "version": adopting.next_version(run), "values": values}
    return {
        "title": _("Run %(name)s v%(version)s with these values?") % words,
        "text": _("%(values)s. Everything else is as in the run that was tuned; it is charged as any run.") % words,
        "button": _("Start it"),
        "fields_html": adopting.key_field(new_key()),
        "plain": True,
    }


@requires(SUBMIT)
@require_POST
def act_trial(request: ActorRequest, experiment_id: UUID, number: int, name: str) -> HttpResponse:
    trial = selectors.trial(request.actor, experiment_id, number)
    try:
        if name == "stop":
            services.stop_trial(request.actor, trial)
            return done(request, _("Asked to stop; it ends within seconds."), "tuning:detail", experiment_id)
        if name == "adopt":
            run = adopting.adopt(request.actor, trial, key=request.POST.get("key", ""))
            return redirect("training:detail", run.pk)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("tuning:detail", experiment_id)
    raise Http404
