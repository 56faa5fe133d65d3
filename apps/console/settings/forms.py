"""What the forms of settings are made of.

    class OptionsForm(SettingsForm):
        group = EnvironmentSettings
        bin_days = forms.IntegerField(label=_("Days in the bin"))

Fields are named after the group's; what the group has and the form has not stays as it is. Rules stand in the group's
`validate`. Secrets (`SecretField`) are never sent to the browser: an empty one stays as it is.
"""

from dataclasses import fields, replace
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.common.actor import Actor
from apps.tenants import settings
from apps.tenants.settings import Group

FORGET = "forget_"


class SecretField(forms.CharField):
    """A password or key: written, never shown."""

    def __init__(self, **options: Any) -> None:
        widget = forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"})
        super().__init__(required=False, strip=False, widget=widget, **options)


class DaysField(forms.CharField):
    """Whole numbers between commas, cleaned to a tuple in ascending order."""

    default_error_messages = {"numbers": gettext_lazy("Whole numbers with commas between, as in 1, 7, 30.")}

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(str(each) for each in value) if isinstance(value, tuple | list) else value

    def clean(self, value: Any) -> tuple[int, ...]:
        text = super().clean(value).replace("，", ",")
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
            raise forms.ValidationError(self.error_messages["numbers"], code="numbers")
        return tuple(sorted({int(part) for part in parts}))


class SettingsForm(forms.Form):
    group: ClassVar[type[Group]]

    def __init__(
        self, data: Any = None, files: Any = None, *, editable: bool = True, prefix: str | None = None
    ) -> None:
        self.current = settings.get(self.group)
        super().__init__(data, files, initial=self.initial_of(self.current), prefix=prefix)
        for name in self._secrets():
            self._offer_to_forget(name)
        if not editable:
            for field in self.fields.values():
                field.disabled = True

    def initial_of(self, current: Any) -> dict[str, Any]:
        """The form's values of the group, in the units that people use."""
        hidden = self._secrets()
        return {field.name: getattr(current, field.name) for field in fields(current) if field.name not in hidden}

    def stored(self, name: str) -> Any:
        """One cleaned value as the group keeps it."""
        return self.cleaned_data[name]

    def value(self) -> Group:
        """The group as the form has it; call it once the form is valid."""
        names = [field.name for field in fields(self.current) if field.name in self.fields]
        hidden = self._secrets()
        changed = {name: self.stored(name) for name in names if name not in hidden}
        for name in hidden:
            if self.cleaned_data.get(FORGET + name) or self.cleaned_data[name]:
                changed[name] = "" if self.cleaned_data.get(FORGET + name) else self.cleaned_data[name]
        return replace(self.current, **changed)

    def put(self, actor: Actor) -> str:
        """Store the values of a valid form; returns what the person is told."""
        settings.put(actor, self.value())
        return _("The settings have been saved.")

    def _secrets(self) -> list[str]:
        return [name for name, field in self.base_fields.items() if isinstance(field, SecretField)]

    def _offer_to_forget(self, name: str) -> None:
        if not getattr(self.current, name):
            return
        self.fields[name].help_text = _("One is stored. Leave this empty to keep it.")
        self.fields[FORGET + name] = forms.BooleanField(label=_("Forget the stored one"), required=False)
