"""The form of a credit or debit note."""

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.billing.adjustments.services import NUMBER_MAX, REASON_MAX, Note, check_note
from apps.billing.choices import NOTES, RechargeKind
from apps.common.errors import Invalid
from apps.common.money_fields import YuanField
from apps.console.kit.fields import OrganisationField


class AdjustmentForm(forms.Form):
    organisation = OrganisationField(label=_("Organisation"), max_length=80)
    kind = forms.ChoiceField(
        label=pgettext_lazy("adjustment", "Note"),
        choices=[(kind.value, kind.label) for kind in NOTES],
        help_text=_("A credit note pays into the wallet and lowers the bill; a debit note does the opposite."),
    )
    amount = YuanField(label=_("Amount"), widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}))
    number = forms.CharField(
        label=_("Number of the note"),
        max_length=NUMBER_MAX,
        help_text=_("One number adjusts an organisation once."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    reason = forms.CharField(
        label=_("Reason"), max_length=REASON_MAX, help_text=_("It appears on the organisation's bill.")
    )

    def clean(self) -> None:
        """Refuse what the service would refuse, before the second step asks for confirmation."""
        if self.errors:
            return
        try:
            check_note(self.note())
        except Invalid as error:
            raise ValidationError(dict(error.fields)) from error

    def note(self) -> Note:
        data = self.cleaned_data
        return Note(RechargeKind(data["kind"]), data["amount"], data["number"], data["reason"])
