"""One service: how it is, trying it, its updates, and the log of each replica."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_GET, require_http_methods

from apps.common.access import requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.middleware import says_beside
from apps.common.pages import REFUSED
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.modelhub.showing import facts
from apps.serving import example_bodies, keys, selectors, snippets, trying, usage
from apps.serving.choices import DeploymentStatus
from apps.serving.door.addresses import origin
from apps.serving.forms import AskForm
from apps.serving.models import Deployment, Service
from apps.serving.scaling import bounds, loads
from apps.serving.views.lists import VIEW
from apps.workloads.replicas import page as replica_page

MOST_UPDATES = 100


def page(request: ActorRequest, service: Service, tab: str, **more: Any) -> dict[str, Any]:
    """What every page of a service shows."""
    actor, state = request.actor, selectors.state(service)
    rows: list[Deployment] = service.open  # type: ignore[attr-defined]
    opened: Mapping[str, Deployment] = {each.status: each for each in rows}
    return {
        "service": service,
        "state": state,
        "address": origin(service.host),
        "active": opened.get(DeploymentStatus.ACTIVE),
        "coming": opened.get(DeploymentStatus.PREPARING),
        "may_change": selectors.is_managed_by(actor, service),
        "tab": tab,
        "tabs": _tabs(service, tab),
        **more,
    }


def _tabs(service: Service, tab: str) -> list[dict[str, Any]]:
    counts = {"keys": keys.live(keys.keys(service)).count(), "history": selectors.deployments(service).count()}
    words = {
        "detail": _("Overview"),
        "test": pgettext("page of a service", "Try it"),
        "keys": pgettext("of a service", "Keys"),
        "history": _("Updates"),
        "log": _("Log"),
    }
    return [
        {
            "label": label,
            "url": reverse(f"serving:{name}", args=[service.pk]),
            "current": name == tab,
            "count": counts.get(name, 0),
        }
        for name, label in words.items()
    ]


def _overview(request: ActorRequest, service_id: UUID) -> dict[str, Any]:
    service = selectors.get(request.actor, service_id)
    context = page(request, service, "detail")
    shown: Deployment | None = context["active"] or context["coming"]
    if shown is not None:
        by_hand = context["may_change"] and bounds.of(service) is None
        scale_url = reverse("serving:scale", args=[service.pk]) if by_hand else ""
        context |= replica_page.context(shown.replica_set, "", scale_url)
        context["health"] = selectors.health_by_replica(shown.replica_set)
        context["log_query"] = f"{reverse('serving:log', args=[service.pk])}?replica="
    context |= {
        "hour": usage.lately(service),
        "scaling": bounds.of(service),
        "in_flight": loads.of([service.pk]).get(service.pk, 0.0),
        "minutes": usage.minutes(service),
        "newest": selectors.deployments(service).first(),
        "newest_version": selectors.versions(service).first(),
    }
    return context


@requires(VIEW)
@require_GET
def overview(request: ActorRequest, service_id: UUID) -> HttpResponse:
    return render(request, "serving/detail.html", _overview(request, service_id))


@requires(VIEW)
@require_GET
def now(request: ActorRequest, service_id: UUID) -> HttpResponse:
    """What changes of the overview."""
    return render(request, "serving/parts/now.html", _overview(request, service_id))


@says_beside("body")
@requires(VIEW)
@require_http_methods(["GET", "POST"])
def test(request: ActorRequest, service_id: UUID) -> HttpResponse:
    """Send a request to a replica and show the answer; with what a program says to do the same."""
    service = selectors.get(request.actor, service_id)
    model = selectors.model_served(service)
    body = example_bodies.body_for(model)
    form = AskForm(request.POST or None, initial={"body": example_bodies.as_text(body)})
    context = page(
        request,
        service,
        "test",
        form=form,
        snippets=snippets.for_service(service, body),
        signature=facts.signature_rows(model) if model else [],
    )
    if request.method != "POST" or not form.is_valid():
        return render(request, "serving/test.html", context, status=REFUSED if request.method == "POST" else 200)
    try:
        request.actor.require(Permission.SERVICES_USE)
        context["tried"] = trying.post(request.actor, service, form.cleaned_data["path"], form.cleaned_data["body"])
        context["answer"] = snippets.readable(context["tried"].answer)
    except DomainError as error:
        show_error(form, error)
        return render(request, "serving/test.html", context, status=REFUSED)
    return render(request, "serving/test.html", context)


@requires(VIEW)
@require_GET
def history(request: ActorRequest, service_id: UUID) -> HttpResponse:
    """Every deployment, newest first; each version can be started again from here."""
    service = selectors.get(request.actor, service_id)
    rows = list(selectors.deployments(service)[:MOST_UPDATES])
    return render(request, "serving/history.html", page(request, service, "history", rows=rows))


@requires(VIEW)
@require_GET
def version(request: ActorRequest, service_id: UUID, service_version_id: UUID) -> HttpResponse:
    """What one version runs."""
    service = selectors.get(request.actor, service_id)
    found = selectors.version(service, service_version_id)
    return render(request, "serving/version.html", page(request, service, "history", version=found))


@requires(VIEW)
@require_GET
def log(request: ActorRequest, service_id: UUID) -> HttpResponse:
    """Of one replica: `?replica=` its number, `?coming=1` of the version that gets ready."""
    service = selectors.get(request.actor, service_id)
    context = page(request, service, "log")
    coming = request.GET.get("coming") == "1" and context["coming"] is not None
    shown: Deployment | None = context["coming"] if coming else context["active"] or context["coming"]
    if shown is not None:
        context |= replica_page.context(shown.replica_set, request.GET.get("replica", ""))
        context["log_query"] = f"{reverse('serving:log', args=[service.pk])}?{'coming=1&' if coming else ''}replica="
        context["shown"] = shown
    return render(request, "serving/log.html", context)
