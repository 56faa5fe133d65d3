"""The forms of recharges: what was paid, what proves it, why one is denied or reversed."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from apps.billing import policy
from apps.billing.choices import PaymentMethod
from apps.billing.payments import proofs, recharge_review
from apps.billing.recharges.received import PAYER_MAX, Received, check_received
from apps.billing.recharges.services import REFERENCE_MAX
from apps.common.errors import Invalid
from apps.common.forms import day_field
from apps.common.money import yuan
from apps.common.money_fields import YuanField
from apps.console.kit.fields import OrganisationField

ACCEPTED = ",".join(proofs.MAGIC)


class ManyFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class ProofsField(forms.FileField):
    """Any number of documents, cleaned to (name, content) pairs that `proofs` will take."""

    def __init__(self, *, form_id: str = "", **options: Any) -> None:
        attrs = {"accept": ACCEPTED, "max_bytes": proofs.MAX_BYTES, "form": form_id}
        super().__init__(widget=ManyFiles(attrs=attrs), **options)

    def clean(self, data: Any, initial: Any = None) -> list[tuple[str, bytes]]:
        chosen = [each for each in (data if isinstance(data, list) else [data]) if each]
        if not chosen:
            super().clean(None, initial)
        return [self._read(each) for each in chosen]

    def _read(self, file: "UploadedFile[bytes]") -> tuple[str, bytes]:
        content = file.read(proofs.MAX_BYTES + 1)
        try:
            proofs.media_type_of(content)
        except Invalid as error:
            raise ValidationError(f"{file.name}: {error.message}") from error
        return str(file.name), content


class RechargeForm(forms.Form):
    organisation = OrganisationField(label=_("Organisation"), max_length=80)
    amount = YuanField(label=_("Amount"), widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}))
    reference = forms.CharField(
        label=_("Reference of the payment"),
        max_length=REFERENCE_MAX,
        help_text=_("Bank slip, contract or order number. One reference credits an organisation once."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    paid_on = day_field(_("Value date"), help_text=_("The day on which the money was on our account."))
    payer = forms.CharField(
        label=_("Payer"), max_length=PAYER_MAX, help_text=_("The name on the account that paid, as the slip has it.")
    )
    method = forms.ChoiceField(label=_("Way of payment"), choices=PaymentMethod.choices, initial=PaymentMethod.BANK)
    note = forms.CharField(label=_("Note"), max_length=300, required=False)

    def clean(self) -> None:
        """The same for what is known of the payment."""
        if {"paid_on", "payer", "method"} <= self.cleaned_data.keys():
            try:
                check_received(self.received())
            except Invalid as error:
                raise ValidationError(dict(error.fields)) from error

    def received(self) -> Received:
        data = self.cleaned_data
        return Received(data["paid_on"], data["payer"], PaymentMethod(data["method"]))

    def clean_amount(self) -> int:
        """Refuse what the service would refuse, before the second step asks for confirmation."""
        amount: int = self.cleaned_data["amount"]
        if amount <= 0:
            raise ValidationError(_("The amount must be more than zero."))
        if amount > policy.TOP_UP_MAX_FEN:
            raise ValidationError(_("At most %(limit)s at a time."), params={"limit": yuan(policy.TOP_UP_MAX_FEN)})
        return amount


class ConfirmedRechargeForm(RechargeForm):
    """The second step: the same fields with the documents."""

    proofs = ProofsField(
        label=_("Documents"), required=False, help_text=_("PDF, PNG or JPEG, at most 5 MB each."), form_id="confirm"
    )

    def __init__(self, *args: Any, proven: bool = False, **kwargs: Any) -> None:
        """`proven`: show that a document is needed."""
        super().__init__(*args, **kwargs)
        self.fields["proofs"].required = proven


class ProofsForm(forms.Form):
    proofs = ProofsField(label=_("Documents"), help_text=_("PDF, PNG or JPEG, at most 5 MB each."))


class DenyForm(forms.Form):
    answer = forms.CharField(
        label=_("Why"), max_length=recharge_review.REASON_MAX, widget=forms.Textarea(attrs={"rows": 3})
    )


class ReverseForm(forms.Form):
    reason = forms.CharField(label=_("What was wrong"), max_length=300, widget=forms.Textarea(attrs={"rows": 3}))
