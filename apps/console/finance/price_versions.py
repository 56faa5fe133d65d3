"""Versions of a price: the form that sets the next, the list of past, present and planned ones, and their API."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeVar

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers, status

from apps.billing import services
from apps.billing.models import PriceVersion
from apps.common.access import on_platform
from apps.common.cells import Cell
from apps.common.clock import db_now
from apps.common.money_fields import YuanRateField
from apps.common.permissions import Permission as P
from apps.common.tables import Table, column

VIEW = on_platform(P.PLATFORM_PRICES_VIEW)
MANAGE = on_platform(P.PLATFORM_PRICES_MANAGE)
NOW, LATER = "now", "later"


class Version(Protocol):
    effective_from: datetime
    effective_to: datetime | None


V = TypeVar("V", bound=Version)


def with_state(versions: Iterable[V]) -> list[V]:
    """The versions, each with `state`: past, now or planned."""
    now = db_now()
    found = list(versions)
    for version in found:
        ended = version.effective_to is not None and version.effective_to <= now
        version.state = "past" if ended else "planned" if version.effective_from > now else "now"  # type: ignore[attr-defined]
    return found


def planned_version(versions: Sequence[V]) -> V | None:
    """The planned one among versions from `with_state`."""
    return next((version for version in versions if version.state == "planned"), None)  # type: ignore[attr-defined]


def redirect_price_unchanged(request: HttpRequest, to: str, *args: object) -> HttpResponseRedirect:
    """Tell the person that this price was in force already, so that no version was written, and redirect."""
    messages.info(request, gettext("This is the price already. Nothing was changed."))
    return redirect(to, *args)


class PriceOut(serializers.Serializer[PriceVersion]):
    id = serializers.IntegerField(read_only=True)
    number = serializers.IntegerField(read_only=True)
    rate_fen_per_hour = serializers.DecimalField(max_digits=20, decimal_places=10, read_only=True)
    effective_from = serializers.DateTimeField(read_only=True)
    effective_to = serializers.DateTimeField(read_only=True, allow_null=True)


class PriceIn(serializers.Serializer[Any]):
    """Fen per hour of one replica, from now on unless a later instant is given."""

    rate_fen_per_hour = serializers.DecimalField(max_digits=20, decimal_places=10, min_value=0)
    effective_from = serializers.DateTimeField(required=False, allow_null=True, default=None)


def status_of(priced: services.Priced[Any]) -> int:
    """201; 200 if the price was in force already and no version was written."""
    return status.HTTP_201_CREATED if priced.new else status.HTTP_200_OK


def moment_field(label: Any) -> forms.DateTimeField:
    widget = forms.DateTimeInput(format="%Y-%m-%dT%H:%M", attrs={"type": "datetime-local"})
    return forms.DateTimeField(label=label, required=False, widget=widget)


class BeginningForm(forms.Form):
    """In force from now on, or from a time that is named: `effective_from` is None for now."""

    begins = forms.ChoiceField(
        label=_("In force from"), choices=[(NOW, _("From now on")), (LATER, _("From a later time"))], initial=NOW
    )
    effective_from = moment_field(_("Begins at"))

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if data.get("begins") == LATER and not data.get("effective_from") and "effective_from" not in self.errors:
            self.add_error("effective_from", _("Say when it begins."))
        if data.get("begins") == NOW:
            data["effective_from"] = None
        return data


class PriceForm(BeginningForm):
    rate = YuanRateField(label=_("Price of one replica"))


class VersionTable(Table):
    """Base of the lists of versions of any price."""

    number = Cell(
        "v{{ record.number }}", verbose_name=_("Version"), orderable=False, attrs=column("pl-name", fold=_("Version"))
    )
    effective_from = Cell(
        "{% load pl %}{% when record.effective_from seconds=True %}",
        verbose_name=_("In force from"),
        orderable=False,
        attrs=column(fold=pgettext_lazy("time", "From"), numeric=True),
    )
    effective_to = Cell(
        "{% load pl %}{% when record.effective_to seconds=True %}",
        verbose_name=_("Until"),
        orderable=False,
        attrs=column(fold=_("Until"), numeric=True),
    )


class PriceTable(VersionTable):
    caption = _("Prices")
    state = Cell(
        template_name="console/cells/price_state.html", verbose_name=_("State"), orderable=False, attrs=column()
    )
    rate_fen_per_hour = Cell(
        "{% load pl %}<span class='pl-strong'>{{ record.rate_fen_per_hour|rate_amount }}</span>",
        verbose_name="¥/h",
        orderable=False,
        attrs=column(fold="¥/h", numeric=True),
    )

    class Meta(Table.Meta):
        sequence = ("number", "state", "rate_fen_per_hour", "effective_from", "effective_to")
