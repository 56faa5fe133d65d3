"""Deleting one's own account, and taking that back by the link in the mail."""

from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.common.access import IN_PERSON, PUBLIC, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import done, refused
from apps.common.requests import ActorRequest, address_of
from apps.tenants.confirming import confirm_identity
from apps.tenants.forms.deletion import DeletionForm
from apps.tenants.services import deletion as deleting
from apps.tenants.views.shared import page, user_of

TEMPLATE = "tenants/delete.html"


@requires(IN_PERSON)
@require_http_methods(["GET", "POST"])
def delete(request: ActorRequest) -> HttpResponse:
    """What is lost and what stays; once confirmed, the person is signed out and the term begins."""
    confirm_identity(request)
    form = DeletionForm(request.POST if request.method == "POST" else None, user=user_of(request))
    context = page("security", form=form, preview=deleting.preview_own(request.actor))
    if request.method != "POST":
        return render(request, TEMPLATE, context)
    if form.is_valid():
        try:
            asked = deleting.ask_own(request.actor)
        except DomainError as error:
            show_error(form, error)
        else:
            logout(request)
            return render(request, "tenants/deletion_asked.html", {"deletion": asked})
    return refused(request, TEMPLATE, context)


@requires(PUBLIC)
@require_http_methods(["GET", "POST"])
def withdraw(request: HttpRequest, token: str) -> HttpResponse:
    """The link is the only credential; a mail scanner that follows it takes nothing back."""
    asked = deleting.by_token(token)
    if request.method != "POST":
        return render(request, "tenants/deletion_withdraw.html", {"deletion": asked})
    user = deleting.withdraw_own(token, address=address_of(request))
    if not user.is_active:  # it was disabled before, too
        return redirect("account_inactive")
    return done(request, _("Your account stays. Sign in as before."), "account_login")
