"""The organisation's own address, where models have names: who answers to which, its keys, what was asked."""

from uuid import UUID

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import Question, ask, done
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.serving import keys, model_names, selectors, snippets, usage
from apps.serving.choices import GATEWAY
from apps.serving.door.addresses import label_of_organisation, origin
from apps.serving.key_forms import NameForm
from apps.serving.models import ModelName
from apps.serving.views import keys as key_views
from apps.serving.views.create import USE
from apps.serving.views.lists import VIEW

OFFERED_SERVICES = 200
MANAGE = in_organisation(Permission.SERVICES_MANAGE_ALL)


@requires(VIEW)
@require_GET
def gateway(request: ActorRequest) -> HttpResponse:
    actor = request.actor
    by_key, by_service = usage.at_address(actor)
    rows = _with_states(actor, list(model_names.names(actor)))
    for row in rows:
        row.use = by_service.get(row.service_id)  # type: ignore[attr-defined]
    may_make_keys = actor.may(Permission.SERVICES_MANAGE_ALL)
    alive, ended = key_views.shown(keys.keys_of_address(actor), None) if may_make_keys else ([], [])
    for key in alive:
        key.use = by_key.get(key.pk, usage.Tokens())  # type: ignore[attr-defined]
    context = {
        "address": f"{origin(label_of_organisation(actor.organisation()))}/v1",
        "names": rows,
        "live": alive,
        "ended": ended,
        "may_make_keys": may_make_keys,
        "may_change": may_make_keys,
        "snippets": snippets.for_address(actor.organisation(), rows[0].name if rows else key_views.MODEL),
    }
    return render(request, "serving/gateway.html", context)


def _with_states(actor: Actor, rows: list[ModelName]) -> list[ModelName]:
    """Whoever may not see a service sees its name and whether it answers."""
    named = selectors.with_open().filter(model_names__in=rows).distinct()
    states = selectors.states(list(named))
    seen = set(selectors.services(actor).filter(model_names__in=rows).values_list("pk", flat=True))
    for row in rows:
        row.state = states[row.service_id]  # type: ignore[attr-defined]
        row.is_seen = row.service_id in seen  # type: ignore[attr-defined]
        row.may_take_back = selectors.is_managed_by(actor, row.service)  # type: ignore[attr-defined]
    return rows


@requires(USE)
@require_http_methods(["GET", "POST"])
def name_new(request: ActorRequest) -> HttpResponse:
    """`?service=` begins with that service."""
    actor = request.actor
    form = NameForm(
        request.POST if request.method == "POST" else None, initial={"service": request.GET.get("service", "")}
    )
    form.offer(selectors.services(actor)[:OFFERED_SERVICES], [row.name for row in model_names.names(actor)])
    if form.is_valid():
        try:
            made = model_names.give(actor, form.cleaned_data["service"], form.draft())
            return done(request, _("“%(name)s” answers within seconds.") % {"name": made.name}, "serving:gateway")
        except DomainError as error:
            show_error(form, error)
    question = Question(
        title=_("Give a service a name"),
        text=_("Programs with a key of the gateway reach it by this name."),
        button=_("Give the name"),
        action=reverse("serving:gateway_name_new"),
        back=str(GATEWAY),
        back_url=reverse("serving:gateway"),
        plain=True,
    )
    return ask(request, form, question)


@requires(USE)
@require_http_methods(["GET", "POST"])
def name_take_back(request: ActorRequest, model_name_id: UUID) -> HttpResponse:
    if request.method != "POST":
        words = {
            "title": _("Take the name back?"),
            "text": _("Programs that ask for it are refused within seconds."),
            "kept": _("The service, its own address and keys"),
            "undo": _("Yes: give it again"),
            "button": _("Take back"),
            "action": reverse("serving:gateway_name_take_back", args=[model_name_id]),
        }
        return render(request, "components/confirm_body.html", words)
    name = model_names.take_back(request.actor, model_name_id)
    return done(request, _("“%(name)s” answers nobody any more.") % {"name": name}, "serving:gateway")


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def key_new(request: ActorRequest) -> HttpResponseBase:
    return key_views.new(request)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def key_rotate(request: ActorRequest, gateway_key_id: UUID) -> HttpResponseBase:
    return key_views.rotate(request, gateway_key_id)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def key_revoke(request: ActorRequest, gateway_key_id: UUID) -> HttpResponseBase:
    return key_views.revoke(request, gateway_key_id)
