"""Settings of sharing images between organisations: the form, its page and its endpoint."""

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
from apps.registry.sharing.settings import SharingSettings


class ImageSharingForm(SettingsForm):
    group = SharingSettings

    allowed = forms.BooleanField(
        label=_("Organisations may share image repositories with each other"),
        required=False,
        help_text=_(
            "The receiving organisation's people may pull and use the images, and nothing else. While this is off, all "
            "shares are suspended: what runs goes on, nothing new starts, and they count again once it is on."
        ),
    )


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def image_sharing(request: StaffRequest) -> HttpResponse:
    return edit(request, "settings_image_sharing", ImageSharingForm)


class ImageSharingOut(serializers.Serializer[Any]):
    """Whether organisations may share image repositories with each other."""

    allowed = serializers.BooleanField(help_text="Off: what is shared rests, and is kept.")


@extend_schema(tags=TAGS, request=ImageSharingOut, responses=ImageSharingOut)
class ImageSharing(SettingsView):
    group, serializer = SharingSettings, ImageSharingOut
