"""Pages about oneself."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import SELF, requires
from apps.common.errors import DomainError, NotFound
from apps.common.formatting import memory
from apps.common.forms import show_error
from apps.common.requests import ActorRequest
from apps.tenants import services
from apps.tenants.actors import memberships
from apps.tenants.choices import OrganisationStatus, Resource, Role
from apps.tenants.forms import ProfileForm, initial_of
from apps.tenants.quotas import amount_text
from apps.tenants.selectors import Limit, own_limits, platform_roles
from apps.tenants.sessions import end_others

YEAR_S = 365 * 24 * 3600


@requires(SELF)
@require_POST
def switch_organisation(request: ActorRequest) -> HttpResponse:
    """Work in another of one's organisations from now on."""
    try:
        organisation_id = UUID(request.POST.get("organisation", ""))
    except ValueError as error:
        raise NotFound from error
    services.choose_organisation(request.actor, organisation_id=organisation_id)
    return redirect("portal:overview")


@requires(SELF)
@require_http_methods(["GET", "POST"])
def profile(request: ActorRequest) -> HttpResponse:
    """Name, e-mail and language; with `X-Validate` the form is checked and nothing is saved."""
    form = ProfileForm(request.POST or None, initial=initial_of(request.user))  # type: ignore[arg-type]
    if request.method == "POST" and "X-Validate" not in request.headers:
        if form.is_valid() and _save(request, form):
            return _saved(form.cleaned_data["language"])
        return render(request, "tenants/profile.html", _page("profile", form=form), status=422)
    return render(request, "tenants/profile.html", _page("profile", form=form))


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


@requires(SELF)
@require_GET
def security(request: ActorRequest) -> HttpResponse:
    return render(request, "tenants/security.html", _page("security"))


@requires(SELF)
@require_POST
def sign_out_others(request: ActorRequest) -> HttpResponse:
    """End every session of one's own but this one."""
    count = end_others(request.actor, keep=request.session.session_key)
    text = ngettext("%(count)s other sign-in has been ended.", "%(count)s other sign-ins have been ended.", count)
    messages.success(request, text % {"count": count})
    return redirect("account:security")


@requires(SELF)
@require_GET
def organisations(request: ActorRequest) -> HttpResponse:
    """Where one belongs, as what, and what limits there are in the current organisation."""
    actor, user = request.actor, request.user
    rows = [
        {
            "membership": member,
            "role": Role(member.role).label,
            "frozen": member.organisation.status != OrganisationStatus.ACTIVE,
            "current": member.organisation_id == actor.organisation_id,
        }
        for member in memberships(user)  # type: ignore[arg-type]
    ]
    context = {
        "rows": rows,
        "limits": [_limit(each) for each in own_limits(actor)],
        "staff": platform_roles(actor.person()),
    }
    return render(request, "tenants/organisations.html", _page("organisations", **context))


def _limit(each: Limit) -> dict[str, Any]:
    whose = {"user": _("yours"), "department": _("the department's"), "organisation": _("the organisation's")}
    return {
        "label": each.resource.label,
        "used": each.used,
        "limit": each.limit,
        "used_text": _amount(each.resource, each.used),
        "limit_text": _amount(each.resource, each.limit or 0),
        "whose": whose.get(each.whose, ""),
        "full": each.limit is not None and each.used >= each.limit,
    }


def _amount(resource: Resource, amount: int) -> str:
    return memory(amount) if resource in (Resource.MEMORY_MIB, Resource.STORAGE_MIB) else amount_text(resource, amount)


def _page(current: str, **context: Any) -> dict[str, Any]:
    tabs = {"profile": _("Profile"), "security": _("Security"), "organisations": _("Organisations and limits")}
    return {
        **context,
        "tabs": [
            {"label": label, "url": reverse(f"account:{name}"), "current": name == current}
            for name, label in tabs.items()
        ],
    }
