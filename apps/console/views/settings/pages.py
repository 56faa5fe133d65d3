"""Settings pages with one form each."""

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_http_methods

from apps.common.access import requires
from apps.console.forms.settings.branding import BrandingForm
from apps.console.forms.settings.nodes import NodesForm
from apps.console.forms.settings.options import OptionsForm, RegistrationForm
from apps.console.requests import StaffRequest
from apps.console.settings.editing import VIEW, edit
from apps.notifications.branding import BrandingSettings
from apps.tenants import settings

BOTH = ["GET", "POST"]


@requires(VIEW)
@require_GET
def first(request: StaffRequest) -> HttpResponse:
    return redirect("console:settings_registration")


@requires(VIEW)
@require_http_methods(BOTH)
def registration(request: StaffRequest) -> HttpResponse:
    return edit(request, "settings_registration", RegistrationForm, template="console/settings/registration.html")


@requires(VIEW)
@require_http_methods(BOTH)
def options(request: StaffRequest) -> HttpResponse:
    return edit(request, "settings_options", OptionsForm, template="console/settings/options.html")


@requires(VIEW)
@require_http_methods(BOTH)
def nodes(request: StaffRequest) -> HttpResponse:
    return edit(request, "settings_nodes", NodesForm, template="console/settings/nodes.html")


@requires(VIEW)
@require_http_methods(BOTH)
def branding(request: StaffRequest) -> HttpResponse:
    current = settings.get(BrandingSettings)
    return edit(request, "settings_branding", BrandingForm, template="console/settings/branding.html", now=current)
