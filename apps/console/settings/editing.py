"""What every settings page shares: showing a form over a group of settings, checking it, keeping what it says.

@requires(VIEW)
def options(request: StaffRequest) -> HttpResponse:
    return edit(request, "settings_options", OptionsForm)
"""

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from apps.common.access import on_platform
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import REFUSED, done
from apps.common.permissions import Permission as P
from apps.console.kit.requests import StaffRequest
from apps.console.settings.forms import SettingsForm
from apps.console.settings.pages import tabs

VIEW = on_platform(P.PLATFORM_SETTINGS_VIEW)
FORM = "console/settings/form.html"


def may_manage(request: StaffRequest) -> bool:
    return request.actor.may(P.PLATFORM_SETTINGS_MANAGE)


def keep(request: StaffRequest, form: SettingsForm) -> str:
    """Keep what a valid form says; returns what to tell the person, or nothing and the refusal beside its fields."""
    request.actor.require(P.PLATFORM_SETTINGS_MANAGE)
    if not form.is_valid():
        return ""
    try:
        return form.put(request.actor)
    except DomainError as error:
        show_error(form, error)
        return ""


def check(form: SettingsForm) -> None:
    """The rules of the group beside the fields, nothing kept: for validation as one leaves a field, and for tests."""
    if not form.is_valid():
        return
    try:
        getattr(form.value(), "validate", lambda: None)()
    except DomainError as error:
        show_error(form, error)


def context(request: StaffRequest, page: str, **more: Any) -> dict[str, Any]:
    return {"tabs": tabs(page), "may_manage": may_manage(request), "here": page, **more}


def edit(
    request: StaffRequest, page: str, form_class: type[SettingsForm], *, template: str = FORM, **more: Any
) -> HttpResponse:
    """The whole life of a page with one form."""
    if request.method != "POST":
        form = form_class(editable=may_manage(request))
        return render(request, template, context(request, page, form=form, **more))
    form = form_class(request.POST, request.FILES)
    if "X-Validate" in request.headers:
        request.actor.require(P.PLATFORM_SETTINGS_MANAGE)
        check(form)
    elif said := keep(request, form):
        return done(request, said, f"console:{page}")
    return render(request, template, context(request, page, form=form, **more), status=REFUSED)


def edit_several(
    request: StaffRequest, page: str, forms: Mapping[str, type[SettingsForm]], *, template: str, **more: Any
) -> HttpResponse:
    """The life of a page with several forms, each saved on its own: `which` names the one that was sent."""
    shown = {name: form(editable=may_manage(request), prefix=name) for name, form in forms.items()}
    if request.method != "POST":
        return render(request, template, context(request, page, **shown, **more))
    request.actor.require(P.PLATFORM_SETTINGS_MANAGE)
    sent = request.POST.get("which", "")
    which = sent if sent in forms else next(iter(forms))
    form = shown[which] = forms[which](request.POST, prefix=which)
    if "X-Validate" in request.headers:
        check(form)
    elif said := keep(request, form):
        return done(request, said, f"console:{page}")
    return render(request, template, context(request, page, **shown, **more), status=REFUSED)
