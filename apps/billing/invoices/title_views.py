"""Titles for invoices: added, changed, put away."""

from uuid import UUID

from django.contrib import messages
from django.forms.models import model_to_dict
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.billing.invoices import selectors as reads
from apps.billing.invoices import titles as services
from apps.billing.invoices.forms import TitleForm
from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import REFUSED
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest

ASK = in_organisation(Permission.BILLING_TOP_UP)
PAGE = "billing/invoices/title.html"


@requires(ASK)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    form = TitleForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = services.add_title(request.actor, spec=form.spec())
        except DomainError as error:
            show_error(form, error)
        else:
            messages.success(request, _("The title was saved."))
            return _next(request, made.pk)
    context = {"form": form, "then": request.GET.get("then", "")}
    return render(request, PAGE, context, status=REFUSED if request.method == "POST" else 200)


def _next(request: ActorRequest, title_id: UUID) -> HttpResponse:
    """On to the request that it was made for, where there is one."""
    if request.GET.get("then") != "invoice":
        return redirect("billing:invoices")
    response = redirect("billing:invoice_new")
    response["Location"] += f"?title={title_id}"
    return response


@requires(ASK)
@require_http_methods(["GET", "POST"])
def edit(request: ActorRequest, title_id: UUID) -> HttpResponse:
    found = reads.title(request.actor, title_id)
    form = TitleForm(request.POST or None, initial=model_to_dict(found))
    if request.method == "POST" and form.is_valid():
        try:
            services.change_title(request.actor, title_id=title_id, spec=form.spec())
        except DomainError as error:
            show_error(form, error)
        else:
            messages.success(request, _("The title was changed. Invoices asked for before keep the old one."))
            return redirect("billing:invoices")
    return render(request, PAGE, {"form": form, "title": found}, status=REFUSED if request.method == "POST" else 200)


@requires(ASK)
@require_POST
def remove(request: ActorRequest, title_id: UUID) -> HttpResponse:
    services.remove_title(request.actor, title_id=title_id)
    messages.success(request, _("The title was deactivated."))
    return redirect("billing:invoices")
