"""Pages of image savings: the list, cancelling one, and sending images that machines keep."""

from http import HTTPStatus
from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import REFUSED, paged, say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest, safe_return
from apps.registry.distribution.capacity import capacity_of
from apps.registry.distribution.client import is_configured
from apps.registry.saving import selectors, services
from apps.registry.saving.forms import SavingForm
from apps.registry.saving.listing import SavingFilter, SavingTable
from apps.registry.saving.showing import shown

USE = in_organisation(Permission.IMAGES_USE)
NAMED = 10


@requires(USE)
@require_GET
def saving_list(request: ActorRequest) -> HttpResponse:
    filtered = SavingFilter(request.GET, queryset=selectors.savings(request.actor), request=request)
    table = SavingTable(filtered.qs)
    paged(request, table)
    rows = [row.record for row in table.page.object_list]
    for each in shown(request.actor, rows):
        each.saving.shown = each  # type: ignore[attr-defined]
    nothing_yet = not filtered.form.has_changed() and not rows
    context = {
        "table": table,
        "filter": filtered,
        "nothing_yet": nothing_yet,
        "is_configured": is_configured(),
        "left": selectors.left_to_send(request.actor).count() if is_configured() else 0,
    }
    return render(request, "registry/saving/list.html", context)


@requires(USE)
@require_http_methods(["GET", "POST"])
def send(request: ActorRequest, image_id: UUID) -> HttpResponse:
    """GET: the dialog that asks where an image goes that its machine keeps. POST: it again, or on."""
    image = selectors.kept_image(request.actor, image_id)
    name, tag = services.repository_and_tag(image.name)
    initial = {"name": name, "tag": tag, "key": uuid4().hex}
    form = SavingForm(request.POST or None, actor=request.actor, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            saving = services.send(request.actor, image, form.new())
        except DomainError as error:
            show_error(form, error)
        else:
            messages.success(request, _("It is on its way into the registry as %(image)s.") % {"image": saving})
            page = reverse("registry:detail", args=[image.pk])
            if "HX-Request" in request.headers:
                return HttpResponse(status=204, headers={"HX-Redirect": page})
            return redirect(page)
    context = {"image": image, "form": form, "capacity": capacity_of(request.actor.organisation())}
    status = REFUSED if request.method == "POST" else HTTPStatus.OK
    return render(request, "registry/saving/send.html", context, status=status)


@requires(USE)
@require_http_methods(["GET", "POST"])
def send_all(request: ActorRequest) -> HttpResponse:
    """GET: the dialog's question. POST: bring all of one's own that machines keep on their way."""
    if request.method != "POST":
        return render(request, "components/confirm_body.html", _question(request))
    try:
        sent, refused = services.send_all(request.actor)
    except DomainError as error:
        say_refusal(request, error)
    else:
        if sent:
            words = ngettext(
                "%(count)s image is on its way into the registry.",
                "%(count)s images are on their way into the registry.",
                len(sent),
            )
            messages.success(request, words % {"count": len(sent)})
        for name, why in list(refused.items())[:NAMED]:
            messages.warning(request, f"{name}: {why.sentences}")
    return redirect("registry:savings")


def _question(request: ActorRequest) -> dict[str, Any]:
    count = selectors.left_to_send(request.actor).count()
    words = ngettext("Put %(count)s image into the registry?", "Put %(count)s images into the registry?", count)
    return {
        "title": words % {"count": count},
        "text": _(
            "Each goes to a repository of its own name below yours, and can start on every machine from then on."
        ),
        "kept": _("The images as they are: what uses them goes on with them"),
        "undo": _("Yes: each can be cancelled, and deleted from the registry"),
        "action": reverse("registry:send_all"),
        "button": _("Put them into the registry"),
        "plain": True,
    }


@requires(USE)
@require_POST
def cancel(request: ActorRequest, saving_id: UUID) -> HttpResponse:
    """Back to `next`, a page of this site, or to the list."""
    try:
        services.cancel(request.actor, saving_id)
    except DomainError as error:
        say_refusal(request, error)
    else:
        messages.success(request, _("It is being cancelled."))
    return redirect(safe_return(request, request.POST.get("next", ""), "registry:savings"))
