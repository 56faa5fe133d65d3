"""Fields of a new run that say how its metrics are read."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.tracking.collecting.settings import MetricSettings, clean_patterns


class MetricsForm(forms.Form):
    """One pattern a line."""

    metrics_off = forms.BooleanField(label=_("Do not read metrics"), required=False)
    metric_patterns = forms.CharField(
        label=_("Own patterns, one a line"),
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "form-control pl-mono"}),
    )
    # What the patterns are tried on; no part of the run.
    metric_sample = forms.CharField(
        label=_("A sample of the log"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "class": "form-control pl-mono"}),
    )

    def clean_metric_patterns(self) -> str:
        text: str = self.cleaned_data["metric_patterns"]
        try:
            clean_patterns(text.splitlines())
        except Invalid as error:
            raise forms.ValidationError(str(error.message)) from error
        return text

    def metric_settings(self) -> MetricSettings:
        data = self.cleaned_data
        patterns = tuple(line.strip() for line in data["metric_patterns"].splitlines() if line.strip())
        return MetricSettings(not data["metrics_off"], patterns)


def metrics_initial(settings: MetricSettings) -> dict[str, Any]:
    return {"metrics_off": not settings.read, "metric_patterns": "\n".join(settings.patterns)}
