"""Forms of the mail server and the SMS gateway."""

from django import forms
from django.conf import settings as installation
from django.utils.translation import gettext_lazy as _

from apps.console.forms.settings.base import SecretField, SettingsForm
from apps.notifications.settings import BodyFormat, MailSecurity, MailSettings, SmsSettings
from apps.tenants.forms.account import own_names

LINES = {"rows": 3, "spellcheck": "false", "class": "pl-code"}


class MailForm(SettingsForm):
    group = MailSettings

    host = forms.CharField(
        label=_("Server"),
        required=False,
        max_length=200,
        help_text=_("Empty: as the installation's environment says, else into files."),
    )
    port = forms.IntegerField(label=_("Port"), min_value=1, max_value=65535)
    security = forms.ChoiceField(
        label=_("Encryption"),
        choices=[
            (MailSecurity.STARTTLS.value, "STARTTLS"),
            (MailSecurity.TLS.value, "TLS"),
            (MailSecurity.NONE.value, _("None")),
        ],
    )
    username = forms.CharField(
        label=_("User name"), required=False, max_length=200, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    password = SecretField(label=_("Password"), max_length=400)
    from_address = forms.EmailField(
        label=_("From address"), required=False, error_messages={"invalid": _("This is not an e-mail address.")}
    )
    from_name = forms.CharField(label=_("From name"), required=False, max_length=80)
    site_url = forms.CharField(
        label=_("Address of this site"),
        required=False,
        max_length=200,
        help_text=_("For links in mails, as in https://gpu.example.org. Empty: as the environment says."),
    )
    language = forms.ChoiceField(label=_("Language"), help_text=_("Of mails to people who have chosen none."))
    hourly_limit = forms.IntegerField(
        label=_("Mails an hour"),
        min_value=1,
        max_value=1000,
        help_text=_("About one kind of matter to one person. What is over waits and leaves as one mail."),
    )

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self.fields["language"].choices = own_names()  # type: ignore[attr-defined]
        self.initial["language"] = self.initial["language"] or installation.LANGUAGE_CODE

    def stored(self, name: str) -> object:
        value = super().stored(name)
        return MailSecurity(value) if name == "security" else value


class SmsForm(SettingsForm):
    group = SmsSettings

    on = forms.BooleanField(label=_("Send SMS"), required=False)
    url = forms.CharField(label=_("Address of the gateway"), required=False, max_length=500)
    format = forms.ChoiceField(
        label=_("Format of the body"),
        choices=[(BodyFormat.JSON.value, "JSON"), (BodyFormat.FORM.value, _("Form fields"))],
    )
    body = forms.CharField(
        label=_("Fields of the body"),
        required=False,
        max_length=2000,
        help_text=_("One a line, name: value. {phone}, {text} and {key} (the same at each try) are replaced."),
        widget=forms.Textarea(attrs=LINES),
    )
    headers = forms.CharField(
        label=_("Headers"),
        required=False,
        max_length=2000,
        help_text=_("One a line, name: value."),
        widget=forms.Textarea(attrs=LINES),
    )
    authorization = SecretField(label=_("Authorization header"), max_length=2000)
    signature_header = forms.CharField(
        label=_("Header of the signature"),
        required=False,
        max_length=60,
        help_text=_("For gateways that want HMAC-SHA256 of the body, in hexadecimal."),
    )
    signing_key = SecretField(label=_("Key of the signature"), max_length=400)
    success = forms.CharField(
        label=_("Answer of success holds"),
        required=False,
        max_length=100,
        help_text=_("For gateways that answer 200 to a failure as well. Empty: the status decides."),
    )
    hourly_limit = forms.IntegerField(
        label=_("SMS an hour"),
        min_value=1,
        max_value=100,
        help_text=_("About one kind of matter to one person."),
    )

    def stored(self, name: str) -> object:
        value = super().stored(name)
        return BodyFormat(value) if name == "format" else value
