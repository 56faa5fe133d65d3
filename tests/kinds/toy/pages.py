"""The list of toys, a toy, and its log."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect
from django.template import engines
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from apps.billing import selectors as funds
from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError
from apps.common.pages import say_refusal
from apps.common.requests import ActorRequest
from apps.workloads import selectors
from apps.workloads.replicas import page as replicas_page
from apps.workloads.replicas import selectors as sets
from tests.kinds.toy.kind import KIND, PLAY, VIEW

SEEN = in_organisation(VIEW)
LIST = """{% extends "base_shell.html" %}{% load workloads %}{% block content %}<ul>{% for toy in toys %}
<li><a href="{% url "toys:detail" toy.pk %}">{{ toy.name }}</a> {{ toy|kind_label }} {{ toy.paid_rate }}</li>
{% endfor %}</ul>{% endblock content %}"""
DETAIL = """{% extends "base_shell.html" %}{% load workloads contract pl %}{% block content %}<h1>{{ toy.name }}</h1>
{% state toy.status %}{% contract_card toy %}{% for event in events %}<p>{{ event|event_title }}</p>{% endfor %}
<p>{{ cost.exact_fen }}</p>{% include "components/log.html" with url=log_url %}{% endblock content %}"""

BAND = """{% extends "base_shell.html" %}{% block content %}<h1>{{ band.name }}</h1>
{% include "workloads/replicas.html" with log_query="?replica=" %}{% include "workloads/replica_log.html" %}
{% endblock content %}"""


@requires(SEEN)
@require_GET
def toy_list(request: ActorRequest) -> HttpResponse:
    return _page(request, LIST, {"toys": selectors.visible(request.actor, KIND)})


@requires(SEEN)
@require_GET
def detail(request: ActorRequest, workload_id: UUID) -> HttpResponse:
    toy = selectors.get(request.actor, workload_id)
    context = {
        "toy": toy,
        "events": selectors.events(toy),
        "cost": funds.workload_cost(request.actor, workload_id=toy.pk),
        "log_url": f"/ws/logs/{toy.pk}/",
    }
    return _page(request, DETAIL, context)


@requires(SEEN)
@require_GET
def log(request: ActorRequest, workload_id: UUID) -> HttpResponse:
    attempt = selectors.current_attempt(selectors.get(request.actor, workload_id))
    return HttpResponse(selectors.log_chunk(attempt).data, content_type="text/plain; charset=utf-8")


@requires(SEEN)
@require_GET
def band(request: ActorRequest, set_id: UUID) -> HttpResponse:
    found = sets.get(request.actor, set_id)
    scale_url = reverse("toys:scale-band", args=[set_id]) if request.actor.may(PLAY) else ""
    context = {"band": found, **replicas_page.context(found, request.GET.get("replica", ""), scale_url)}
    return _page(request, BAND, context)


@requires(in_organisation(PLAY))
@require_POST
def scale_band(request: ActorRequest, set_id: UUID) -> HttpResponse:
    found = sets.get(request.actor, set_id)
    try:
        replicas_page.scale_posted(request.actor, found, request.POST.get("replicas", ""))
    except DomainError as error:
        say_refusal(request, error)
    return redirect("toys:band", set_id)


def _page(request: ActorRequest, source: str, context: dict[str, object]) -> HttpResponse:
    return HttpResponse(engines["django"].from_string(source).render(context, request))
