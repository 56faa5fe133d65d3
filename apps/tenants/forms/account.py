"""The form about oneself. It only translates: every rule stands in the service."""

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.tenants.models import User


class ProfileForm(forms.Form):
    name = forms.CharField(
        label=pgettext_lazy("person", "Name"),
        max_length=80,
        required=False,
        help_text=_("As colleagues see it; without one they see the user name."),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    email = forms.EmailField(
        label=_("E-mail"),
        required=False,
        help_text=_("For signing in and for resetting the password."),
        error_messages={"invalid": _("This is not an e-mail address.")},
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    language = forms.ChoiceField(
        label=_("Language"),
        required=False,
        choices=[("", _("As the browser asks"))],
        help_text=_("Of the pages and of what is sent to you."),
    )

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        # Each language by its own name, so that one can find the way back.
        self.fields["language"].choices = [("", _("As the browser asks")), *language_names()]  # type: ignore[attr-defined]


def language_names() -> list[tuple[str, str]]:
    """The site's languages, each called what its speakers call it."""
    names = {"zh-hans": "中文", "en": "English"}
    return [(code, names.get(code, str(label))) for code, label in settings.LANGUAGES]


def initial_of(user: User) -> dict[str, str]:
    return {"name": user.name, "email": user.email, "language": user.language}
