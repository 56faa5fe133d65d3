"""The form of a webhook."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.notifications.kinds import webhook_kinds
from apps.notifications.models import Webhook
from apps.notifications.services.hooks import EVERY_KIND
from apps.notifications.services.webhooks import HookSpec

ALL, SOME = "all", "some"


class HookForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=60)
    url = forms.CharField(
        label=pgettext_lazy("webhook", "Address"),
        max_length=500,
        help_text=_("Told by POST, on a public address. Redirects are not followed."),
        widget=forms.TextInput(
            attrs={"inputmode": "url", "autocomplete": "off", "placeholder": "https://ci.example.org/hooks/gpu"}
        ),
    )
    which = forms.ChoiceField(
        label=_("Events"),
        choices=[(ALL, _("All, also those to come")), (SOME, _("Only some"))],
        initial=ALL,
        widget=forms.RadioSelect,
    )
    kinds = forms.MultipleChoiceField(label=_("Which"), required=False, widget=forms.CheckboxSelectMultiple)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["kinds"].choices = [(kind.name, kind.label) for kind in webhook_kinds()]  # type: ignore[attr-defined]

    def spec(self) -> HookSpec:
        data = self.cleaned_data
        kinds = (EVERY_KIND,) if data["which"] == ALL else tuple(data["kinds"])
        return HookSpec(data["name"], data["url"], kinds)


def initial_of(hook: Webhook) -> dict[str, Any]:
    every = EVERY_KIND in hook.kinds
    return {"name": hook.name, "url": hook.url, "which": ALL if every else SOME, "kinds": [] if every else hook.kinds}
