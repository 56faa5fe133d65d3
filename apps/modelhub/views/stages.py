"""Aliases and stages of versions: each act asks in a dialog; a refusal comes back with what was typed."""

from collections.abc import Callable
from uuid import UUID

from django import forms
from django.http import Http404, HttpResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import Question, done, say_refusal
from apps.common.pages import ask as ask_dialog
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.modelhub import selectors, stages
from apps.modelhub.forms import AliasForm, ReasonForm
from apps.modelhub.models import ModelVersion

USE = in_organisation(Permission.MODELS_USE)
VIEW = in_organisation(Permission.MODELS_VIEW)
Do = Callable[[dict[str, str]], object]


def _answer(
    request: ActorRequest, version: ModelVersion, form: forms.Form, question: Question, do: Do, words: str
) -> HttpResponse:
    if request.method == "POST" and form.is_valid():
        try:
            do(form.cleaned_data)
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, words, "models:version", version.pk)
    return ask_dialog(request, form, question)


def _question(
    version: ModelVersion, title: str, text: str, button: str, action: str, *, plain: bool = True
) -> Question:
    back = reverse("models:version", args=[version.pk])
    return Question(title, text, button, action, str(version), back, plain=plain)


@requires(USE)
@require_http_methods(["GET", "POST"])
def set_alias(request: ActorRequest, version_id: UUID) -> HttpResponse:
    version = selectors.version(request.actor, version_id)
    selectors.get_writable(request.actor, version.model_id)
    question = _question(
        version,
        _("Give %(version)s an alias") % {"version": version},
        _("Work that asks for the alias gets this version from then on."),
        _("Set the alias"),
        reverse("models:set_alias", args=[version.pk]),
    )
    form = AliasForm(request.POST if request.method == "POST" else None)

    def do(data: dict[str, str]) -> object:
        return stages.set_alias(request.actor, version, data["name"])

    return _answer(request, version, form, question, do, _("The alias names this version now."))


@requires(USE)
@require_POST
def remove_alias(request: ActorRequest, model_id: UUID, alias: str) -> HttpResponse:
    model = selectors.get(request.actor, model_id)
    try:
        stages.remove_alias(request.actor, model, alias)
    except DomainError as error:
        say_refusal(request, error)
        return done(request, "", "models:model", model.pk)
    return done(request, _("The alias is gone."), "models:model", model.pk)


@requires(USE)
@require_http_methods(["GET", "POST"])
def ask(request: ActorRequest, version_id: UUID) -> HttpResponse:
    version = selectors.version(request.actor, version_id)
    selectors.get_writable(request.actor, version.model_id)
    question = _question(
        version,
        _("Ask that %(version)s goes into production?") % {"version": version},
        _("Reviewers of your organisation are told. Once one approves, the alias production names this version."),
        _("Ask for review"),
        reverse("models:ask_production", args=[version.pk]),
    )
    form = ReasonForm(request.POST if request.method == "POST" else None)

    def do(data: dict[str, str]) -> object:
        return stages.ask(request.actor, version, reason=data["reason"])

    return _answer(request, version, form, question, do, _("It waits for review."))


_DECISIONS: dict[str, tuple[str | Promise, str | Promise, str | Promise]] = {
    "approve": (
        gettext_lazy("Put %(version)s into production?"),
        gettext_lazy("Approve"),
        gettext_lazy("The version is in production."),
    ),
    "reject": (
        gettext_lazy("Keep %(version)s out of production?"),
        gettext_lazy("Reject"),
        gettext_lazy("The version stays out of production."),
    ),
    "withdraw": (
        gettext_lazy("No longer ask for production of %(version)s?"),
        gettext_lazy("Withdraw"),
        gettext_lazy("Nobody has to decide any more."),
    ),
}


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def decide(request: ActorRequest, promotion_id: UUID, name: str) -> HttpResponse:
    """`approve`, `reject`, and for who asked `withdraw`."""
    if name not in _DECISIONS:
        raise Http404
    asked = stages.promotion(request.actor, promotion_id)
    title, button, words = _DECISIONS[name]
    question = _question(
        asked.version,
        str(title) % {"version": asked.version},
        asked.reason,
        str(button),
        reverse("models:decide", args=[asked.pk, name]),
        plain=name == "approve",
    )
    form = ReasonForm(request.POST if request.method == "POST" else None)

    def do(data: dict[str, str]) -> None:
        if name == "withdraw":
            stages.withdraw(request.actor, asked)
        else:
            stages.decide(request.actor, asked, approve=name == "approve", answer=data["reason"])

    return _answer(request, asked.version, form, question, do, str(words))
