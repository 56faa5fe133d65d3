"""The part of a run's form that asks for several sets of arguments."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.common.forms import key_value_rows
from apps.training.arrays.lines import FIELD, MOST_LINES, MOST_TEXT, Line, Shape, read_lines


class ArrayForm(forms.Form):
    """Without lines it starts one run, as if this part were not there."""

    lines = forms.CharField(
        label=_("Sets of arguments"),
        required=False,
        strip=False,
        max_length=MOST_TEXT,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false", "class": "pl-mono"}),
    )
    line_shape = forms.ChoiceField(
        label=_("What a line is"), choices=Shape.choices, required=False, initial=Shape.WORDS, widget=forms.Select
    )
    at_once = forms.IntegerField(
        label=_("At most at a time"),
        min_value=1,
        max_value=MOST_LINES,
        required=False,
        help_text=_("Empty: as many as quota and balance let. The others start as these end."),
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        data["array_lines"] = []
        try:
            if (data.get(FIELD) or "").strip():
                data["array_lines"] = self._read(data[FIELD])
        except Invalid as error:
            # What is wrong with the table of arguments is said beside that.
            if FIELD in error.fields:
                self.add_error(FIELD, str(error.message))
        return data

    def _read(self, text: str) -> list[Line]:
        return read_lines(text, self.chosen_shape(), key_value_rows(self.data, "arguments"))  # type: ignore[arg-type]

    def chosen_shape(self) -> Shape:
        asked = str(self["line_shape"].value() or "")
        return Shape(asked) if asked in Shape.values else Shape.WORDS

    def array_lines(self) -> list[Line]:
        """The form must be valid."""
        found: list[Line] = self.cleaned_data["array_lines"]
        return found
