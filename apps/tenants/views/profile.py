"""One's own name, e-mail and language."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import SELF, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import REFUSED, say_refusal
from apps.common.requests import ActorRequest
from apps.tenants import emails, services
from apps.tenants.forms.account import ProfileForm, initial_of
from apps.tenants.views.shared import page, user_of

YEAR_S = 365 * 24 * 3600


@requires(SELF)
@require_http_methods(["GET", "POST"])
def profile(request: ActorRequest) -> HttpResponse:
    """Name, e-mail and language; with `X-Validate` the form is checked and nothing is saved."""
    user = user_of(request)
    form = ProfileForm(request.POST or None, initial=initial_of(user))
    if request.method == "POST" and "X-Validate" not in request.headers:
        if form.is_valid() and _save(request, form):
            return _saved(form.cleaned_data["language"])
        return _page(request, form, status=REFUSED)
    return _page(request, form)


def _page(request: ActorRequest, form: ProfileForm, status: int = 200) -> HttpResponse:
    context = page("profile", form=form, confirmed=emails.is_confirmed(user_of(request)))
    return render(request, "tenants/profile.html", context, status=status)


def _save(request: ActorRequest, form: ProfileForm) -> bool:
    former = user_of(request).email
    try:
        user = services.update_profile(request.actor, **form.cleaned_data)
        emails.notify_former_address(request, user, former)
    except DomainError as error:
        show_error(form, error)
        return False
    with translation.override(form.cleaned_data["language"] or translation.get_language()):
        messages.success(request, _("Your profile has been saved."))
    return True


def _saved(language: str) -> HttpResponse:
    """The cookie is what the next page reads; without a choice the browser decides again."""
    response = redirect("account:profile")
    if language:
        response.set_cookie(settings.LANGUAGE_COOKIE_NAME, language, max_age=YEAR_S, samesite="Lax")
    else:
        response.delete_cookie(settings.LANGUAGE_COOKIE_NAME, samesite="Lax")
    return response


@requires(SELF)
@require_POST
def confirm_email(request: ActorRequest) -> HttpResponse:
    """Send the link that proves the address once more."""
    user = user_of(request)
    try:
        emails.send_link(request, user)
    except DomainError as error:
        say_refusal(request, error)
    else:
        messages.success(request, _("A link is on its way to %(email)s.") % {"email": user.email})
    return redirect("account:profile")


@requires(SELF)
@require_GET
def to_profile(request: ActorRequest) -> HttpResponse:
    """Where allauth keeps several addresses, and goes after some of its acts."""
    return redirect("account:profile")
