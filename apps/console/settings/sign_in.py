"""How people sign in: the second factor, and other accounts. Two forms, each saved on its own."""

from django import forms
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from apps.common.access import requires
from apps.console.kit.requests import StaffRequest
from apps.console.settings.editing import VIEW, edit_several
from apps.console.settings.forms import SecretField, SettingsForm
from apps.tenants import second_factor
from apps.tenants.second_factor import Rule, SecuritySettings
from apps.tenants.social.settings import Cloud, SignInSettings

PLAIN = forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})


class SecurityForm(SettingsForm):
    group = SecuritySettings

    second_factor = forms.ChoiceField(
        label=_("Second factor"),
        choices=[
            (Rule.AUTOMATIC.value, _("Required where other machines can reach the site")),
            (Rule.ON.value, _("Required")),
            (Rule.OFF.value, _("Everybody's own choice")),
        ],
        help_text=_("Of the platform's staff, and of administrators and finance people of organisations."),
    )

    def stored(self, name: str) -> object:
        return Rule(super().stored(name))


class SignInForm(SettingsForm):
    group = SignInSettings

    weixin_on = forms.BooleanField(label=_("Sign in with WeChat"), required=False)
    weixin_id = forms.CharField(label=_("AppID"), required=False, max_length=64, widget=PLAIN)
    weixin_secret = SecretField(label=_("AppSecret"), max_length=200)
    microsoft_on = forms.BooleanField(label=_("Sign in with Microsoft"), required=False)
    microsoft_id = forms.CharField(label=_("Application (client) ID"), required=False, max_length=64, widget=PLAIN)
    microsoft_secret = SecretField(label=_("Client secret"), max_length=200)
    microsoft_tenant = forms.CharField(
        label=_("Tenant"),
        max_length=260,
        help_text=_("Its id or domain. “organizations” lets in people of any; “common” private accounts, too."),
        widget=PLAIN,
    )
    microsoft_cloud = forms.ChoiceField(
        label=_("Cloud"),
        choices=[(Cloud.GLOBAL.value, _("Worldwide")), (Cloud.CHINA.value, _("China (21Vianet)"))],
    )
    microsoft_trust_email = forms.BooleanField(
        label=_("Trust the tenant's e-mail addresses"),
        required=False,
        help_text=_("A person whose confirmed address here is the same is let in to that account. Own tenant only."),
    )

    def stored(self, name: str) -> object:
        value = super().stored(name)
        return Cloud(value) if name == "microsoft_cloud" else value.strip() if isinstance(value, str) else value


FORMS: dict[str, type[SettingsForm]] = {"security": SecurityForm, "others": SignInForm}


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def sign_in(request: StaffRequest) -> HttpResponse:
    providers = ("weixin", "microsoft")
    return edit_several(
        request,
        "settings_sign_in",
        FORMS,
        template="console/settings/sign_in.html",
        callbacks={name: request.build_absolute_uri(reverse(f"{name}_callback")) for name in providers},
        demanded=second_factor.is_enforced(),
    )
