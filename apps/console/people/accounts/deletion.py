"""Pages that delete somebody's account and take that back."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.common.access import on_platform, requires
from apps.common.errors import Conflict, DomainError
from apps.common.formatting import moment
from apps.common.forms import show_error
from apps.common.pages import done, refused, say_refusal
from apps.common.permissions import Permission as P
from apps.console.kit.requests import StaffRequest
from apps.console.people.accounts import selectors as reads
from apps.tenants.forms.deletion import DeletionForm
from apps.tenants.services import deletion as deleting

# What it needs depends on whose account it is: the service decides.
ANY_STAFF = on_platform(P.PLATFORM_OVERVIEW)
TEMPLATE = "console/people/delete.html"


@requires(ANY_STAFF)
@require_http_methods(["GET", "POST"])
def delete(request: StaffRequest, user_id: int) -> HttpResponse:
    """What is in the way, what is lost and what stays; confirmed by typing the user name."""
    person = reads.person(request.actor, user_id)
    try:
        preview = deleting.preview(request.actor, user_id=user_id)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("console:people_detail", user_id)
    form = DeletionForm(request.POST if request.method == "POST" else None, user=person)
    context = {"person": person, "preview": preview, "form": form}
    if request.method != "POST":
        return render(request, TEMPLATE, context)
    if form.is_valid():
        try:
            asked = deleting.ask(request.actor, user_id=user_id)
        except DomainError as error:
            show_error(form, error)
        else:
            words = {"name": person.display_name, "at": moment(asked.erase_at)}
            said = _("%(name)s is signed out everywhere. The account is deleted on %(at)s.") % words
            return done(request, said, "console:people_detail", user_id)
    return refused(request, TEMPLATE, context)


@requires(ANY_STAFF)
@require_POST
def keep(request: StaffRequest, user_id: int) -> HttpResponse:
    try:
        user = deleting.withdraw(request.actor, user_id=user_id)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("console:people_detail", user_id)
    said = _("The account of %(name)s stays.") % {"name": user.display_name}
    return done(request, said, "console:people_detail", user_id)
