"""Settings of signing in with WeChat and Microsoft: sealed, and checked before they are kept."""

from dataclasses import replace
from typing import Any

import pytest

from apps.common.errors import Invalid
from apps.tenants import settings
from apps.tenants.models import PlatformSetting
from apps.tenants.social.settings import SignInSettings
from tests.tenants import loopback
from tests.tenants.test_social import ON, keep

pytestmark = pytest.mark.django_db


def test_secrets_of_the_apps_are_sealed_in_the_database() -> None:
    keep(ON)
    row = PlatformSetting.objects.get(pk=SignInSettings.KEY)
    stored = f"{row.value} {bytes(row.sealed or b'')!r}"
    assert loopback.WECHAT_SECRET not in stored
    assert loopback.MICROSOFT_SECRET not in stored
    assert settings.get(SignInSettings).weixin_secret == loopback.WECHAT_SECRET


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("weixin_id", {"weixin_id": ""}),
        ("microsoft_secret", {"microsoft_secret": " "}),
        ("microsoft_tenant", {"microsoft_tenant": "../evil"}),
        ("microsoft_trust_email", {"microsoft_tenant": "common", "microsoft_trust_email": True}),
    ],
)
def test_settings_that_cannot_work_are_refused_beside_the_field(field: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as refused:
        keep(replace(ON, **wrong))
    assert set(refused.value.fields) == {field}
