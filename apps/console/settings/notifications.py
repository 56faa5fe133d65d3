"""Mail and SMS: two forms on one page, each saved and tried out on its own, and their endpoints."""

from typing import Any

from django import forms
from django.conf import settings as installation
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import requires
from apps.common.api import ScopedView
from apps.common.pages import REFUSED, done
from apps.common.permissions import Permission as P
from apps.console.kit.requests import StaffRequest
from apps.console.settings.api import MANAGE, TAGS, SettingsView, choices_of
from apps.console.settings.editing import VIEW, check, context, keep, may_manage
from apps.console.settings.forms import SecretField, SettingsForm
from apps.notifications.branding import BrandingSettings
from apps.notifications.services.test_send import TrialResult, send_test_mail, send_test_sms, test_number
from apps.notifications.settings import BodyFormat, MailSecurity, MailSettings, SmsSettings
from apps.tenants import settings
from apps.tenants.forms.account import language_names
from apps.tenants.models import User

LINES = {"rows": 3, "spellcheck": "false", "class": "pl-code"}
PAGE = "settings_notifications"
TEMPLATE = "console/settings/notifications.html"


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
    language = forms.ChoiceField(
        label=_("Language"), help_text=_("Of mails to people who have neither chosen a language nor signed in yet.")
    )
    hourly_limit = forms.IntegerField(
        label=_("Mails an hour"),
        min_value=1,
        max_value=1000,
        help_text=_("About one kind of matter to one person. What is over waits and leaves as one mail."),
    )

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self.fields["language"].choices = language_names()  # type: ignore[attr-defined]
        standing = settings.get(BrandingSettings).language or installation.LANGUAGE_CODE
        self.initial["language"] = self.initial["language"] or standing

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


FORMS: dict[str, type[SettingsForm]] = {"mail": MailForm, "sms": SmsForm}


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def notifications(request: StaffRequest) -> HttpResponse:
    """`which` names the form that was sent. With `try` it is tried out as typed and nothing is saved."""
    editable = may_manage(request)
    shown: dict[str, SettingsForm] = {name: form(editable=editable, prefix=name) for name, form in FORMS.items()}
    if request.method != "POST":
        return _page(request, shown)
    request.actor.require(P.PLATFORM_SETTINGS_MANAGE)
    which = "sms" if request.POST.get("which") == "sms" else "mail"
    form = shown[which] = FORMS[which](request.POST, prefix=which)
    if "X-Validate" in request.headers:
        check(form)
        return _page(request, shown, status=REFUSED)
    if "try" in request.POST:
        check(form)
        tried = _try(request, form) if form.is_valid() and not form.errors else None
        return _page(request, shown, tried=tried, which=which, status=200 if tried else REFUSED)
    if keep(request, form):
        return done(request, gettext("The settings have been saved."), f"console:{PAGE}")
    return _page(request, shown, status=REFUSED)


def _try(request: StaffRequest, form: SettingsForm) -> TrialResult:
    """A message to oneself, by the way that the form describes."""
    user = User.objects.get(pk=request.actor.person())
    chosen = form.value()
    if isinstance(chosen, MailSettings):
        return send_test_mail(chosen, user)
    assert isinstance(chosen, SmsSettings)  # noqa: S101  the other of the two
    return send_test_sms(chosen, user)


def _page(request: StaffRequest, shown: dict[str, SettingsForm], *, status: int = 200, **more: Any) -> HttpResponse:
    user = User.objects.get(pk=request.actor.person())
    to = {"mail_to": user.email, "sms_to": test_number(user)}
    return render(request, TEMPLATE, context(request, PAGE, **shown, **to, **more), status=status)


class MailOut(serializers.Serializer[Any]):
    """Without a host, mail goes as the installation's environment says."""

    host = serializers.CharField(max_length=200, allow_blank=True)
    port = serializers.IntegerField(min_value=1, max_value=65535)
    security = serializers.ChoiceField(choices=choices_of(MailSecurity))
    username = serializers.CharField(max_length=200, allow_blank=True)
    password = serializers.CharField(max_length=400, allow_blank=True, write_only=True, trim_whitespace=False)
    password_set = serializers.BooleanField(read_only=True)
    from_address = serializers.CharField(max_length=254, allow_blank=True)
    from_name = serializers.CharField(max_length=80, allow_blank=True)
    site_url = serializers.CharField(max_length=200, allow_blank=True)
    language = serializers.ChoiceField(choices=installation.LANGUAGES, allow_blank=True)
    hourly_limit = serializers.IntegerField(min_value=1, max_value=1000)

    def validate_security(self, value: str) -> MailSecurity:
        return MailSecurity(value)


class SmsOut(serializers.Serializer[Any]):
    on = serializers.BooleanField()
    url = serializers.CharField(max_length=500, allow_blank=True)
    format = serializers.ChoiceField(choices=choices_of(BodyFormat))
    body = serializers.CharField(max_length=2000, allow_blank=True, help_text="Lines `name: value`.")
    headers = serializers.CharField(max_length=2000, allow_blank=True, help_text="Lines `name: value`.")
    authorization = serializers.CharField(max_length=2000, allow_blank=True, write_only=True, trim_whitespace=False)
    authorization_set = serializers.BooleanField(read_only=True)
    signature_header = serializers.CharField(max_length=60, allow_blank=True)
    signing_key = serializers.CharField(max_length=400, allow_blank=True, write_only=True, trim_whitespace=False)
    signing_key_set = serializers.BooleanField(read_only=True)
    success = serializers.CharField(max_length=100, allow_blank=True)
    hourly_limit = serializers.IntegerField(min_value=1, max_value=100)

    def validate_format(self, value: str) -> BodyFormat:
        return BodyFormat(value)


class TriedOut(serializers.Serializer[Any]):
    worked = serializers.BooleanField()
    text = serializers.CharField()
    detail = serializers.CharField(help_text="What the other side said.", allow_blank=True)


@extend_schema(tags=TAGS, request=MailOut, responses=MailOut)
class Mail(SettingsView):
    group, serializer = MailSettings, MailOut


@extend_schema(tags=TAGS, request=SmsOut, responses=SmsOut)
class Sms(SettingsView):
    group, serializer = SmsSettings, SmsOut


@extend_schema(tags=TAGS, request=None, responses=TriedOut)
class MailTest(ScopedView):
    access = MANAGE

    def post(self, request: Request) -> Response:
        """A mail to oneself by the stored settings, at once; the answer says what the server said."""
        user = User.objects.get(pk=self.actor.person())
        return Response(TriedOut(send_test_mail(settings.get(MailSettings), user)).data)


@extend_schema(tags=TAGS, request=None, responses=TriedOut)
class SmsTest(ScopedView):
    access = MANAGE

    def post(self, request: Request) -> Response:
        """An SMS to oneself by the stored settings."""
        user = User.objects.get(pk=self.actor.person())
        return Response(TriedOut(send_test_sms(settings.get(SmsSettings), user)).data)
