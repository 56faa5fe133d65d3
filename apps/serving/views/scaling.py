"""That a service follows its load, and between how many replicas."""

from functools import partial
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.common.access import requires
from apps.common.actor import Actor
from apps.common.formatting import sentences
from apps.common.requests import ActorRequest
from apps.serving import selectors
from apps.serving.forms import ScalingForm
from apps.serving.models import Service
from apps.serving.scaling import bounds
from apps.serving.views.acts import ask_and_do, carry_out, dialog, rate_of
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
    return ask_and_do(
        request,
        service,
        "follow",
        form,
        lambda: bounds.follow(request.actor, service.pk, form.bounds()),
        _("Its number of replicas follows the load."),
        title=_("Let %(name)s follow its load?") % {"name": service.name},
        text=_text(request.actor, service),
        button=_("Follow the load"),
    )


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
