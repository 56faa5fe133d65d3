"""The page of a recipe that is no runtime: what is in it, its Containerfile, and the way to a build of it."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.common.access import in_organisation, requires
from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.registry.recipes.catalogue import find


@requires(in_organisation(Permission.IMAGES_USE))
@require_GET
def recipe(request: ActorRequest, key: str) -> HttpResponse:
    """Those that are runtimes have the page of their image, which administrators may have changed."""
    found = find(key)
    if found is None or found.is_runtime:
        raise NotFound
    context = {"recipe": found, "containerfile": found.containerfile()}
    return render(request, "registry/recipe.html", context)
