"""Ports of one's own in forms and in the API."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from apps.common.errors import Invalid
from apps.workloads.ports.declaring import FIELD, as_text, parse
from apps.workloads.spec import Port


class PortsField(forms.CharField):
    """Lines of ports; its value is a tuple of `Port`. Redisplays what was typed after a refusal."""

    def __init__(self, **options: Any) -> None:
        plain = {"rows": 3, "spellcheck": "false", "autocomplete": "off", "placeholder": "gradio 7860 The demo"}
        given = {"label": _("Ports of its own"), "required": False, "max_length": 1000, **options}
        super().__init__(widget=forms.Textarea(plain), **given)

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        try:
            return parse(text)
        except Invalid as error:
            raise ValidationError(str(error.fields[FIELD])) from error

    def prepare_value(self, value: str | Iterable[Port] | None) -> str:
        return value if isinstance(value, str) else as_text(value or ())


class OwnPortSerializer(serializers.Serializer[Any]):
    """A port of 127.0.0.1 inside, from 1024 to 65535, on which the program serves pages; opened by its name.

    `rank`: the member whose port it is. `label`: what it is, for people.
    """

    name = serializers.CharField(max_length=40)
    number = serializers.IntegerField(min_value=1, max_value=65535)
    rank = serializers.IntegerField(min_value=0, max_value=9999, default=0)
    label = serializers.CharField(allow_blank=True, default="", max_length=200)  # type: ignore[assignment]


def ports_of(rows: Iterable[dict[str, Any]]) -> tuple[Port, ...]:
    """From validated data; the services check names and numbers."""
    return tuple(Port(row["name"], row["number"], row["rank"], row["label"], own=True) for row in rows)
