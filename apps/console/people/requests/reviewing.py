"""Deciding on requests for packages: what the console's page and the organisation's have in common."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.billing.models import PackageRequest
from apps.billing.requests import selectors as reads
from apps.billing.requests import services as review
from apps.billing.requests.settings import Approvers, ReviewSettings
from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError, NotFound
from apps.common.forms import show_error
from apps.common.pages import REFUSED, paged, say_refusal
from apps.common.permissions import Permission as P
from apps.console.people.requests.listing import PlatformRequestFilter, RequestFilter, RequestTable
from apps.tenants import settings

BULK_MAX = 200
PAGE = "console/requests/list.html"


class DenyForm(forms.Form):
    answer = forms.CharField(
        label=gettext_lazy("Why, and what to do instead"),
        max_length=review.REASON_MAX,
        widget=forms.Textarea(attrs={"rows": 3}),
    )


def decides(actor: Actor) -> bool:
    """Whether the reader may decide at all."""
    if actor.platform:
        return actor.may(P.PLATFORM_PACKAGES_REVIEW)
    return actor.may(P.PACKAGES_REVIEW) and settings.get(ReviewSettings).approvers is Approvers.ORGANISATION


def page(request: HttpRequest, actor: Actor, *, section: str) -> HttpResponse:
    """The list; `section` is the namespace whose routes act on it."""
    kind = PlatformRequestFilter if actor.platform else RequestFilter
    filtered = kind(request.GET, queryset=reads.requests(actor), request=request)
    table = paged(request, RequestTable(filtered.qs, decides=decides(actor), across=actor.platform))
    context = {"table": table, "filter": filtered, "section": section, "decides": decides(actor)}
    return render(request, PAGE, {**context, "act_url": f"{section}:request_act", "list_url": f"{section}:requests"})


def act(request: HttpRequest, actor: Actor, *, section: str) -> HttpResponse:
    """Approve one (`approve`), take one back (`revoke`), or approve all that are ticked (`id`)."""
    chosen, deciding = _chosen(request)
    count = 0
    for request_id in chosen:
        try:
            deciding(actor, request_id=request_id)
            count += 1
        except (Conflict, NotFound) as error:
            say_refusal(request, error)
    if count:
        words = ngettext("%(count)s request was decided.", "%(count)s requests were decided.", count)
        messages.success(request, words % {"count": count})
    return redirect(f"{section}:requests")


def _chosen(request: HttpRequest) -> tuple[list[UUID], Callable[..., PackageRequest]]:
    try:
        if request.POST.get("revoke"):
            return [UUID(request.POST["revoke"])], review.revoke_approval
        ids = [request.POST["approve"]] if request.POST.get("approve") else request.POST.getlist("id")
        return [UUID(each) for each in ids][:BULK_MAX], review.approve
    except ValueError as error:
        raise NotFound from error


def deny(request: HttpRequest, actor: Actor, request_id: UUID, *, section: str) -> HttpResponse:
    """A dialog that asks for the reason, then the refusal."""
    found = reads.requests(actor).filter(pk=request_id).first()
    if found is None:
        raise NotFound
    review.require_approver(actor, found.organisation_id)
    form = DenyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            review.deny(actor, request_id=request_id, answer=form.cleaned_data["answer"])
        except DomainError as error:
            show_error(form, error)
        else:
            messages.success(request, _("The request was denied, and %(name)s is told.") % _name(found))
            return redirect(f"{section}:requests")
    context: dict[str, Any] = {"found": found, "form": form, "deny_url": f"{section}:request_deny"}
    whole = request.method == "POST" or not request.headers.get("HX-Request")
    template = "console/requests/deny.html" if whole else "console/requests/deny_dialog.html"
    return render(request, template, context, status=REFUSED if request.method == "POST" else 200)


def _name(found: PackageRequest) -> dict[str, str]:
    return {"name": found.user.display_name}
