"""The form of names and pictures."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from apps.common.errors import DomainError
from apps.console.forms.settings.base import SettingsForm
from apps.notifications import pictures
from apps.notifications.branding import LONGEST_NAME, PRODUCT, BrandingSettings

PICTURES = ("portal_logo", "console_logo", "favicon")
REMOVE = "remove_"


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
    remove_portal_logo = forms.BooleanField(label=_("Take the picture away"), required=False)
    remove_console_logo = forms.BooleanField(label=_("Take the picture away"), required=False)
    remove_favicon = forms.BooleanField(label=_("Take the picture away"), required=False)

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
            return pictures.keep(upload.read(pictures.MAX_BYTES + 1))
        except DomainError as error:
            self.add_error(field, str(error.message))
            return ""
