"""What a person asks for of prepaid time."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from apps.billing.choices import PrepaidEnd, PrepaidStatus, Term
from apps.billing.models import TermPrice
from apps.billing.selectors.prepaid import MOST_REPLICAS
from apps.billing.services.prepaid import KEY_MAX
from apps.common.money import yuan


def whole_number(label: Any, most: int) -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        min_value=1,
        max_value=most,
        initial=1,
        widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
    )


class RenewalFields(forms.Form):
    """What becomes of an order at its end."""

    auto_renew = forms.BooleanField(
        label=gettext_lazy("Renew by itself"),
        required=False,
        help_text=gettext_lazy("One period more, at the price then in force, shortly before the end."),
    )
    at_end = forms.ChoiceField(
        label=gettext_lazy("Running work, when it ends without a renewal"),
        choices=PrepaidEnd.choices,
        initial=PrepaidEnd.HOURLY,
    )


class OrderForm(RenewalFields):
    """`price` names package, term and the version that was seen; `key` makes a second click harmless."""

    price = forms.TypedChoiceField(label=gettext_lazy("Package and term"), coerce=int)
    quantity = whole_number(gettext_lazy("Replicas"), MOST_REPLICAS)
    periods = whole_number(gettext_lazy("Periods"), 366)
    key = forms.CharField(max_length=KEY_MAX, widget=forms.HiddenInput)
    field_order = ("price", "quantity", "periods", "auto_renew", "at_end", "key")

    def __init__(self, *args: Any, offers: Sequence[TermPrice], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offers = {offer.pk: offer for offer in offers}
        self.fields["price"].choices = [(offer.pk, one_line(offer)) for offer in offers]  # type: ignore[attr-defined]

    @property
    def chosen(self) -> TermPrice:
        """Of a form that is valid."""
        return self.offers[self.cleaned_data["price"]]


class RenewForm(forms.Form):
    """`after`: the end that the person saw; `price`: the version."""

    periods = whole_number(gettext_lazy("Periods"), 366)
    after = forms.DateTimeField(widget=forms.HiddenInput)
    price = forms.IntegerField(widget=forms.HiddenInput)


class ChangeForm(forms.Form):
    price = forms.TypedChoiceField(label=gettext_lazy("New package"), coerce=int)
    quantity = whole_number(gettext_lazy("Replicas"), MOST_REPLICAS)

    def __init__(self, *args: Any, offers: Sequence[TermPrice], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offers = {offer.pk: offer for offer in offers}
        self.fields["price"].choices = [(offer.pk, one_line(offer)) for offer in offers]  # type: ignore[attr-defined]

    @property
    def chosen(self) -> TermPrice:
        """Of a form that is valid."""
        return self.offers[self.cleaned_data["price"]]


class OrderFilterForm(forms.Form):
    q = forms.CharField(
        label=gettext_lazy("Package or buyer"),
        required=False,
        max_length=80,
        widget=forms.TextInput(attrs={"type": "search"}),
    )
    status = forms.ChoiceField(
        label=gettext_lazy("State"),
        required=False,
        choices=[("", gettext_lazy("Any state")), *PrepaidStatus.choices],
    )


def one_line(offer: TermPrice) -> str:
    """`Small GPU: ¥300.00 a month`."""
    names = {"package": offer.package.name(get_language() or ""), "price": term_price_words(offer)}
    return _("%(package)s: %(price)s") % names


def term_price_words(offer: TermPrice) -> str:
    """`¥300.00 a month`, of one replica."""
    words = {
        Term.DAY: _("%(price)s a day"),
        Term.MONTH: _("%(price)s a month"),
        Term.YEAR: _("%(price)s a year"),
    }
    return words[Term(offer.term)] % {"price": yuan(offer.price_fen)}
