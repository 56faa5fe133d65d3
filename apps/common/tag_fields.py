"""Tags in forms and filters."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.common.tags import FIELD, join, parse

# Ten of forty letters each, and what parts them.
LONGEST_LINE = 1000


class TagsField(forms.CharField):
    """One line of words; its value is a tuple of tags. Redisplays what was typed after a refusal."""

    def __init__(self, **options: Any) -> None:
        plain = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}
        given = {"label": _("Tags"), "required": False, "max_length": LONGEST_LINE, **options}
        super().__init__(widget=forms.TextInput(plain), **given)

    def clean(self, value: Any) -> Any:
        line = super().clean(value)
        try:
            return parse(line)
        except Invalid as error:
            raise ValidationError(str(error.fields[FIELD])) from error

    def prepare_value(self, value: str | Iterable[str] | None) -> str:
        return value if isinstance(value, str) else join(value or ())
