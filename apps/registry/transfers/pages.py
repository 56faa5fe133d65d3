"""Pages of images on their way into the registry: the list, the two forms, and one with its progress."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.middleware import says_beside
from apps.common.pages import REFUSED, done, paged, say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.registry.choices import TransferStatus
from apps.registry.distribution.capacity import capacity_of
from apps.registry.distribution.client import is_configured
from apps.registry.distribution.forms import MINE, ORGANISATION
from apps.registry.models import ImageTransfer
from apps.registry.transfers import arriving, selectors, services, sources
from apps.registry.transfers.addresses import Address
from apps.registry.transfers.forms import ArchiveForm, PullForm
from apps.registry.transfers.listing import TransferFilter, TransferTable
from apps.registry.transfers.words import problem_words
from apps.storage.choices import RootKind

USE = in_organisation(Permission.IMAGES_USE)
NEW, NEW_UPLOAD = "registry/transfers/new.html", "registry/transfers/new_upload.html"


@requires(USE)
@require_GET
def pull_list(request: ActorRequest) -> HttpResponse:
    rows = selectors.transfers(request.actor)
    filtered = TransferFilter(request.GET, queryset=rows, request=request)
    table = TransferTable(filtered.qs)
    paged(request, table)
    for row in table.page.object_list:
        row.record.problem_words = problem_words(row.record)
    nothing_yet = not filtered.form.has_changed() and not table.page.object_list
    context = {"table": table, "filter": filtered, "nothing_yet": nothing_yet, "is_configured": is_configured()}
    return render(request, "registry/transfers/list.html", context)


@sensitive_post_parameters("password")
@says_beside("password")
@requires(USE)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    """`?again=` fills it in as an earlier pull was, without its password."""
    actor = request.actor
    context: dict[str, Any] = {
        "is_configured": is_configured(),
        "capacity": capacity_of(actor.organisation()),
        "hosts": sources.hosts_of(actor.organisation()),
    }
    if request.method != "POST":
        form = PullForm(actor=actor, initial=_initial(request))
        return render(request, NEW, {**context, "form": form})
    form = PullForm(request.POST, actor=actor)
    if form.is_valid():
        try:
            transfer = services.pull(actor, form.new())
        except DomainError as error:
            show_error(form, error)
        else:
            return redirect("registry:pull", transfer.pk)
    return render(request, NEW, {**context, "form": form}, status=REFUSED)


@requires(USE)
@require_http_methods(["GET", "POST"])
def new_upload(request: ActorRequest) -> HttpResponse:
    """Where the image goes; its page then takes the archive."""
    actor = request.actor
    context: dict[str, Any] = {"is_configured": is_configured(), "capacity": capacity_of(actor.organisation())}
    if request.method != "POST":
        form = ArchiveForm(actor=actor, initial=_initial(request))
        return render(request, NEW_UPLOAD, {**context, "form": form})
    form = ArchiveForm(request.POST, actor=actor)
    if form.is_valid():
        try:
            transfer = services.upload(actor, form.new())
        except DomainError as error:
            show_error(form, error)
        else:
            return redirect("registry:pull", transfer.pk)
    return render(request, NEW_UPLOAD, {**context, "form": form}, status=REFUSED)


def _initial(request: ActorRequest) -> dict[str, str]:
    try:
        before = selectors.transfer_of(request.actor, UUID(request.GET.get("again", "")))
    except (ValueError, DomainError):
        return {"address": request.GET.get("address", "")[:400]}
    rest = before.repository_name.partition("/")[2]
    of_organisation = "/" not in rest
    name = rest if of_organisation else rest.partition("/")[2]
    whose = ORGANISATION if of_organisation else MINE
    return {"address": before.source, "platform": before.platform, "name": name, "tag": before.tag, "whose": whose}


@requires(USE)
@require_GET
def pull(request: ActorRequest, pull_id: UUID) -> HttpResponse:
    return render(request, "registry/transfers/detail.html", _context(request, pull_id))


@requires(USE)
@require_GET
def now(request: ActorRequest, pull_id: UUID) -> HttpResponse:
    """Its state, for the page that shows it, until it has ended."""
    return render(request, "registry/transfers/now.html", {**_context(request, pull_id), "is_news": True})


@requires(USE)
@require_POST
def choose(request: ActorRequest, pull_id: UUID) -> HttpResponse:
    """Which image of an archive is meant."""
    try:
        services.choose(request.actor, pull_id, request.POST.get("image", ""))
    except DomainError as error:
        say_refusal(request, error)
    return redirect("registry:pull", pull_id)


@requires(USE)
@require_POST
def cancel(request: ActorRequest, pull_id: UUID) -> HttpResponse:
    try:
        services.cancel(request.actor, pull_id)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("registry:pull", pull_id)
    return done(request, _("It is cancelled."), "registry:pull", pull_id)


def _context(request: ActorRequest, pull_id: UUID) -> dict[str, Any]:
    transfer: ImageTransfer = selectors.transfer_of(request.actor, pull_id)
    arrived = transfer.status == TransferStatus.SUCCEEDED
    return {
        "transfer": transfer,
        "problem": problem_words(transfer),
        "host": "" if transfer.is_of_archive else Address.parse(transfer.source).host,
        "is_mine": transfer.owner_id == request.actor.user_id,
        "unfinished": arriving.unfinished(transfer),
        "upload_api": reverse("api-files", args=[RootKind.FOLDER, transfer.archive_id]) if transfer.archive_id else "",
        "repository_id": selectors.repository_id_of(transfer) if arrived else None,
    }
