"""Emptying the organisation's cache of build steps."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.builds.cache import emptying
from apps.common.access import in_organisation, requires
from apps.common.formatting import file_size
from apps.common.pages import done
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest


@requires(in_organisation(Permission.IMAGES_MANAGE))
@require_http_methods(["GET", "POST"])
def empty(request: ActorRequest) -> HttpResponse:
    """GET: the dialog's question. POST: empty it."""
    if request.method == "POST":
        held = emptying.empty(request.actor)
        told = _("The build cache is empty; %(size)s are freed within minutes.")
        return done(request, told % {"size": file_size(held.used)}, "builds:list")
    held = emptying.use_of(request.actor)
    context = {
        "title": _("Empty the build cache?"),
        "text": _("The next builds of everybody in the organisation carry out all of their steps, and take longer."),
        "lost": _("What %(count)s steps have made: %(size)s") % {"count": held.steps, "size": file_size(held.used)},
        "kept": _("All images, and builds that are queued or running"),
        "undo": _("No; it fills again with the next builds"),
        "action": reverse("builds:empty_cache"),
        "button": _("Empty the cache"),
    }
    return render(request, "components/confirm_body.html", context)
