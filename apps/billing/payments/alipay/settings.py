"""What the platform needs to know to take payments by Alipay."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import ClassVar
from urllib.parse import urlsplit

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.billing import policy
from apps.billing.payments.alipay import keys
from apps.common.errors import Invalid
from apps.tenants.settings import secret

GATEWAY = "https://openapi.alipay.com/gateway.do"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
PROBLEMS: dict[str, str | Promise] = {
    "unreadable": gettext_lazy("This is no key: paste it whole, with or without its first and last line."),
    "not_rsa": gettext_lazy("This is no RSA key: Alipay's RSA2 needs one."),
    "too_small": gettext_lazy("This key is too short: RSA2 needs at least 2048 bits."),
}


def is_installed() -> bool:
    """Whether Alipay's SDK is there; the quick start leaves it out for its size."""
    return find_spec("alipay") is not None


@dataclass(frozen=True, slots=True)
class AlipaySettings:
    """Amounts in fen. `expire_minutes`: how long a payment page stays open. `seller_id`: the merchant's id (2088…)."""

    KEY: ClassVar[str] = "alipay"

    enabled: bool = False
    app_id: str = ""
    seller_id: str = ""
    private_key: str = secret()
    alipay_public_key: str = ""
    gateway: str = GATEWAY
    least_fen: int = 100
    most_fen: int = 5_000_000
    expire_minutes: int = 30

    @property
    def is_ready(self) -> bool:
        return self.enabled and is_installed()

    def validate(self) -> None:
        """Raises `Invalid` with the fields at fault. The keys must be in the forms that `keys` gives."""
        wrong: dict[str, str | Promise] = {}
        for name, read in (("private_key", keys.private_key), ("alipay_public_key", keys.public_key)):
            problem = _problem(getattr(self, name), read, required=self.enabled)
            if problem:
                wrong[name] = problem
        if self.enabled and not (self.app_id.isascii() and self.app_id.isdigit()):
            wrong["app_id"] = _("The application's number, digits only.")
        if self.enabled and not (self.seller_id.startswith("2088") and self.seller_id.isdigit()):
            wrong["seller_id"] = _("The merchant's number: it begins with 2088.")
        if not _is_private_channel(self.gateway):
            wrong["gateway"] = _("Give the gateway's address by https, as in %(url)s.") % {"url": GATEWAY}
        if not 1 <= self.least_fen <= self.most_fen <= policy.TOP_UP_MAX_FEN:
            wrong["most_fen"] = _("The largest amount is at least the smallest, and no more than one top-up may be.")
        if not 1 <= self.expire_minutes <= 1440:
            wrong["expire_minutes"] = _("From one minute to a day.")
        if not wrong and self.enabled and keys.public_of(self.private_key) == self.alipay_public_key:
            wrong["alipay_public_key"] = _("This is your own public key. Paste the one that Alipay shows in return.")
        if wrong:
            raise Invalid(_("These settings cannot be used."), fields=wrong)


def _is_private_channel(url: str) -> bool:
    """Whether nobody in between can read or change what is sent there: TLS, or this machine itself (a test's gateway).

    People are sent to the same address to pay.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:  # a bracket without its other half
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK))


def _problem(text: str, read: Callable[[str], str], *, required: bool) -> str | Promise:
    if not text:
        return _("Needed to take payments.") if required else ""
    try:
        read(text)
    except keys.KeyProblem as problem:
        return PROBLEMS[problem.code]
    return ""
