"""Each route says who may call it."""

import pytest
from django.contrib.auth.models import AnonymousUser
from rest_framework.test import APIRequestFactory

from apps.common.access import Access, Realm
from apps.common.api import ScopedView
from tests.architecture.routes import THIRD_PARTY, own_routes, routes


def declared(access: object) -> list[Access]:
    if isinstance(access, dict):
        return list(access.values())
    return [access] if isinstance(access, Access) else []


def test_every_route_declares_its_access() -> None:
    silent = [route.name for route in own_routes() if not declared(route.access)]
    assert silent == []


def test_organisation_and_platform_routes_name_a_permission() -> None:
    vague = [
        route.name
        for route in own_routes()
        for access in declared(route.access)
        if access.realm in (Realm.ORGANISATION, Realm.PLATFORM) and access.permission is None
    ]
    assert vague == []


def test_the_list_of_library_routes_names_only_what_exists() -> None:
    assert {route.name for route in routes()} >= THIRD_PARTY - {"account_email", "account_confirm_email"} - OPTIONAL


# allauth adds these with settings that may be switched on later.
OPTIONAL = {
    "account_set_password",
    "account_reauthenticate",
    "account_confirm_login_code",
    "account_request_login_code",
    "account_email_verification_sent",
}


@pytest.mark.django_db  # its requests are counted
def test_an_api_view_that_declares_nothing_is_refused() -> None:
    class Silent(ScopedView):
        def get(self, request: object) -> None:
            raise AssertionError("must not be reached")

    request = APIRequestFactory().get("/")
    request.user = AnonymousUser()
    assert Silent.as_view()(request).status_code in (401, 403)
