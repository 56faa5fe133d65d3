"""Forms of vouchers."""

from typing import Any
from uuid import uuid4

from django import forms
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import VoucherScope
from apps.billing.models import Package
from apps.billing.vouchers.terms import NOTE_MAX, VoucherSpec
from apps.common.forms import day_field
from apps.common.money import yuan
from apps.common.money_fields import YuanField
from apps.console.kit.fields import OrganisationField


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
