"""Pages of shares: the card on a repository's page with its dialogs, and the list of what an organisation receives."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import DomainError, NotFound
from apps.common.forms import show_error
from apps.common.pages import Question, ask, done, paged
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.registry.distribution.selectors import is_ours, may_change
from apps.registry.models import ImageRepository
from apps.registry.sharing import rights, selectors, services
from apps.registry.sharing.choices import ShareState
from apps.registry.sharing.forms import ShareForm
from apps.registry.sharing.listing import ReceivedFilter, ReceivedTable, with_states
from apps.tenants.models import Organisation

USE = in_organisation(Permission.IMAGES_USE)
MANAGE = in_organisation(Permission.IMAGES_MANAGE)


def card(actor: Actor, repository: ImageRepository) -> dict[str, Any]:
    """What a repository's page says of its shares: to who may share it, and to who receives it."""
    if not is_ours(actor, repository):
        return {"received": selectors.share_under(actor, repository), "may_manage": actor.may(Permission.IMAGES_MANAGE)}
    if not may_change(actor, repository):
        return {}
    shares, allowed = with_states(list(selectors.shares_of(repository))), rights.is_allowed()
    return {"shares": shares, "sharing_allowed": allowed} if shares or allowed else {}


def losing_words(repository: ImageRepository) -> str:
    """Who else loses it when it is deleted; "" for nobody."""
    count = selectors.shares_of(repository).count()
    told = ngettext(
        "%(count)s other organisation can use it no more", "%(count)s other organisations can use it no more", count
    )
    return told % {"count": count} if count else ""


@requires(USE)
@require_GET
def received_shares(request: ActorRequest) -> HttpResponse:
    filtered = ReceivedFilter(request.GET, queryset=selectors.received_shares(request.actor), request=request)
    table = ReceivedTable(filtered.qs)
    table.may_manage = request.actor.may(Permission.IMAGES_MANAGE)
    paged(request, table)
    with_states([row.record for row in table.page.object_list])
    slug = Organisation.objects.values_list("slug", flat=True).get(pk=request.actor.organisation())
    context = {"table": table, "filter": filtered, "sharing_allowed": rights.is_allowed(), "organisation_slug": slug}
    return render(request, "registry/sharing/received.html", context)


@requires(USE)
@require_http_methods(["GET", "POST"])
def share(request: ActorRequest, repository_id: UUID) -> HttpResponse:
    """GET: the dialog's form. POST: share it."""
    repository = selectors.shareable(request.actor, repository_id)
    form = ShareForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            made = services.share(request.actor, repository_id, form.new())
        except NotFound:
            raise
        except DomainError as error:
            show_error(form, error)
        else:
            told = _("%(organisation)s can use %(name)s now.")
            names = {"organisation": made.receiver.name, "name": repository.name}
            return done(request, told % names, "registry:repository", repository.pk)
    question = Question(
        title=_("Share with another organisation"),
        text=_(
            "Everybody there may pull its images and start work in them, and nothing else. What is pushed to it later "
            "is shared, too."
        ),
        button=_("Share it"),
        action=reverse("registry:share_outside", args=[repository.pk]),
        back=repository.name,
        back_url=reverse("registry:repository", args=[repository.pk]),
        plain=True,
    )
    return ask(request, form, question)


@requires(USE)
@require_http_methods(["GET", "POST"])
def take_back(request: ActorRequest, repository_id: UUID, share_id: UUID) -> HttpResponse:
    """GET: the dialog's question. POST: take it back."""
    found = services.share_of(selectors.shareable(request.actor, repository_id), share_id)
    if request.method == "POST":
        services.take_back(request.actor, repository_id, share_id)
        told = _("%(name)s is no longer shared with %(organisation)s.")
        names = {"name": found.repository.name, "organisation": found.receiver.name}
        return done(request, told % names, "registry:repository", repository_id)
    context = {
        "title": _("Stop sharing with %(organisation)s?") % {"organisation": found.receiver.name},
        "text": found.repository.name,
        "lost": _("They can neither pull it nor choose it; what waits there does not start"),
        "kept": _("What runs there goes on, and copies that they have made stay theirs"),
        "undo": _("Yes, by sharing it again"),
        "action": reverse("registry:take_back_share", args=[repository_id, share_id]),
        "button": _("Stop sharing"),
    }
    return render(request, "components/confirm_body.html", context)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def decline(request: ActorRequest, share_id: UUID) -> HttpResponse:
    """GET: the dialog's question. POST: decline it."""
    found = selectors.received_share(request.actor, share_id)
    if request.method == "POST":
        services.decline(request.actor, share_id)
        return done(request, _("%(name)s is declined.") % {"name": found.repository.name}, "registry:received_shares")
    context = {
        "title": _("Decline %(name)s?") % {"name": found.repository.name},
        "text": _("Nobody in your organisation sees it or uses it any more. %(organisation)s is told.")
        % {"organisation": found.repository.organisation.name},
        "lost": _("Its images in lists and forms; what waits does not start"),
        "kept": _("What runs goes on"),
        "undo": _("Yes, as long as it is shared"),
        "action": reverse("registry:decline_share", args=[share_id]),
        "button": _("Decline"),
    }
    return render(request, "components/confirm_body.html", context)


@requires(MANAGE)
@require_POST
def accept(request: ActorRequest, share_id: UUID) -> HttpResponse:
    found = services.accept(request.actor, share_id)
    told = _("%(name)s is accepted.")
    if selectors.state_of(found) is ShareState.ACTIVE:
        told = _("%(name)s can be used by everybody in the organisation.")
    return done(request, told % {"name": found.repository.name}, "registry:received_shares")
