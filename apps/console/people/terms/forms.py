"""Forms of what the platform grants one organisation."""

from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.billing import selectors as funds
from apps.billing.models import Package
from apps.billing.payments.alone import alone_fen
from apps.common.actor import Actor
from apps.common.money import yuan
from apps.common.money_fields import YuanField
from apps.registry.distribution.capacity import GIB, MOST_GIB, Capacity, capacity_of

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


class CapacityForm(forms.Form):
    """Empty: as for the platform."""

    capacity_gib = forms.IntegerField(
        label=_("Capacity"),
        required=False,
        min_value=0,
        max_value=MOST_GIB,
        widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
    )

    def __init__(self, data: Any = None, *, capacity: Capacity) -> None:
        super().__init__(data, initial={"capacity_gib": capacity.limit // GIB if capacity.own else None})
        self.capacity = capacity
        standard = {"limit": filesizeformat(settings.REGISTRY_ORGANISATION_BYTES)}
        self.fields["capacity_gib"].help_text = (
            gettext("Empty: as for the platform, %(limit)s. 0: nothing more.") % standard
        )


def capacity_form(organisation_id: UUID) -> CapacityForm:
    return CapacityForm(capacity=capacity_of(organisation_id))
