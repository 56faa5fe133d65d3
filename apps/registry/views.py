"""Images: the platform's, those that colleagues share, and one's own, which can be shared and removed."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import in_organisation, requires
from apps.common.pages import paged
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.registry import selectors, services
from apps.registry.facts import facts_of
from apps.registry.picker import is_installed
from apps.registry.recipes.catalogue import to_build
from apps.registry.recipes.recipe import containerfile_of
from apps.registry.saving.showing import kept_of, origin_of
from apps.registry.scanning import pages as scanning
from apps.registry.scanning import verdicts
from apps.registry.tables import ImageFilter, ImageTable

USE = in_organisation(Permission.IMAGES_USE)


@requires(USE)
@require_GET
def image_list(request: ActorRequest) -> HttpResponse:
    filtered = ImageFilter(request.GET, queryset=selectors.images_own_first(request.actor), request=request)
    table = ImageTable(filtered.qs)
    paged(request, table)
    shown = [row.record for row in table.page.object_list]
    table.facts, table.known = facts_of(shown), verdicts.known_of(request.actor.organisation_id, shown)
    asked = filtered.form.cleaned_data if filtered.form.is_valid() else {}
    recipes = to_build(asked.get("q", "")) if asked.get("whose") in ("", "platform") else ()
    return render(request, "registry/list.html", {"table": table, "filter": filtered, "recipes": recipes})


@requires(USE)
@require_GET
def detail(request: ActorRequest, image_id: UUID) -> HttpResponse:
    image = selectors.get(request.actor, image_id)
    facts = facts_of([image])[image.pk]
    recipe = facts.recipe
    context = {
        "image": image,
        "facts": facts,
        "installed": is_installed(image),
        **scanning.card(request.actor, image),
        "origin": origin_of(request.actor, image),
        **kept_of(request.actor, image),
        "containerfile": recipe.containerfile() if recipe else containerfile_of(image.requirements),
    }
    return render(request, "registry/detail.html", context)


@requires(USE)
@require_POST
def share(request: ActorRequest, image_id: UUID) -> HttpResponse:
    """`shared=1` shares it with everybody in the organisation; otherwise sharing ends."""
    image = services.get_own(request.actor, image_id)
    shared = request.POST.get("shared") == "1"
    services.share(request.actor, image, shared=shared)
    told = (
        _("%(name)s can be used by everybody in the organisation.") if shared else _("%(name)s is yours alone again.")
    )
    messages.success(request, told % {"name": image.name})
    return redirect("registry:list")


@requires(USE)
@require_http_methods(["GET", "POST"])
def remove(request: ActorRequest, image_id: UUID) -> HttpResponse:
    """GET: the dialog's question. POST: remove it from the picker."""
    image = services.get_own(request.actor, image_id)
    if request.method == "POST":
        services.remove(request.actor, image)
        messages.success(request, _("%(name)s is gone from the images.") % {"name": image.name})
        return redirect("registry:list")
    context = {
        "title": _("Remove the image %(name)s?") % {"name": image.name},
        "text": _("It can no longer be chosen."),
        "kept": _("Environments and runs that use it already go on with it"),
        "undo": _("No; it can be saved again from an environment"),
        "action": reverse("registry:remove", args=[image.pk]),
        "button": _("Remove"),
    }
    return render(request, "components/confirm_body.html", context)
