"""Sample forms: one of every kind of field, and a filter bar."""

from django import forms
from django.core.validators import MaxValueValidator, RegexValidator

from apps.common.forms import search_box


class SampleForm(forms.Form):
    name = forms.CharField(
        label="Name",
        max_length=60,
        help_text="Letters, digits, dots and dashes; unique within the organisation.",
        validators=[RegexValidator(r"^[\w.-]+$", "Use letters, digits, dots and dashes only: “digits-v3” would do.")],
    )
    launcher = forms.ChoiceField(label="Entry", choices=[("python", "Python file"), ("shell", "Shell command")])
    memory = forms.IntegerField(
        label="Memory", validators=[MaxValueValidator(240, "The largest node has 240 GiB. Take 240 or less.")]
    )
    isolation = forms.ChoiceField(
        label="Isolation",
        widget=forms.RadioSelect,
        initial="whole",
        choices=[("whole", "Whole card"), ("mig", "Hardware slice"), ("shared", "Shared, no isolation")],
    )
    secret = forms.CharField(label="Access key", widget=forms.PasswordInput, required=False)
    digest = forms.BooleanField(label="Mail me when it ends", required=False)
    code = forms.CharField(label="Code", widget=forms.Textarea(attrs={"data-code": "python", "rows": 10}))
    code_files = forms.FileField(label="Files", required=False, help_text="Single files or one zip, 200 MB at most.")


class SampleFilter(forms.Form):
    q = forms.CharField(label="Search name, image, node", required=False, widget=search_box())
    status = forms.ChoiceField(
        label="Status", required=False, choices=[("", "---------"), ("running", "Running"), ("failed", "Failed")]
    )
    mine = forms.BooleanField(label="Mine only", required=False)
