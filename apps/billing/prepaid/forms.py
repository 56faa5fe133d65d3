"""Forms of prepaid time."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from apps.billing.choices import PrepaidEnd, PrepaidStatus, Term
from apps.billing.formula import per_cent
from apps.billing.models import TermPrice
from apps.billing.prepaid.selectors import MOST_REPLICAS
from apps.billing.prepaid.services import KEY_MAX, SeenTerms
from apps.billing.prices.own import OwnPrices
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


class SeenForm(forms.Form):
    """What the person saw: `off`, the share that was taken off the list price then."""

    off = forms.DecimalField(widget=forms.HiddenInput, required=False, max_digits=5, decimal_places=4)

    def show_again(self, **seen: Any) -> None:
        """Show the present terms in a form that was refused: when it is sent again, they are what was seen."""
        data: Any = self.data.copy()  # type: ignore[attr-defined]  # always a QueryDict here
        for name, value in seen.items():
            data[name] = str(value)
        self.data = data

    def seen(self, price_id: int) -> SeenTerms:
        """Of a form that is valid."""
        return SeenTerms(price_id, self.cleaned_data["off"])


class ChoiceForm(SeenForm):
    """One of the `offers`, in words with what the organisation pays; `price` names the version that was seen."""

    price = forms.TypedChoiceField(label=gettext_lazy("Package and term"), coerce=int)

    def __init__(self, *args: Any, offers: Sequence[TermPrice], own: OwnPrices, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offers = {offer.pk: offer for offer in offers}
        self.fields["price"].choices = [(offer.pk, one_line(offer, own)) for offer in offers]  # type: ignore[attr-defined]

    @property
    def chosen(self) -> TermPrice:
        """Of a form that is valid."""
        return self.offers[self.cleaned_data["price"]]


class OrderForm(ChoiceForm, RenewalFields):
    """`key` makes a second click harmless."""

    quantity = whole_number(gettext_lazy("Replicas"), MOST_REPLICAS)
    periods = whole_number(gettext_lazy("Periods"), 366)
    key = forms.CharField(max_length=KEY_MAX, widget=forms.HiddenInput)
    field_order = ("price", "quantity", "periods", "auto_renew", "at_end", "key", "off")


class RenewForm(SeenForm):
    """`after`: the end that the person saw; `price`: the version."""

    periods = whole_number(gettext_lazy("Periods"), 366)
    after = forms.DateTimeField(widget=forms.HiddenInput)
    price = forms.IntegerField(widget=forms.HiddenInput)


class ChangeForm(ChoiceForm):
    quantity = whole_number(gettext_lazy("Replicas"), MOST_REPLICAS)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["price"].label = _("New package")


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


def one_line(offer: TermPrice, own: OwnPrices) -> str:
    """`Small GPU: ¥255.00 a month, 15 % off ¥300.00`."""
    names = {
        "package": offer.package.name(get_language() or ""),
        "price": term_price_words(offer, own.paid_ahead(offer.price_fen)),
        "off": per_cent(own.off),
        "listed": yuan(offer.price_fen),
    }
    line = _("%(package)s: %(price)s, %(off)s off %(listed)s") if own.off else _("%(package)s: %(price)s")
    return line % names


def term_price_words(offer: TermPrice, fen: int | None = None) -> str:
    """`¥300.00 a month`, of one replica: as listed, or the given `fen`."""
    words = {
        Term.DAY: _("%(price)s a day"),
        Term.MONTH: _("%(price)s a month"),
        Term.YEAR: _("%(price)s a year"),
    }
    return words[Term(offer.term)] % {"price": yuan(offer.price_fen if fen is None else fen)}
