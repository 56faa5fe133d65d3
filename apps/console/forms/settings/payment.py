"""The forms of how payments are taken: by two people, and by Alipay."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from apps.billing.payments.alipay import keys
from apps.billing.payments.alipay.settings import PROBLEMS, AlipaySettings
from apps.billing.payments.settings import PaymentSettings
from apps.common.money import FEN_PER_YUAN
from apps.common.money_fields import YuanField
from apps.console.forms.settings.base import SecretField, SettingsForm

PLAIN = forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})
LONG = forms.Textarea(attrs={"rows": 4, "autocomplete": "off", "spellcheck": "false"})


def typed(fen: int) -> str:
    """An amount as one would type it."""
    return f"{fen // FEN_PER_YUAN}.{fen % FEN_PER_YUAN:02d}"


class PaymentForm(SettingsForm):
    group = PaymentSettings

    alone_fen = YuanField(
        label=_("One person alone may move up to"),
        help_text=_("A recharge, refund or voucher of more waits until a second person has approved it. 0: each one."),
    )

    def initial_of(self, current: Any) -> dict[str, Any]:
        return {"alone_fen": typed(current.alone_fen)}


class KeyField(SecretField):
    """The application's private key, brought to the form that is used as soon as it is given."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.widget = forms.Textarea(attrs={"rows": 4, "autocomplete": "off", "spellcheck": "false"})

    def prepare_value(self, value: Any) -> str:
        """Never sent back to the browser."""
        return ""

    def clean(self, value: Any) -> str:
        return _usable(super().clean(value), keys.private_key)


class AlipayForm(SettingsForm):
    group = AlipaySettings

    enabled = forms.BooleanField(label=_("Take payments by Alipay"), required=False)
    app_id = forms.CharField(label=_("Application number (APPID)"), required=False, max_length=32, widget=PLAIN)
    seller_id = forms.CharField(label=_("Merchant number (PID)"), required=False, max_length=32, widget=PLAIN)
    private_key = KeyField(
        label=_("Application's private key"),
        max_length=8000,
        help_text=_("RSA2, PKCS#1 or PKCS#8, as Alipay's key tool writes it. It is encrypted and never shown again."),
    )
    alipay_public_key = forms.CharField(
        label=_("Alipay's public key"),
        required=False,
        max_length=4000,
        widget=LONG,
        help_text=_("The one that Alipay shows once you have entered your public key there, not your own."),
    )
    gateway = forms.URLField(label=_("Gateway"), max_length=200, assume_scheme="https", widget=PLAIN)
    least_fen = YuanField(label=_("Smallest amount"))
    most_fen = YuanField(label=_("Largest amount"))
    expire_minutes = forms.IntegerField(label=_("A payment page stays open for"), min_value=1, max_value=1440)

    def initial_of(self, current: Any) -> dict[str, Any]:
        amounts = {name: typed(getattr(current, name)) for name in ("least_fen", "most_fen")}
        return {**super().initial_of(current), **amounts}

    def clean_alipay_public_key(self) -> str:
        return _usable(self.cleaned_data["alipay_public_key"], keys.public_key)

    def stored(self, name: str) -> Any:
        value = super().stored(name)
        return value.strip() if isinstance(value, str) else value


def _usable(text: str, read: Any) -> str:
    """The key in its one form; empty stays empty."""
    if not text.strip():
        return ""
    try:
        usable: str = read(text)
    except keys.KeyProblem as problem:
        raise ValidationError(str(PROBLEMS[problem.code])) from problem
    return usable
