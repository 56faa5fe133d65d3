"""`{% field form.name %}`: label, control, hint and error of one form field, whatever its widget."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.forms import (
    BoundField,
    CheckboxInput,
    CheckboxSelectMultiple,
    FileInput,
    PasswordInput,
    RadioSelect,
    Select,
    TextInput,
)
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

Text = str | Promise

_CHOICES = (RadioSelect, CheckboxSelectMultiple)


@dataclass(frozen=True, slots=True)
class Options:
    """What the page adds to a field."""

    label: Text = ""
    hint: Text = ""
    prefix: Text = ""
    suffix: Text = ""
    validate: str = ""
    classes: str = ""
    switch: bool = False
    bare: bool = False


def field_context(bound: BoundField, **options: Any) -> dict[str, Any]:
    """Context of components/field.html.

    Options: label, hint (instead of the form's own), prefix, suffix (¥, GiB), validate (URL that checks the field as it
    is left), classes (of the control), switch (a check box as a switch), bare (the page writes the hint itself).
    """
    wanted = Options(**options)
    kind = control_kind(bound)
    return {
        "bound": bound,
        "kind": kind,
        "control": "" if kind in ("choices", "file") else bound.as_widget(attrs=control_attributes(bound, wanted)),
        "label": wanted.label or bound.label,
        "hint": "" if wanted.bare else wanted.hint or bound.help_text,
        "options": wanted,
        "checking": checking(bound, wanted) if wanted.validate else {},
    }


def control_kind(bound: BoundField) -> str:
    widget = bound.field.widget
    if isinstance(widget, _CHOICES):
        return "choices"
    if isinstance(widget, CheckboxInput):
        return "check"
    if isinstance(widget, FileInput):
        return "file"
    return "password" if isinstance(widget, PasswordInput) else "text"


def control_attributes(bound: BoundField, wanted: Options) -> dict[str, str | bool]:
    widget = bound.field.widget
    look = "form-control"
    if isinstance(widget, CheckboxInput):
        look = "form-check-input"
    elif isinstance(widget, Select):
        look = "form-select"
    classes = [widget.attrs.get("class", ""), look, wanted.classes, "is-invalid" if bound.errors else ""]
    attributes: dict[str, str | bool] = {"class": " ".join(filter(None, classes))}
    described = _described_by(bound, wanted)
    if described:
        attributes["aria-describedby"] = described
    return attributes


def _described_by(bound: BoundField, wanted: Options) -> str:
    parts = []
    if wanted.hint or bound.help_text:
        parts.append(f"{bound.auto_id}_helptext")
    if bound.errors:
        parts.append(f"{bound.auto_id}_error")
    return " ".join(parts)


def checking(bound: BoundField, wanted: Options) -> dict[str, str]:
    """htmx attributes of the field's box: post the form as the field is left, take back this field only.

    The view sees `X-Validate: <name>` and answers with the bound form, saving nothing.
    """
    box = f"#field-{bound.auto_id}"
    return {
        "hx-post": wanted.validate,
        "hx-trigger": "change",
        "hx-target": box,
        "hx-select": box,
        "hx-swap": "outerHTML",
        "hx-include": "closest form",
        "hx-headers": f'{{"X-Validate": "{bound.html_name}"}}',
        "hx-sync": "this:replace",
    }


def filter_context(bound: BoundField) -> dict[str, Any]:
    """Context of components/filter_field.html: one small control of a filter bar, its label inside it."""
    widget = bound.field.widget
    kind = control_kind(bound)
    attributes: dict[str, str | bool] = {"aria-label": str(bound.label)}
    if isinstance(widget, TextInput) and widget.input_type == "text":
        widget.input_type = "search"
    if isinstance(widget, Select):
        widget.choices = named_choices(widget.choices, bound.label)
    if kind == "check":
        attributes["class"] = "form-check-input m-0"
    elif isinstance(widget, Select):
        attributes["class"] = "form-select form-select-sm"
    else:
        attributes |= {"class": "form-control form-control-sm", "placeholder": str(bound.label)}
    return {"bound": bound, "kind": kind, "control": bound.as_widget(attrs=attributes)}


def named_choices(choices: Iterable[Any], label: Text) -> list[Any]:
    """The same choices; the empty one says what is not filtered ("State: any"), for there is no label beside it."""
    return [(value, _unfiltered(label, words) if value == "" else words) for value, words in choices]


def _unfiltered(label: Text, words: Any) -> Text:
    return format_lazy(_("{label}: {value}"), label=label, value=_("any") if set(str(words)) == {"-"} else words)
