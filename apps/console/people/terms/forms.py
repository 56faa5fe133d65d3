"""Forms of what the platform grants one organisation."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.billing import selectors as funds
from apps.billing.models import Package
from apps.billing.payments.alone import alone_fen
from apps.common.actor import Actor
from apps.common.money import yuan
from apps.common.money_fields import YuanField

ALL, LISTED = "all", "listed"


class TermsForm(forms.Form):
    """`credit_limit` only for who may recharge."""

    weight = forms.IntegerField(
        label=_("Weight"),
        min_value=1,
        max_value=100,
        help_text=_("Its share of what is free, relative to other organisations'."),
    )
    credit_limit = YuanField(label=_("Credit limit"))

    def __init__(self, data: Any = None, *, money: bool, **options: Any) -> None:
        super().__init__(data, **options)
        if not money:
            del self.fields["credit_limit"]
            return
        words = _(
            "How far the wallet may go below zero before compute is stopped: what it may owe. Above %(limit)s a second"
            " person approves it."
        )
        self.fields["credit_limit"].help_text = str(words) % {"limit": yuan(alone_fen())}


class PackagesForm(forms.Form):
    which = forms.ChoiceField(
        label=_("May use"),
        choices=[(ALL, _("All packages")), (LISTED, _("Only those ticked"))],
        widget=forms.RadioSelect,
    )
    packages = forms.ModelMultipleChoiceField(queryset=Package.objects.none(), required=False)

    def __init__(self, data: Any = None, *, actor: Actor, **options: Any) -> None:
        super().__init__(data, **options)
        self.fields["packages"].queryset = funds.packages(actor)  # type: ignore[attr-defined]

    def ids(self) -> list[int] | None:
        """None: all."""
        if self.cleaned_data["which"] == ALL:
            return None
        return [package.pk for package in self.cleaned_data["packages"]]
