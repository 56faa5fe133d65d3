"""An operator's word that a card has been reset, after which its faults keep no work away any more."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.clusters import selectors as clusters
from apps.clusters import services
from apps.common.access import on_platform, requires
from apps.common.errors import DomainError, NotFound
from apps.common.pages import done, say_refusal
from apps.common.permissions import Permission as P
from apps.console.kit.requests import StaffRequest


@requires(on_platform(P.PLATFORM_NODES_MANAGE))
@require_http_methods(["GET", "POST"])
def reset(request: StaffRequest, card_id: UUID) -> HttpResponse:
    """GET: the question for the dialog."""
    if request.method != "POST":
        return _question(request, card_id)
    try:
        card = services.confirm_reset(request.actor, card_id=card_id)
    except NotFound:
        raise
    except DomainError as error:
        say_refusal(request, error)
        return redirect(f"{reverse('console:accelerators')}?card={card_id}")
    words = (
        _("Card %(index)s of %(node)s takes work again.")
        if card.healthy
        else _("Noted. Card %(index)s of %(node)s still takes no work, for another reason.")
    )
    response = done(request, words % {"index": card.index, "node": card.node.name}, "console:accelerators")
    response["Location"] += f"?card={card_id}"
    return response


def _question(request: StaffRequest, card_id: UUID) -> HttpResponse:
    card = clusters.card(request.actor, card_id)
    context = {
        "title": _("Has card %(index)s of %(node)s been reset?") % {"index": card.index, "node": card.node.name},
        "text": _(
            "Its faults so far keep no work away any more, and work starts on it within seconds. A fault that comes "
            "after this takes it out again. The platform resets nothing by itself; a restart of the machine needs no "
            "word."
        ),
        "kept": _("What is recorded of its faults"),
        "action": reverse("console:accelerator_reset", args=[card.pk]),
        "button": _("It was reset"),
        "plain": True,
    }
    return render(request, "components/confirm_body.html", context)
