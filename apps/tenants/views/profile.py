"""One's own name, e-mail and language."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.common.access import SELF, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.requests import ActorRequest
from apps.tenants import services
from apps.tenants.forms.account import ProfileForm, initial_of
from apps.tenants.views.shared import page

YEAR_S = 365 * 24 * 3600


@requires(SELF)
@require_http_methods(["GET", "POST"])
def profile(request: ActorRequest) -> HttpResponse:
    """Name, e-mail and language; with `X-Validate` the form is checked and nothing is saved."""
    form = ProfileForm(request.POST or None, initial=initial_of(request.user))  # type: ignore[arg-type]
    if request.method == "POST" and "X-Validate" not in request.headers:
        if form.is_valid() and _save(request, form):
            return _saved(form.cleaned_data["language"])
        return render(request, "tenants/profile.html", page("profile", form=form), status=422)
    return render(request, "tenants/profile.html", page("profile", form=form))


def _save(request: ActorRequest, form: ProfileForm) -> bool:
    try:
        services.update_profile(request.actor, **form.cleaned_data)
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
