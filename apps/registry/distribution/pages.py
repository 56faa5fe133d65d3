"""Pages of repositories: what there is, how to push and pull, who uses what, and deleting it."""

from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError
from apps.common.pages import done, paged, say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.registry.distribution import deleting, downloading, selectors, services, uses
from apps.registry.distribution.capacity import capacity_of
from apps.registry.distribution.client import is_configured
from apps.registry.distribution.listing import RepositoryFilter, RepositoryTable
from apps.registry.distribution.names import own_part
from apps.registry.saving.showing import origins_of
from apps.registry.scanning.verdicts import known_by_digest
from apps.registry.sharing import pages as sharing
from apps.tenants.models import User

USE = in_organisation(Permission.IMAGES_USE)
SHOWN_TAGS = SHOWN_VERSIONS = 200
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
    used = uses.shown_of(request.actor, found, deleting.uses_of_repository(found))
    versions = list(selectors.versions(found)[:SHOWN_VERSIONS])
    by_digest = selectors.by_version(found, used)
    for version in versions:
        version.needed = by_digest.get(version.digest, [])  # type: ignore[attr-defined]
    origins = origins_of(request.actor, [each.digest for each in versions])
    for version in versions:
        version.origin = origins.get(version.digest)  # type: ignore[attr-defined]
    known = known_by_digest(
        request.actor.organisation(), {*(tag.manifest.digest for tag in tags), *(each.digest for each in versions)}
    )
    context = {
        "repository": found,
        "host": settings.REGISTRY_HOST,
        "tags": [(tag, known[tag.manifest.digest]) for tag in tags],
        "versions": [(version, known[version.digest]) for version in versions],
        "more_versions": selectors.versions(found).count() - len(versions),
        "uses": used[:SHOWN_USES],
        "may_change": selectors.may_change(request.actor, found),
        "may_share": found.owner_id == request.actor.user_id and selectors.is_ours(request.actor, found),
        **sharing.card(request.actor, found),
        "commands": _commands(request, found.name, tags[0].name if tags else "1"),
    }
    return render(request, "registry/repository.html", context)


@requires(USE)
@require_GET
def download_tag(request: ActorRequest, tag_id: UUID) -> HttpResponseBase:
    """`?platform=` of an image for several; all of it without."""
    tag = downloading.tag_to_pull(request.actor, tag_id)
    return downloading.response(request.actor, tag, request.GET.get("platform", ""))


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
    tag = deleting.tag_of(request.actor, tag_id)
    if request.method == "POST":
        try:
            deleting.delete_tag(request.actor, tag_id)
        except DomainError as error:
            say_refusal(request, error)
            return redirect("registry:repository", tag.repository_id)
        return done(request, _("The tag %(name)s is deleted.") % {"name": tag.name}, "registry:repositories")
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


@requires(USE)
@require_http_methods(["GET", "POST"])
def delete_version(request: ActorRequest, repository_id: UUID, digest: str) -> HttpResponse:
    """GET: the dialog's question. POST: delete it."""
    version = deleting.version_of(request.actor, repository_id, digest)
    if request.method == "POST":
        try:
            deleting.delete_version(request.actor, repository_id, digest)
        except DomainError as error:
            say_refusal(request, error)
            return redirect("registry:repository", repository_id)
        return done(request, _("The version is deleted."), "registry:repositories")
    tags = ", ".join(sorted(version.tags.values_list("name", flat=True)))
    context = {
        "title": _("Delete this version?"),
        "text": version.digest,
        "lost": _("The image with its tags: %(tags)s") % {"tags": tags} if tags else _("The image; no tag leads to it"),
        "kept": _("Layers that other images have too; the room of all others is free after the next collection"),
        "undo": _("No; whoever has the image can push it again"),
        "action": reverse("registry:delete_version", args=[repository_id, digest]),
        "button": _("Delete the version"),
    }
    return render(request, "components/confirm_body.html", context)


@requires(USE)
@require_http_methods(["GET", "POST"])
def delete_repository(request: ActorRequest, repository_id: UUID) -> HttpResponse:
    """GET: the dialog's question. POST: delete it."""
    found = deleting.changeable(request.actor, repository_id)
    if request.method == "POST":
        try:
            deleting.delete_repository(request.actor, repository_id)
        except DomainError as error:
            say_refusal(request, error)
            return redirect("registry:repository", repository_id)
        return done(request, _("%(name)s is deleted.") % {"name": found.name}, "registry:repositories")
    versions, tags = found.manifests.count(), found.tags.count()
    counted = ngettext("%(count)s version", "%(count)s versions", versions) % {"count": versions}
    context = {
        "title": _("Delete the repository %(name)s?") % {"name": found.name},
        "text": _("Nothing can be pulled from it any more, and its images can be chosen no more."),
        "lost": _("%(versions)s and all tags (%(tags)s)") % {"versions": counted, "tags": tags},
        "lost_sub": sharing.losing_words(found),
        "undo": _("No; whoever has the images can push them again"),
        "action": reverse("registry:delete_repository", args=[found.pk]),
        "button": _("Delete the repository"),
        "must_equal": found.name,
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
