"""Forms of models. They only translate: every rule stands in the services."""

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.actor import Actor
from apps.modelhub import selectors
from apps.storage.forms import VersionForm

NAME_HINT = _("Letters, digits, dots, - and _; up to 60 of them.")


class ModelForm(forms.Form):
    name = forms.CharField(
        label=_("Name"),
        max_length=200,
        help_text=NAME_HINT,
        error_messages={"required": _("Give the model a name.")},
    )
    note = forms.CharField(label=_("Note"), max_length=200, required=False)
    open_to_all = forms.BooleanField(
        label=_("Everyone in the organisation may read it"), required=False, help_text=_("To see, download and use it.")
    )


class AddVersionForm(VersionForm):
    """Where the next version comes from: a folder or file of a volume, or what was uploaded for it (no volume)."""

    path = forms.CharField(
        label=_("Folder or file"),
        max_length=1024,
        required=False,
        help_text=_("Inside the volume; empty for all of it."),
    )


class CardForm(forms.Form):
    card = forms.CharField(
        label=_("Model card"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 18}),
        help_text=_(
            "What it is for, what it is not for, which data it saw, what it is bad at. Markdown, shown as text."
        ),
    )


class AliasForm(forms.Form):
    name = forms.CharField(
        label=_("Alias"), max_length=100, help_text=_("Such as staging or champion; it is moved here from where it is.")
    )


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason"), max_length=500, required=False, widget=forms.Textarea(attrs={"rows": 3})
    )


class RegisterForm(forms.Form):
    """A folder or file of what a run wrote, as the next version of a model, or as the first of a new one."""

    path = forms.CharField(
        label=_("Folder or file"),
        max_length=1024,
        required=False,
        help_text=_("Inside the output; empty for all of it."),
        widget=forms.TextInput(attrs={"list": "outputs", "autocomplete": "off"}),
    )
    model = forms.TypedChoiceField(label=pgettext_lazy("learned", "Model"), required=False, empty_value=None)
    name = forms.CharField(label=_("Name of the new model"), max_length=200, required=False, help_text=NAME_HINT)
    note = forms.CharField(label=_("Note"), max_length=200, required=False)

    def __init__(self, *args: object, actor: Actor, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        rows = [(str(row.pk), row.name) for row in selectors.writable(actor)[:500]]
        self.fields["model"].choices = [("", _("A new one")), *rows]  # type: ignore[attr-defined]
