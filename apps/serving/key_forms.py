"""Forms of keys and of names at the organisation's own address. They only translate."""

from collections.abc import Iterable
from dataclasses import replace
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.serving.keys import MOST_OVERLAP_H, MOST_PER_MINUTE, MOST_TOKENS_PER_MINUTE, KeyDraft, Lifetime
from apps.serving.model_names import NameDraft
from apps.serving.models import Service


class KeyForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=60, help_text=_("Who or what calls with it."))
    lifetime = forms.ChoiceField(
        label=_("Ends after"),
        choices=[
            (Lifetime.MONTH, _("30 days")),
            (Lifetime.QUARTER, _("90 days")),
            (Lifetime.YEAR, _("A year")),
            (Lifetime.NEVER, _("Never")),
        ],
        initial=Lifetime.QUARTER,
    )
    per_minute = forms.IntegerField(
        label=_("Requests a minute"),
        required=False,
        min_value=1,
        max_value=MOST_PER_MINUTE,
        help_text=_("Empty: no limit of its own."),
    )

    def draft(self) -> KeyDraft:
        data = self.cleaned_data
        return KeyDraft(data["name"], Lifetime(data["lifetime"]), data["per_minute"])


class GatewayKeyForm(KeyForm):
    tokens_per_minute = forms.IntegerField(
        label=_("Tokens a minute"),
        required=False,
        min_value=1,
        max_value=MOST_TOKENS_PER_MINUTE,
        help_text=_("In and out, as answers tell. What has begun is finished; who is over it waits before the next."),
    )
    model_names = forms.CharField(
        label=_("Models"),
        required=False,
        max_length=5000,
        help_text=_("Names, separated by spaces. Empty: all that have one, also later."),
    )

    def draft(self) -> KeyDraft:
        data = self.cleaned_data
        names = tuple(dict.fromkeys(data["model_names"].split()))
        return replace(super().draft(), model_names=names, tokens_per_minute=data["tokens_per_minute"])


class NameForm(forms.Form):
    """A name at the organisation's own address."""

    name = forms.CharField(
        label=_("Name"), max_length=100, help_text=_("What programs write as the model, such as qwen3-8b.")
    )
    service = forms.TypedChoiceField(label=_("Service"), coerce=UUID, help_text=_("It has to speak OpenAI's protocol."))
    upstream = forms.CharField(
        label=_("Name inside the service"),
        max_length=200,
        required=False,
        help_text=_("What its server calls the model. Empty: the same name."),
    )
    fallback = forms.ChoiceField(
        label=_("Instead of it"), required=False, help_text=_("Answers while no replica of the service is ready.")
    )

    def offer(self, services: Iterable[Service], names: Iterable[str]) -> None:
        """Let it be one of these."""
        offered = [(str(each.pk), each.name) for each in services] or [("", str(_("You have no service yet.")))]
        self.fields["service"].choices = offered  # type: ignore[attr-defined]
        self.fields["fallback"].choices = [("", _("Nothing")), *((name, name) for name in names)]  # type: ignore[attr-defined]

    def draft(self) -> NameDraft:
        data = self.cleaned_data
        return NameDraft(data["name"].strip(), data["upstream"].strip(), data["fallback"])


class RotateForm(forms.Form):
    overlap_h = forms.IntegerField(
        label=_("The old one goes on for, hours"),
        min_value=0,
        max_value=MOST_OVERLAP_H,
        initial=24,
        help_text=_("Time to give the new key to every program."),
    )
