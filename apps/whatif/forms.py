"""Forms of what-if. Changes are rows of their own, one small form for each, read by `editing`."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from apps.clusters.choices import AcceleratorMode
from apps.common.errors import DomainError
from apps.whatif.choices import ChangeKind
from apps.whatif.replaying.limits import LARGEST_FILE
from apps.whatif.scenario_scope import ScenarioScope

_MINUTES = "%Y-%m-%dT%H:%M"


class MomentField(forms.DateTimeField):
    """A minute in the platform's time zone, as browsers send it."""

    widget = forms.DateTimeInput(format=_MINUTES, attrs={"type": "datetime-local"})

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(input_formats=[_MINUTES, "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"], **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return timezone.localtime(value) if isinstance(value, datetime) and timezone.is_aware(value) else value


class ScenarioForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=120)
    start = MomentField(label=gettext_lazy("From"))
    end = MomentField(label=gettext_lazy("To"))
    plain_nodes = forms.IntegerField(
        label=gettext_lazy("Nodes of eight cards"), required=False, min_value=1, max_value=2000, initial=80
    )


class TraceForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=80, required=False)
    file = forms.FileField(
        label=gettext_lazy("CSV file"),
        widget=forms.FileInput(attrs={"max_bytes": LARGEST_FILE, "accept": ".csv"}),
    )


def _text(label: Any, listed: str = "", required: bool = True, **attrs: Any) -> Callable[[ScenarioScope], forms.Field]:
    if listed:
        attrs |= {"list": f"whatif-{listed}", "autocomplete": "off"}
    return lambda ground: forms.CharField(label=label, required=required, widget=forms.TextInput(attrs=attrs))


def _number(label: Any) -> Callable[[ScenarioScope], forms.Field]:
    return _text(label, inputmode="decimal", autocomplete="off")


def _models(ground: ScenarioScope) -> forms.Field:
    choices = [("", _("any model")), *((model, model) for model in ground.models)]
    return forms.ChoiceField(label=gettext_lazy("GPU model"), required=False, choices=choices)


def _modes(ground: ScenarioScope) -> forms.Field:
    return forms.ChoiceField(label=gettext_lazy("New mode"), choices=AcceleratorMode.choices)


def _packages(ground: ScenarioScope) -> forms.Field:
    language = get_language() or ""
    choices = [("", _("choose")), *((key, package.name(language)) for key, package in ground.packages.items())]
    return forms.ChoiceField(label=gettext_lazy("Package"), choices=choices)


_ORGANISATION = _text(gettext_lazy("Organisation"), "organisations")
_NODE = _text(gettext_lazy("Node"), "nodes")
FIELDS: dict[ChangeKind, Mapping[str, Callable[[ScenarioScope], forms.Field]]] = {
    ChangeKind.GUARANTEE: {
        "organisation": _ORGANISATION,
        "gpu_model": _models,
        "cards": _number(gettext_lazy("Cards guaranteed")),
    },
    ChangeKind.WEIGHT: {"organisation": _ORGANISATION, "weight": _number(gettext_lazy("New weight"))},
    ChangeKind.PRIORITY: {
        "user": _text(gettext_lazy("Person"), "users"),
        "priority": _number(gettext_lazy("New priority, 5 highest")),
    },
    ChangeKind.PRICE: {"package": _packages, "price": _number(gettext_lazy("New price, ¥/h"))},
    ChangeKind.MIN_RUNTIME: {"minutes": _number(gettext_lazy("Minutes before it may be pre-empted"))},
    ChangeKind.MODE: {
        "node": _NODE,
        "which": _text(gettext_lazy("Cards, empty for all"), required=False, placeholder="4-7"),
        "mode": _modes,
        "layout": _text(gettext_lazy("MIG layout, empty for any"), required=False, placeholder="3g.40gb, 1g.10gb×4"),
    },
    ChangeKind.NODE_ADD: {
        "node": _text(gettext_lazy("Like node"), "nodes"),
        "count": _number(gettext_lazy("How many")),
    },
    ChangeKind.NODE_REMOVE: {"node": _NODE},
}


class ChangeForm(forms.Form):
    """One row; its fields depend on its kind."""

    def __init__(self, kind: ChangeKind, ground: ScenarioScope, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = kind
        for name, make in FIELDS[kind].items():
            self.fields[name] = make(ground)

    @property
    def typed(self) -> dict[str, object]:
        """As `editing` reads it: all that was sent, choices that do not exist included."""
        values = {name: self.data.get(self.add_prefix(name), "") for name in self.fields}
        return {"kind": self.kind.value, **values}


def show_errors(form: forms.Form, rows: list[ChangeForm], error: DomainError) -> None:
    """Each part of the error beside its field: of the form, or of the row that it names as `changes.<row>.<field>`."""
    placed = False
    for path, words in error.fields.items():
        place, name = _place(form, rows, path)
        if place is not None:
            place.add_error(name if name in place.fields else None, str(words))
            placed = True
    if not placed:
        form.add_error(None, error.sentences)


def _place(form: forms.Form, rows: list[ChangeForm], path: str) -> tuple[forms.Form | None, str]:
    parts = path.split(".")
    if len(parts) == 3 and parts[1].isdecimal() and int(parts[1]) < len(rows):
        return rows[int(parts[1])], parts[2]
    return (form, path) if path in form.fields else (None, path)
