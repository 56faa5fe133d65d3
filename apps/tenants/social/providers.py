"""WeChat and Microsoft as the library's providers, plus what it lacks: errors with status 200, clouds, trust."""

from dataclasses import dataclass
from typing import Any

from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.microsoft.provider import MicrosoftGraphProvider
from allauth.socialaccount.providers.microsoft.views import MicrosoftGraphOAuth2Adapter
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.provider import OAuth2Provider
from allauth.socialaccount.providers.weixin.provider import WeixinProvider
from allauth.socialaccount.providers.weixin.views import WeixinOAuth2Adapter
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from apps.tenants.social.settings import SHARED_TENANTS, Cloud, SignInSettings


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The sign-in and profile addresses of one of Microsoft's clouds."""

    login: str
    graph: str


CLOUDS = {
    Cloud.GLOBAL: Endpoints("https://login.microsoftonline.com", "https://graph.microsoft.com"),
    Cloud.CHINA: Endpoints("https://login.partner.microsoftonline.cn", "https://microsoftgraph.chinacloudapi.cn"),
}


class WeChatAdapter(WeixinOAuth2Adapter):
    """WeChat says `{"errcode": …}` with status 200, and sends UTF-8 without saying so."""

    access_token_method = "GET"  # as its documents have it  # noqa: S105  a verb, no secret

    def complete_login(self, request: HttpRequest, app: SocialApp, token: Any, **kwargs: Any) -> SocialLogin:
        openid = kwargs.get("response", {}).get("openid", "")
        with get_adapter().get_requests_session() as session:
            answer = session.get(self.profile_url, params={"access_token": token.token, "openid": openid})
            answer.raise_for_status()
            answer.encoding = "utf-8"
            facts = answer.json()
        if not isinstance(facts, dict) or not facts.get("openid"):
            raise OAuth2Error(f"WeChat refused: {facts.get('errcode') if isinstance(facts, dict) else 'no object'}")
        return self.get_provider().sociallogin_from_response(request, facts)


class WeChatProvider(WeixinProvider):
    name = _("WeChat")
    icon = "brand-wechat"
    oauth2_adapter_class = WeChatAdapter

    def extract_uid(self, data: dict[str, Any]) -> str:
        """The id of a person across all apps of one WeChat account, if there is one."""
        return str(data.get("unionid") or data["openid"])

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        return {"nickname": str(data.get("nickname", ""))[:80]}

    def extract_common_fields(self, data: dict[str, Any]) -> dict[str, Any]:
        """A nickname is no user name: it may be anybody's."""
        return {"name": data.get("nickname", "")}


class MicrosoftAdapter(MicrosoftGraphOAuth2Adapter):
    """As the library has it."""


class MicrosoftProvider(MicrosoftGraphProvider):
    icon = "brand-windows"
    oauth2_adapter_class = MicrosoftAdapter

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        return {
            "name": str(data.get("displayName") or "")[:80],
            "account": str(data.get("userPrincipalName") or "")[:200],
        }

    def extract_common_fields(self, data: dict[str, Any]) -> dict[str, Any]:
        """The address only if the tenant can be trusted: anybody may give people of their own tenant any address."""
        fields = {"name": data.get("displayName") or ""}
        if self.app.settings.get("trusted"):
            fields["email"] = data.get("mail") or ""
        return fields


PROVIDERS: dict[str, type[OAuth2Provider]] = {"weixin": WeChatProvider, "microsoft": MicrosoftProvider}


def apps_of(chosen: SignInSettings) -> list[SocialApp]:
    """The enabled providers in the library's form; nothing is stored in its tables."""
    found = []
    if chosen.weixin_on:
        found.append(_app("weixin", chosen.weixin_id, chosen.weixin_secret, {}))
    if chosen.microsoft_on:
        ends = CLOUDS[chosen.microsoft_cloud]
        trusted = chosen.microsoft_trust_email and chosen.microsoft_tenant not in SHARED_TENANTS
        more = {
            "tenant": chosen.microsoft_tenant,
            "login_url": ends.login,
            "graph_url": ends.graph,
            "trusted": trusted,
            "verified_email": trusted,
        }
        found.append(_app("microsoft", chosen.microsoft_id, chosen.microsoft_secret, more))
    return found


def _app(provider: str, client_id: str, secret: str, more: dict[str, Any]) -> SocialApp:
    return SocialApp(provider=provider, name=provider, client_id=client_id, secret=secret, settings=more)
