"""The form of a refund through Alipay."""

from typing import Any
from uuid import uuid4

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.billing.payments.alipay.refunds import REASON_MAX
from apps.common.money_fields import YuanField


class RefundForm(forms.Form):
    """`key` makes a second press the same refund."""

    amount = YuanField(label=_("Amount"), widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}))
    reason = forms.CharField(
        label=_("Reason"),
        max_length=REASON_MAX,
        help_text=_("Alipay shows it to whoever paid."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    key = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial.setdefault("key", uuid4())
