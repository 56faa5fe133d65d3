"""The form of how payments are taken."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.billing.payment_settings import PaymentSettings
from apps.console.forms.fields import YuanField
from apps.console.forms.settings.base import SettingsForm


class PaymentForm(SettingsForm):
    group = PaymentSettings

    alone_fen = YuanField(
        label=_("One person alone may recharge up to"),
        help_text=_("A recharge of more waits until a second person has approved it. 0: each one does."),
    )

    def initial_of(self, current: Any) -> dict[str, Any]:
        return {"alone_fen": f"{current.alone_fen // 100}.{current.alone_fen % 100:02d}"}
