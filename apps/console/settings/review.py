"""Settings of package review: the form, its page and its endpoint."""

from typing import Any

from django import forms
from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods
from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from apps.billing.requests.settings import Approvers, ReviewSettings
from apps.common.access import requires
from apps.console.kit.requests import StaffRequest
from apps.console.settings.api import TAGS, SettingsView, choices_of
from apps.console.settings.editing import VIEW, edit
from apps.console.settings.forms import SettingsForm


class ReviewForm(SettingsForm):
    group = ReviewSettings

    approvers = forms.ChoiceField(
        label=_("Who decides"),
        choices=[
            (Approvers.PLATFORM, _("The platform's staff")),
            (Approvers.ORGANISATION, _("Each organisation's administrators")),
        ],
        widget=forms.RadioSelect,
        help_text=_("The platform's staff may decide in either case."),
    )
    days = forms.IntegerField(
        label=_("An approval holds for"),
        required=False,
        min_value=1,
        max_value=3660,
        help_text=_("Empty: until it is taken back."),
    )

    def stored(self, name: str) -> Any:
        return Approvers(self.cleaned_data[name]) if name == "approvers" else super().stored(name)


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def review(request: StaffRequest) -> HttpResponse:
    return edit(request, "settings_review", ReviewForm, template="console/settings/review.html")


class ReviewOut(serializers.Serializer[Any]):
    approvers = serializers.ChoiceField(choices=choices_of(Approvers))
    days = serializers.IntegerField(min_value=0, allow_null=True, help_text="How long an approval holds.")

    def validate_approvers(self, value: str) -> Approvers:
        return Approvers(value)


@extend_schema(tags=TAGS, request=ReviewOut, responses=ReviewOut)
class Review(SettingsView):
    group, serializer = ReviewSettings, ReviewOut
