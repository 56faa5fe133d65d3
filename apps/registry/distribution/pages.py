"""Pages of repositories: what there is, how to push and pull, who uses what, and the end of a tag."""

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError
from apps.common.pages import done, paged
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.registry.distribution import selectors, services, uses
from apps.registry.distribution.capacity import capacity_of
from apps.registry.distribution.client import is_configured
from apps.registry.distribution.listing import RepositoryFilter, RepositoryTable
from apps.registry.distribution.names import own_part
from apps.tenants.models import User

USE = in_organisation(Permission.IMAGES_USE)
SHOWN_TAGS = 200
SHOWN_USES = 50


@requires(USE)
@require_GET
def repository_list(request: ActorRequest) -> HttpResponse:
    actor = request.actor
    filtered = RepositoryFilter(request.GET, queryset=selectors.repositories(actor), request=request)
    table = RepositoryTable(filtered.qs)
    paged(request, table)
    organisation, person = own_part(actor.person(), actor.organisation())
    context = {
        "table": table,
        "filter": filtered,
        "capacity": capacity_of(actor.organisation()),
        "is_configured": is_configured(),
        "commands": _commands(request, f"{organisation}/{person}/my-image", "1"),
    }
    return render(request, "registry/repositories.html", context)


@requires(USE)
@require_GET
def repository(request: ActorRequest, repository_id: UUID) -> HttpResponse:
    found = selectors.repository_of(request.actor, repository_id)
    tags = list(selectors.tags(found)[:SHOWN_TAGS])
    named = {tag.manifest.digest: tag.name for tag in reversed(tags)}
    users = list(uses.live_uses(found)[:SHOWN_USES])
    for workload in users:
        workload.image_tag = named.get(workload.spec["image"]["digest"], "")  # type: ignore[attr-defined]
    context = {
        "repository": found,
        "host": settings.REGISTRY_HOST,
        "tags": tags,
        "uses": users,
        "may_change": selectors.may_change(request.actor, found),
        "may_share": found.owner_id is not None and found.owner_id == request.actor.user_id,
        "commands": _commands(request, found.name, tags[0].name if tags else "1"),
    }
    return render(request, "registry/repository.html", context)


@requires(USE)
@require_POST
def share_repository(request: ActorRequest, repository_id: UUID) -> HttpResponse:
    """`shared=1` lets everybody in the organisation pull it; otherwise that ends."""
    found = services.share(request.actor, repository_id, shared=request.POST.get("shared") == "1")
    told = _("%(name)s is yours alone again.")
    if found.shared:
        told = _("%(name)s can be used by everybody in the organisation.")
    return done(request, told % {"name": found.name}, "registry:repository", found.pk)


@requires(USE)
@require_http_methods(["GET", "POST"])
def delete_tag(request: ActorRequest, tag_id: UUID) -> HttpResponse:
    """GET: the dialog's question. POST: delete it."""
    tag = services.tag_of(request.actor, tag_id)
    if request.method == "POST":
        try:
            services.delete_tag(request.actor, tag_id)
        except DomainError as error:
            messages.error(request, error.sentences)
            return redirect("registry:repository", tag.repository_id)
        messages.success(request, _("The tag %(name)s is deleted.") % {"name": tag.name})
        return redirect("registry:repositories")
    context = {
        "title": _("Delete the tag %(name)s?") % {"name": f"{tag.repository.name}:{tag.name}"},
        "text": _("It can be neither pulled nor chosen by this name any more."),
        "lost": _("The image, unless another tag leads to it"),
        "kept": _("What runs in it goes on, and an image that a run's passport names stays"),
        "undo": _("No; whoever has the image can push it again"),
        "action": reverse("registry:delete_tag", args=[tag.pk]),
        "button": _("Delete the tag"),
    }
    return render(request, "components/confirm_body.html", context)


def _commands(request: ActorRequest, name: str, tag: str) -> dict[str, str]:
    """What one types into a shell, with one's own names."""
    host = settings.REGISTRY_HOST
    username = User.objects.values_list("username", flat=True).get(pk=request.actor.person())
    full = f"{host}/{name}:{tag}"
    return {
        "login": f"docker login {host} -u {username}",
        "push": f"docker tag my-image {full}\ndocker push {full}",
        "pull": f"docker pull {full}",
    }
