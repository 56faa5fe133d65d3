"""Keys of a service, and of the organisation's own address: the same acts, `service` None for the address."""

from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from apps.common.access import requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import Question, ask
from apps.common.requests import ActorRequest
from apps.serving import keys, model_names, selectors, snippets, usage
from apps.serving.choices import GATEWAY
from apps.serving.example_bodies import body_for
from apps.serving.key_forms import GatewayKeyForm, KeyForm, RotateForm
from apps.serving.models import Service, ServiceKey
from apps.serving.views.create import USE
from apps.serving.views.detail import page
from apps.serving.views.lists import VIEW

ENDED_SHOWN = 20
MODEL = "model-name"


@requires(VIEW)
@require_GET
def key_list(request: ActorRequest, service_id: UUID) -> HttpResponse:
    """Live keys with what they asked within a day, and the last ones that ended."""
    service = selectors.get(request.actor, service_id)
    rows, used = keys.keys(service), usage.by_key(service)
    alive, ended = shown(rows, service)
    for key in alive:
        key.use = used.get(key.pk, usage.NOTHING)  # type: ignore[attr-defined]
    return render(request, "serving/keys.html", page(request, service, "keys", live=alive, ended=ended))


def shown(rows: QuerySet[ServiceKey], service: Service | None) -> tuple[list[ServiceKey], list[ServiceKey]]:
    """Live ones with the addresses of what can be done with each, and the last ones that ended."""
    alive = list(keys.live(rows))
    for key in alive:
        key.rotate_url = _url(service, "key_rotate", key.pk)  # type: ignore[attr-defined]
        key.revoke_url = _url(service, "key_revoke", key.pk)  # type: ignore[attr-defined]
    return alive, list(rows.exclude(pk__in=[key.pk for key in alive])[:ENDED_SHOWN])


def _url(service: Service | None, act: str, *args: UUID) -> str:
    if service is not None:
        return reverse(f"serving:{act}", args=[service.pk, *args])
    return reverse("serving:gateway" if act == "keys" else f"serving:gateway_{act}", args=args)


def _named(request: ActorRequest, service_id: UUID | None) -> Service | None:
    return selectors.get(request.actor, service_id) if service_id else None


@requires(USE)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest, service_id: UUID | None = None) -> HttpResponse:
    service = _named(request, service_id)
    form = (KeyForm if service else GatewayKeyForm)(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            key, secret = keys.create(request.actor, service, form.draft())
            return _made(request, service, key, secret)
        except DomainError as error:
            show_error(form, error)
    return ask(request, form, _question(service, _("New key"), "", _("Create"), "key_new"))


@requires(USE)
@require_http_methods(["GET", "POST"])
def rotate(request: ActorRequest, service_key_id: UUID, service_id: UUID | None = None) -> HttpResponse:
    service = _named(request, service_id)
    form = RotateForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            overlap_h = form.cleaned_data["overlap_h"]
            key, secret = keys.rotate(request.actor, service, service_key_id, overlap_h=overlap_h)
            return _made(request, service, key, secret)
        except DomainError as error:
            show_error(form, error)
    text = _("A new key of the same name and limits takes its place.")
    return ask(request, form, _question(service, _("Rotate the key"), text, _("Rotate"), "key_rotate", service_key_id))


def _question(service: Service | None, title: str, text: str, button: str, act: str, *args: UUID) -> Question:
    return Question(
        title=title,
        text=text,
        button=button,
        action=_url(service, act, *args),
        back=service.name if service else str(GATEWAY),
        back_url=_url(service, "keys"),
        plain=True,
    )


def _made(request: ActorRequest, service: Service | None, key: ServiceKey, secret: str) -> HttpResponse:
    """The secret is in this one response only: not in the session, not in a cache, nowhere else."""
    if service is not None:
        curl, *_rest = snippets.for_service(service, body_for(selectors.model_served(service)))
    else:
        given = [row.name for row in model_names.names(request.actor)]
        named = next((name for name in given if not key.model_names or name in key.model_names), MODEL)
        curl, *_rest = snippets.for_address(key.organisation_id, named)
    context = {"key": key, "secret": secret, "example": curl.text.replace(f"${snippets.KEY}", secret)}
    context["keys_url"] = _url(service, "keys")
    if service is not None:
        context |= page(request, service, "keys")
    response = render(request, f"serving/{'key_made' if service else 'gateway_key_made'}.html", context)
    response.headers["Cache-Control"] = "no-store"
    return response


@requires(USE)
@require_http_methods(["GET", "POST"])
def revoke(request: ActorRequest, service_key_id: UUID, service_id: UUID | None = None) -> HttpResponse:
    service = _named(request, service_id)
    if request.method != "POST":
        words = {
            "title": _("Revoke the key?"),
            "text": _("Programs that use it are refused within seconds."),
            "kept": _("What was counted of it"),
            "undo": _("No; make another one"),
            "button": _("Revoke"),
            "action": _url(service, "key_revoke", service_key_id),
        }
        return render(request, "components/confirm_body.html", words)
    key = keys.revoke(request.actor, service, service_key_id)
    messages.success(request, _("The key “%(name)s” lets nobody in any more.") % {"name": key.name})
    return redirect(_url(service, "keys"))
