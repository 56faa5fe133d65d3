"""How payments are taken, and what holds in arrears: three forms on one page, each saved on its own."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.arrears.settings import MAX_GRACE_MINUTES, MAX_RETENTION_DAYS, WRONG_RETENTION, ArrearsSettings
from apps.billing.changes.api_fields import ChangeRequestRef
from apps.billing.changes.proposals import NewLimits
from apps.billing.changes.services import submit
from apps.billing.models import ChangeRequest
from apps.billing.payments.alipay import keys
from apps.billing.payments.alipay.settings import PROBLEMS, AlipaySettings, is_installed
from apps.billing.payments.settings import PaymentSettings
from apps.billing.policy import RELEASE_NOTICES
from apps.common.access import requires
from apps.common.actor import Actor
from apps.common.money import FEN_PER_YUAN
from apps.common.money_fields import YuanField
from apps.common.permissions import Permission as P
from apps.console.kit.requests import StaffRequest
from apps.console.kit.second_person import nobody_else
from apps.console.settings.api import TAGS, SettingsView
from apps.console.settings.editing import VIEW, edit_several
from apps.console.settings.forms import SecretField, SettingsForm
from apps.tenants import settings

PERCENT = forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"})
PLAIN = forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})
LONG = forms.Textarea(attrs={"rows": 4, "autocomplete": "off", "spellcheck": "false"})


def typed(fen: int) -> str:
    """An amount as one would type it."""
    return f"{fen // FEN_PER_YUAN}.{fen % FEN_PER_YUAN:02d}"


class PaymentForm(SettingsForm):
    group = PaymentSettings

    alone_fen = YuanField(
        label=_("One person alone may move up to"),
        help_text=_(
            "One recharge, refund, voucher or credit limit, and all that one person grants in a day, waits beyond this"
            " until a second person has approved it. 0: each one."
        ),
    )
    discount_percent = forms.IntegerField(
        label=_("One person alone may give a discount of up to"), min_value=0, max_value=100, widget=PERCENT
    )
    price_drop_percent = forms.IntegerField(
        label=_("One person alone may lower a price by up to"),
        min_value=0,
        max_value=100,
        widget=PERCENT,
        help_text=_("Compared with the highest price of the last 30 days, so that small steps count together."),
    )

    def initial_of(self, current: Any) -> dict[str, Any]:
        return {**super().initial_of(current), "alone_fen": typed(current.alone_fen)}

    def put(self, actor: Actor) -> str:
        asked = submit(actor, NewLimits(self.value())).request  # type: ignore[arg-type]
        if asked is None:
            return super().put(actor)
        return gettext("Asked for: one person alone may do more only once a second person has approved it.")


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


class PaymentOut(serializers.Serializer[Any]):
    alone_fen = serializers.IntegerField(
        min_value=0,
        help_text="Fen that one person alone may recharge, refund, grant or lend, at once or in a day.",
    )
    discount_percent = serializers.IntegerField(
        min_value=0, max_value=100, help_text="Per cent that one person alone may take off an organisation's prices."
    )
    price_drop_percent = serializers.IntegerField(
        min_value=0, max_value=100, help_text="Per cent by which one person alone may lower a price within 30 days."
    )


@extend_schema(tags=TAGS, request=PaymentOut, responses=PaymentOut)
class Payment(SettingsView):
    group, serializer = PaymentSettings, PaymentOut

    def put_group(self, value: Any) -> ChangeRequest | None:
        return submit(self.actor, NewLimits(value)).request

    @extend_schema(responses={200: PaymentOut, 202: ChangeRequestRef})
    def patch(self, request: Request) -> Response:
        """What is left out stays as it is. 202 with a request where it would loosen anything: that takes two people."""
        return super().patch(request)


class ArrearsForm(SettingsForm):
    group = ArrearsSettings

    grace_minutes = forms.IntegerField(
        label=_("Work goes on without money for"),
        min_value=0,
        max_value=MAX_GRACE_MINUTES,
        help_text=_("Then it is saved and stopped."),
    )
    retention_days = forms.IntegerField(
        label=_("Data is kept after that for"),
        min_value=RELEASE_NOTICES[0],
        max_value=MAX_RETENTION_DAYS,
        error_messages={"min_value": WRONG_RETENTION, "max_value": WRONG_RETENTION},
        help_text=_("Its release is announced 7, 3 and 1 days before."),
    )
    deletes = forms.BooleanField(
        label=_("Released data goes into the recycle bin by itself"),
        required=False,
        help_text=_("Otherwise it stays until the platform's staff move it there."),
    )


FORMS: dict[str, type[SettingsForm]] = {"recharge": PaymentForm, "arrears": ArrearsForm, "alipay": AlipayForm}


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def payment(request: StaffRequest) -> HttpResponse:
    found = settings.get(AlipaySettings)
    own = keys.public_of(found.private_key) if found.private_key else ""
    return edit_several(
        request,
        "settings_payment",
        FORMS,
        template="console/settings/payment.html",
        installed=is_installed(),
        alone_in_charge=nobody_else(request.actor, P.PLATFORM_SETTINGS_MANAGE),
        alipay_on=found.is_ready,
        own_public_key=own,
        fingerprint=keys.fingerprint(own) if own else "",
        notify_url=request.build_absolute_uri(reverse("billing:alipay_notify")),
    )
