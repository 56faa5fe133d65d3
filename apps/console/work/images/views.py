"""Images: the platform's, which its administrators write, and those that people keep."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from apps.common.access import on_platform, requires
from apps.common.errors import DomainError, NotFound
from apps.common.forms import show_error
from apps.common.pages import done, paged, refused, say_refusal
from apps.common.permissions import Permission as P
from apps.console.kit.requests import StaffRequest
from apps.console.work.images import selectors
from apps.console.work.images.forms import ImageForm, initial_of
from apps.console.work.images.listing import ImageFilter, ImageTable, UseTable
from apps.registry import ruling
from apps.registry.facts import facts_of

MANAGE = on_platform(P.PLATFORM_IMAGES_MANAGE)
FORM = "console/images/form.html"


@requires(MANAGE)
@require_GET
def image_list(request: StaffRequest) -> HttpResponse:
    everything = selectors.with_uses(ruling.all_images(request.actor))
    filtered = ImageFilter(request.GET, queryset=everything, request=request)
    table = ImageTable(filtered.qs)
    paged(request, table)
    table.facts = facts_of(row.record for row in table.page.object_list)
    return render(request, "console/images/list.html", {"table": table, "filter": filtered})


@requires(MANAGE)
@require_GET
def detail(request: StaffRequest, image_id: UUID) -> HttpResponse:
    image = ruling.get(request.actor, image_id)
    table = paged(request, UseTable(selectors.uses(request.actor, image)))
    context = {"image": image, "table": table, "facts": facts_of([image])[image.pk]}
    return render(request, "console/images/detail.html", context)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def new(request: StaffRequest) -> HttpResponse:
    form = ImageForm(request.POST or None)
    if request.method != "POST":
        return render(request, FORM, {"form": form})
    if form.is_valid():
        try:
            image = ruling.create(request.actor, form.spec())
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("%(name)s was added.") % {"name": image.name}, "console:image", image.pk)
    return refused(request, FORM, {"form": form})


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def edit(request: StaffRequest, image_id: UUID) -> HttpResponse:
    """Of the platform's alone: what is in a personal one is its owner's."""
    image = ruling.get(request.actor, image_id)
    if image.organisation_id is not None:
        raise NotFound
    form = ImageForm(request.POST or None, initial=initial_of(image))
    context = {"form": form, "image": image}
    if request.method != "POST":
        return render(request, FORM, context)
    if form.is_valid():
        try:
            ruling.update(request.actor, image_id, form.spec())
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("The image was changed."), "console:image", image_id)
    return refused(request, FORM, context)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def withdraw(request: StaffRequest, image_id: UUID) -> HttpResponse:
    """GET: the question for the dialog. POST: a personal image, out of every picker."""
    image = ruling.get(request.actor, image_id)
    if image.organisation_id is None:
        raise NotFound
    if request.method != "POST":
        context = {
            "title": _("Withdraw the image %(name)s?") % {"name": image.name},
            "text": _("Neither its owner nor their colleagues can choose it any more."),
            "kept": _("Environments and runs that use it already go on with it"),
            "undo": _("No; its owner can save it again from an environment"),
            "action": reverse("console:image_withdraw", args=[image.pk]),
            "button": _("Withdraw"),
        }
        return render(request, "components/confirm_body.html", context)
    try:
        ruling.withdraw(request.actor, image_id)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("console:image", image_id)
    return done(request, _("%(name)s is withdrawn.") % {"name": image.name}, "console:image", image_id)
