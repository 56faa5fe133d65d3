"""What is asked of who writes a report."""

from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.training.reports.services import LONGEST_NAME, LONGEST_TEXT


class ReportForm(forms.Form):
    """The runs are hidden fields beside it, `run` once for each."""

    name = forms.CharField(label=_("Name"), max_length=LONGEST_NAME)
    text = forms.CharField(
        label=_("Text"),
        max_length=LONGEST_TEXT,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 22, "class": "pl-mono", "spellcheck": "true"}),
    )
    shared = forms.BooleanField(
        label=_("For the whole organisation"),
        required=False,
        help_text=_("Colleagues find it; each sees only the runs that they may see anyway."),
    )

    def asked(self, run_ids: list[UUID]) -> dict[str, object]:
        """What the services take."""
        return {**self.cleaned_data, "run_ids": run_ids}
