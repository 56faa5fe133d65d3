"""Names, pictures and the language by default: the form, its page and its endpoint."""

from typing import Any

from django import forms
from django.conf import settings as installation
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods
from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from apps.common.access import requires
from apps.common.errors import DomainError
from apps.console.kit.requests import StaffRequest
from apps.console.settings.api import TAGS, SettingsView
from apps.console.settings.editing import VIEW, edit
from apps.console.settings.forms import SettingsForm
from apps.notifications import pictures
from apps.notifications.branding import LONGEST_NAME, PRODUCT, BrandingSettings
from apps.tenants import settings
from apps.tenants.forms.account import language_names

PICTURES = ("portal_logo", "console_logo", "favicon")
REMOVE = "remove_"
BOTH = ["GET", "POST"]


def picture(label: Any) -> forms.FileField:
    widget = forms.FileInput(attrs={"accept": ".png,.jpg,.jpeg,.svg", "max_bytes": pictures.MAX_BYTES})
    return forms.FileField(label=label, required=False, widget=widget)


def name(label: Any, **options: Any) -> forms.CharField:
    widget = forms.TextInput(attrs={"placeholder": PRODUCT})
    return forms.CharField(label=label, required=False, max_length=LONGEST_NAME, widget=widget, **options)


class BrandingForm(SettingsForm):
    group = BrandingSettings

    portal_name = name(_("Name of the portal"))
    portal_logo = picture(_("Logo of the portal"))
    console_name = name(_("Name of the console"), help_text=_("Empty: as the portal's."))
    console_logo = picture(_("Logo of the console"))
    favicon = picture(_("Icon of the browser tab"))
    language = forms.ChoiceField(
        label=_("Language"),
        required=False,
        help_text=_(
            "Of pages and mails for people who have chosen none. Everybody can choose another in their account."
        ),
    )
    remove_portal_logo = forms.BooleanField(label=_("Take the picture away"), required=False)
    remove_console_logo = forms.BooleanField(label=_("Take the picture away"), required=False)
    remove_favicon = forms.BooleanField(label=_("Take the picture away"), required=False)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        by_browser = ("", _("As the browser asks: Chinese for Chinese browsers, English for all others"))
        self.fields["language"].choices = [by_browser, *language_names()]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        for field in PICTURES:
            data[field] = self._kept(field, data)
        return data

    def _kept(self, field: str, data: dict[str, Any]) -> str:
        """The name of the picture from now on."""
        if data.get(REMOVE + field):
            return ""
        upload = self.files.get(self.add_prefix(field))
        if not isinstance(upload, UploadedFile):
            return str(getattr(self.current, field))
        try:
            return pictures.store_picture(upload.read(pictures.MAX_BYTES + 1))
        except DomainError as error:
            self.add_error(field, str(error.message))
            return ""


@requires(VIEW)
@require_http_methods(BOTH)
def branding(request: StaffRequest) -> HttpResponse:
    current = settings.get(BrandingSettings)
    return edit(request, "settings_branding", BrandingForm, template="console/settings/branding.html", now=current)


class BrandingOut(serializers.Serializer[Any]):
    portal_name = serializers.CharField(max_length=40, allow_blank=True)
    portal_logo = serializers.CharField(read_only=True, help_text="Below /brand/; empty: the product's own.")
    console_name = serializers.CharField(max_length=40, allow_blank=True)
    console_logo = serializers.CharField(read_only=True)
    favicon = serializers.CharField(read_only=True)
    language = serializers.ChoiceField(
        choices=installation.LANGUAGES, allow_blank=True, help_text="Empty: as the browser asks."
    )


@extend_schema(tags=TAGS, request=BrandingOut, responses=BrandingOut)
class Branding(SettingsView):
    """Pictures are uploaded in the console."""

    group, serializer = BrandingSettings, BrandingOut
