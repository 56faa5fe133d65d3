"""Acts on a service: start a version, scale, stop, withdraw, change, delete."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.billing.prices.own import own_terms
from apps.common.access import requires
from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.money import yuan_rate
from apps.common.pages import Question, ask, done, say_refusal
from apps.common.requests import ActorRequest
from apps.serving import changing, selectors, services
from apps.serving.forms import SettingsForm
from apps.serving.models import Service
from apps.serving.views.create import USE
from apps.workloads.launching.form import new_key
from apps.workloads.launching.request import Launch
from apps.workloads.launching.submission import packages_on_offer


def dialog(request: ActorRequest, service: Service, act: str, *args: UUID, **words: Any) -> HttpResponse:
    action = reverse(f"serving:{act}", args=[service.pk, *args])
    return render(request, "components/confirm_body.html", {"action": action, **words})


def carry_out(request: ActorRequest, service: Service, do: Callable[[], object], words: str) -> HttpResponse:
    """Back to the service's page, with the words or with those of a refusal."""
    try:
        do()
    except DomainError as error:
        say_refusal(request, error)
        return redirect("serving:detail", service.pk)
    return done(request, words, "serving:detail", service.pk)


def ask_and_do(
    request: ActorRequest, service: Service, act: str, form: Form, do: Callable[[], object], words: str, **asked: str
) -> HttpResponse:
    """Ask with the form; once it is valid and carried out, back to the service's page with the words."""
    if form.is_valid():
        try:
            do()
            return done(request, words, "serving:detail", service.pk)
        except DomainError as error:
            show_error(form, error)
    question = Question(
        action=reverse(f"serving:{act}", args=[service.pk]),
        back=service.name,
        back_url=reverse("serving:detail", args=[service.pk]),
        plain=True,
        **asked,
    )
    return ask(request, form, question)


@requires(USE)
@require_http_methods(["GET", "POST"])
def deploy(request: ActorRequest, service_id: UUID, service_version_id: UUID) -> HttpResponse:
    """Start a version that there is: after a stop, or to go back to it."""
    service = selectors.get(request.actor, service_id)
    version = selectors.version(service, service_version_id)
    if request.method != "POST":
        return dialog(
            request,
            service,
            "deploy",
            version.pk,
            title=_("Start version %(version)s of %(name)s?") % {"version": version.number, "name": service.name},
            text=_("It gets ready beside what serves, and takes over once its health check passes."),
            kept=_("What serves now, until the other one is ready; no request is lost."),
            undo=_("Yes: start the version of before again"),
            lost=_costs(request.actor, service),
            fields_html=render_to_string("serving/parts/key.html", {"key": new_key()}, request),
            button=_("Start version %(version)s") % {"version": version.number},
            plain=True,
        )
    launch = Launch(
        name=service.name,
        image_id=version.image_id,
        package_id=service.package_id,
        key=request.POST.get("key", "")[:64] or new_key(),
    )
    return carry_out(
        request,
        service,
        partial(services.deploy, request.actor, service.pk, version.pk, launch, service.replicas),
        _("Version %(version)s gets ready.") % {"version": version.number},
    )


def _costs(actor: Actor, service: Service) -> str:
    """By the hour, of all replicas together."""
    rate = rate_of(actor, service, service.replicas)
    if not rate:
        return _("Its package is no longer on offer: update the service and choose another one.")
    words = {"count": service.replicas, "package": service.package.name(get_language() or ""), "rate": rate}
    return _("Nothing; %(count)s × %(package)s cost %(rate)s") % words


def rate_of(actor: Actor, service: Service, count: int) -> str:
    """What so many replicas cost by the hour; empty where their package is no longer on offer."""
    package = packages_on_offer(actor).filter(pk=service.package_id).first()
    if package is None or package.price is None:
        return ""
    return yuan_rate(own_terms(actor).rate(package.price.rate_fen_per_hour) * count)


@requires(USE)
@require_POST
def scale(request: ActorRequest, service_id: UUID) -> HttpResponse:
    service = selectors.get(request.actor, service_id)
    text = request.POST.get("replicas", "")
    wanted = int(text) if text.isascii() and text.isdigit() and len(text) <= 3 else 0
    words = _("%(count)s replicas are wanted now.") % {"count": wanted}
    return carry_out(request, service, partial(services.scale, request.actor, service.pk, wanted), words)


@requires(USE)
@require_http_methods(["GET", "POST"])
def stop(request: ActorRequest, service_id: UUID) -> HttpResponse:
    service = selectors.get(request.actor, service_id)
    if request.method != "POST":
        return dialog(
            request,
            service,
            "stop",
            title=_("Stop %(name)s?") % {"name": service.name},
            text=_(
                "Its address answers that it is stopped. Requests that have begun are finished, then charging ends."
            ),
            kept=_("The address, the keys, and every version"),
            undo=_("Yes: any version can be started again"),
            button=_("Stop the service"),
        )
    stopping = partial(services.stop, request.actor, service.pk)
    return carry_out(request, service, stopping, _("It finishes its requests and stops."))


@requires(USE)
@require_http_methods(["GET", "POST"])
def withdraw(request: ActorRequest, service_id: UUID) -> HttpResponse:
    service = selectors.get(request.actor, service_id)
    if request.method != "POST":
        return dialog(
            request,
            service,
            "withdraw",
            title=_("Withdraw the version that gets ready?"),
            text=_("Its replicas end, and charging for them stops."),
            kept=_("What serves now; no request is lost."),
            undo=_("Yes: it can be started again"),
            button=_("Withdraw it"),
        )
    return carry_out(request, service, partial(services.withdraw, request.actor, service.pk), _("It is withdrawn."))


@requires(USE)
@require_http_methods(["GET", "POST"])
def settings(request: ActorRequest, service_id: UUID) -> HttpResponse:
    service = selectors.get(request.actor, service_id)
    initial = {
        "note": service.note,
        "cors_origins": "\n".join(service.cors_origins),
        "stops_at": service.stops_at,
        "back_at_percent": service.back_at_percent,
    }
    form = SettingsForm(request.POST if request.method == "POST" else None, initial=initial)
    return ask_and_do(
        request,
        service,
        "settings",
        form,
        lambda: changing.change(request.actor, service.pk, form.settings()),
        _("The settings are saved."),
        title=_("Settings of %(name)s") % {"name": service.name},
        text=_("They take effect within seconds; nothing is restarted."),
        button=_("Save"),
    )


@requires(USE)
@require_http_methods(["GET", "POST"])
def delete(request: ActorRequest, service_id: UUID) -> HttpResponse:
    service = selectors.get(request.actor, service_id)
    if request.method != "POST":
        return dialog(
            request,
            service,
            "delete",
            title=_("Delete %(name)s?") % {"name": service.name},
            text=_("Its address answers nobody any more."),
            lost=_("The address, all keys, and every version"),
            kept=_("Bills and the operation log"),
            undo=_("No"),
            button=_("Delete the service"),
            must_equal=service.name,
        )
    try:
        changing.delete(request.actor, service.pk)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("serving:detail", service.pk)
    return done(request, _("%(name)s is deleted.") % {"name": service.name}, "serving:list")
