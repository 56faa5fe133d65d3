"""That a service follows its load, and between how many replicas."""

from functools import partial
from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.common.access import requires
from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.formatting import sentences
from apps.common.forms import show_error
from apps.common.pages import Question, ask, done
from apps.common.requests import ActorRequest
from apps.serving import selectors
from apps.serving.forms import ScalingForm
from apps.serving.models import Service
from apps.serving.scaling import bounds
from apps.serving.views.acts import carry_out, dialog, rate_of
from apps.serving.views.create import USE


def _initial(service: Service) -> dict[str, int]:
    found = bounds.of(service)
    if found is not None:
        return {name: getattr(found, name) for name in ("least", "most", "target", "patience_min")}
    newest = selectors.versions(service).first()
    return {
        "least": 1,
        "most": max(2, service.replicas),
        "target": newest.at_a_time if newest else 1,
        "patience_min": bounds.DEFAULT_PATIENCE_MIN,
    }


def _text(actor: Actor, service: Service) -> str:
    words = _("Replicas are added at once when they are needed, within the quota and the balance.")
    rate = rate_of(actor, service, 1)
    return sentences(words, _("Each costs %(rate)s.") % {"rate": rate} if rate else "")


@requires(USE)
@require_http_methods(["GET", "POST"])
def follow(request: ActorRequest, service_id: UUID) -> HttpResponse:
    service = selectors.get(request.actor, service_id)
    form = ScalingForm(request.POST if request.method == "POST" else None, initial=_initial(service))
    if form.is_valid():
        try:
            bounds.follow(request.actor, service.pk, form.bounds())
            return done(request, _("Its number of replicas follows the load."), "serving:detail", service.pk)
        except DomainError as error:
            show_error(form, error)
    question = Question(
        title=_("Let %(name)s follow its load?") % {"name": service.name},
        text=_text(request.actor, service),
        button=_("Follow the load"),
        action=reverse("serving:follow", args=[service.pk]),
        back=service.name,
        back_url=reverse("serving:detail", args=[service.pk]),
        plain=True,
    )
    return ask(request, form, question)


@requires(USE)
@require_http_methods(["GET", "POST"])
def unfollow(request: ActorRequest, service_id: UUID) -> HttpResponse:
    service = selectors.get(request.actor, service_id)
    if request.method != "POST":
        return dialog(
            request,
            service,
            "unfollow",
            title=_("Fix the number of replicas?"),
            text=_("It keeps the number that it has now, whatever is asked of it."),
            undo=_("Yes: it can follow the load again"),
            button=_("Fix the number"),
            plain=True,
        )
    return carry_out(
        request, service, partial(bounds.unfollow, request.actor, service.pk), _("Its number of replicas is fixed.")
    )
