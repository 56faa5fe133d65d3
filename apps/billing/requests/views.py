"""Asking for a package that needs approval."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from apps.billing.models import Package
from apps.billing.requests import selectors as reads
from apps.billing.requests import services as review
from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError, NotFound
from apps.common.forms import show_error
from apps.common.pages import REFUSED
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest, safe_return

OWN = in_organisation(Permission.BILLING_VIEW_OWN)


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=gettext_lazy("What do you need it for?"),
        max_length=review.REASON_MAX,
        widget=forms.Textarea(attrs={"rows": 3}),
    )


@requires(OWN)
@require_http_methods(["GET", "POST"])
def ask(request: ActorRequest, package_id: int) -> HttpResponse:
    """A dialog over the picker, or a page of its own where scripts are off."""
    package = reads.offered_packages(request.actor).filter(pk=package_id, needs_review=True).first()
    if package is None:
        raise NotFound
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            review.request_package(request.actor, package_id=package_id, reason=form.cleaned_data["reason"])
        except DomainError as error:
            show_error(form, error)
        else:
            messages.success(request, _("Your request was sent. You are told as soon as somebody decides."))
            return HttpResponseRedirect(_back(request))
    return _answer(request, package, form)


def _answer(request: ActorRequest, package: Package, form: ReasonForm) -> HttpResponse:
    dialog = request.method == "GET" and bool(request.headers.get("HX-Request"))
    template = "billing/parts/ask_dialog.html" if dialog else "billing/ask.html"
    context: dict[str, Any] = {"package": package, "form": form, "next": _back(request)}
    return render(request, template, context, status=REFUSED if request.method == "POST" else 200)


def _back(request: ActorRequest) -> str:
    return safe_return(request, request.POST.get("next") or request.GET.get("next") or "/")


@requires(OWN)
@require_POST
def withdraw(request: ActorRequest, request_id: UUID) -> HttpResponse:
    review.withdraw_request(request.actor, request_id=request_id)
    messages.success(request, _("Your request was taken back."))
    return HttpResponseRedirect(_back(request))
