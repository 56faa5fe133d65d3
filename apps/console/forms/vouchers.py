"""Forms of vouchers and discounts, in yuan and per cent. Every rule stands in the services."""

from decimal import Decimal
from typing import Any
from uuid import uuid4

from django import forms
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import VoucherScope
from apps.billing.models import Package
from apps.billing.services.voucher_terms import NOTE_MAX, VoucherSpec
from apps.common.forms import day_field
from apps.common.money import yuan
from apps.common.money_fields import YuanField
from apps.console.forms.catalogue import LATER, NOW
from apps.console.forms.fields import OrganisationField

HUNDRED = Decimal(100)


def moment_field(label: Any) -> forms.DateTimeField:
    widget = forms.DateTimeInput(format="%Y-%m-%dT%H:%M", attrs={"type": "datetime-local"})
    return forms.DateTimeField(label=label, required=False, widget=widget)


class PackageChoice(forms.ModelChoiceField):  # type: ignore[type-arg]  # cannot be subscripted at run time
    def label_from_instance(self, obj: Package) -> str:
        return obj.name(get_language() or "")


class VoucherForm(forms.Form):
    """`key` names this form: a second press of its button finds the voucher of the first."""

    key = forms.CharField(max_length=64, widget=forms.HiddenInput, initial=lambda: uuid4().hex)
    organisation = OrganisationField(label=_("Organisation"))
    amount = YuanField(label=_("Amount"))
    scope = forms.ChoiceField(label=_("Pays for"), choices=VoucherScope.choices)
    package = PackageChoice(label=_("Package"), queryset=Package.objects.none(), required=False)
    gpu_model = forms.CharField(
        label=_("GPU model"), max_length=80, required=False, help_text=_("As packages name it, exactly.")
    )
    valid_from = day_field(_("First day"))
    valid_until = day_field(_("Last day"))
    note = forms.CharField(
        label=_("Note"), max_length=NOTE_MAX, required=False, help_text=_("The organisation reads it too.")
    )

    def __init__(self, *args: Any, packages: Any, alone_fen: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["package"].queryset = packages  # type: ignore[attr-defined]
        words = _("Above %(amount)s a second person has to approve it.")
        self.fields["amount"].help_text = str(words) % {"amount": yuan(alone_fen)}

    def spec(self) -> VoucherSpec:
        """Only what belongs to the chosen scope."""
        data = self.cleaned_data
        scope = VoucherScope(data["scope"])
        package = data["package"] if scope is VoucherScope.PACKAGE else None
        return VoucherSpec(
            amount_fen=data["amount"],
            scope=scope,
            valid_from=data["valid_from"],
            valid_until=data["valid_until"],
            package_id=package.pk if package else None,
            gpu_model=data["gpu_model"] if scope is VoucherScope.GPU_MODEL else "",
            note=data["note"],
        )


class VoidForm(forms.Form):
    reason = forms.CharField(label=_("Reason"), max_length=NOTE_MAX, widget=forms.Textarea(attrs={"rows": 2}))


class DiscountForm(forms.Form):
    organisation = OrganisationField(label=_("Organisation"))
    off = forms.DecimalField(
        label=_("Discount"),
        max_digits=5,
        decimal_places=2,
        min_value=0,
        max_value=100,
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
        help_text=_("Taken off every price: 15 makes ¥10.00 an hour ¥8.50."),
    )
    begins = forms.ChoiceField(
        label=_("In force from"), choices=[(NOW, _("From now on")), (LATER, _("From a later time"))], initial=NOW
    )
    effective_from = moment_field(_("Begins at"))
    effective_to = moment_field(_("Ends at"))
    note = forms.CharField(label=_("Note"), max_length=NOTE_MAX, required=False, help_text=_("Contract or reason."))

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if data.get("begins") == LATER and not data.get("effective_from") and "effective_from" not in self.errors:
            self.add_error("effective_from", _("Say when it begins."))
        if data.get("begins") == NOW:
            data["effective_from"] = None
        return data

    def share(self) -> Decimal:
        """Of 1."""
        off: Decimal = self.cleaned_data["off"]
        return off / HUNDRED
