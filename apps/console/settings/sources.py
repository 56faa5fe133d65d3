"""Settings of the software sources: the form, its page and its endpoint."""

from typing import Any

from django import forms
from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods
from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from apps.common.access import requires
from apps.console.kit.requests import StaffRequest
from apps.console.settings.api import TAGS, SettingsView
from apps.console.settings.editing import VIEW, edit
from apps.console.settings.forms import SettingsForm
from apps.workloads.software_sources import LONGEST, MOST_CERTIFICATES, SourceSettings

BOTH = ["GET", "POST"]


def line(label: Any, **options: Any) -> forms.CharField:
    widget = forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "inputmode": "url"})
    return forms.CharField(label=label, required=False, max_length=LONGEST, widget=widget, **options)


class SourcesForm(SettingsForm):
    group = SourceSettings

    pip_index = line(_("Package index"), help_text=_("As in https://mirror.example.edu/pypi/simple/."))
    pip_extra_indexes = line(_("Further indexes"), help_text=_("Several with blanks between."))
    pip_trusted_hosts = line(
        _("Hosts without a valid certificate"), help_text=_("Better give their authority's certificate below.")
    )
    npm_registry = line(_("Registry"), help_text=_("As in https://mirror.example.edu/npm/."))
    file_hosts = line(
        _("Hosts of files"), help_text=_("Where an index keeps its files, if elsewhere. Several with blanks between.")
    )
    certificates = forms.CharField(
        label=_("Certificates of further authorities"),
        required=False,
        max_length=MOST_CERTIFICATES,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false", "class": "font-monospace"}),
        help_text=_("PEM, one after the other, trusted beside those of each machine."),
    )
    proxy = line(
        _("HTTP proxy"),
        help_text=_("As in http://proxy.example.edu:3128, where machines have no way out of their own."),
    )
    no_proxy = line(_("Hosts that bypass it"), help_text=_("Hosts with commas between; of a domain, all below it."))


@requires(VIEW)
@require_http_methods(BOTH)
def software_sources(request: StaffRequest) -> HttpResponse:
    return edit(request, "settings_sources", SourcesForm, template="console/settings/sources.html")


class SoftwareSourcesOut(serializers.Serializer[Any]):
    """Empty: as each machine is set, and else the public ones."""

    pip_index = serializers.CharField(max_length=LONGEST, allow_blank=True)
    pip_extra_indexes = serializers.CharField(max_length=LONGEST, allow_blank=True, help_text="Blanks between.")
    pip_trusted_hosts = serializers.CharField(max_length=LONGEST, allow_blank=True, help_text="Blanks between.")
    npm_registry = serializers.CharField(max_length=LONGEST, allow_blank=True)
    file_hosts = serializers.CharField(max_length=LONGEST, allow_blank=True, help_text="Blanks between.")
    certificates = serializers.CharField(max_length=MOST_CERTIFICATES, allow_blank=True, help_text="PEM.")
    proxy = serializers.CharField(max_length=LONGEST, allow_blank=True, help_text="http://host:port")
    no_proxy = serializers.CharField(max_length=LONGEST, allow_blank=True, help_text="Commas between.")


@extend_schema(tags=TAGS, request=SoftwareSourcesOut, responses=SoftwareSourcesOut)
class SoftwareSources(SettingsView):
    group, serializer = SourceSettings, SoftwareSourcesOut
