"""Which other accounts people may sign in with, as the platform's administrators set it."""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from django.utils.translation import gettext as _

from apps.common.errors import Invalid

# Tenants that let in more than one organisation's people: nobody in particular vouches for their addresses.
SHARED_TENANTS = {"common", "organizations", "consumers"}
_TENANT = re.compile(r"[0-9a-fA-F-]{36}|[a-zA-Z0-9.-]{1,250}\.[a-zA-Z]{2,63}", re.ASCII)


class Cloud(StrEnum):
    """Which of Microsoft's clouds the tenant lives in."""

    GLOBAL = "global"
    CHINA = "china"  # run by 21Vianet


@dataclass(frozen=True, slots=True)
class SignInSettings:
    """WeChat (an app of open.weixin.qq.com) and Microsoft (an app registration of Entra ID)."""

    KEY: ClassVar[str] = "sign-in"

    weixin_on: bool = False
    weixin_id: str = ""
    weixin_secret: str = field(default="", metadata={"secret": True})
    microsoft_on: bool = False
    microsoft_id: str = ""
    microsoft_secret: str = field(default="", metadata={"secret": True})
    microsoft_tenant: str = "organizations"
    microsoft_cloud: Cloud = Cloud.GLOBAL
    # The tenant's administrators decide what addresses its people have: only one's own tenant can be believed.
    microsoft_trust_email: bool = False

    def validate(self) -> None:
        """Raises `Invalid` with the field at fault."""
        for name in ("weixin", "microsoft"):
            if getattr(self, f"{name}_on"):
                self._need(f"{name}_id")
                self._need(f"{name}_secret")
        if self.microsoft_tenant not in SHARED_TENANTS and not _TENANT.fullmatch(self.microsoft_tenant):
            raise Invalid.field(
                "microsoft_tenant", _("The tenant's id or domain, or “organizations” for any organisation.")
            )
        if self.microsoft_trust_email and self.microsoft_tenant in SHARED_TENANTS:
            raise Invalid.field("microsoft_trust_email", _("Only the addresses of one tenant can be trusted."))

    def _need(self, name: str) -> None:
        if not getattr(self, name).strip():
            raise Invalid.field(name, _("Needed to switch it on."))
