"""What the platform's finance staff may do, to the letter: money, and of everything else nothing."""

import pytest

from apps.common.access import Realm
from apps.common.permissions import Permission as P
from apps.tenants.choices import PlatformRole
from apps.tenants.roles import PLATFORM_ROLES
from tests.architecture.routes import Route, own_routes
from tests.architecture.test_access import declared
from tests.builders import make_staff, signed_in

THEIRS = {
    P.PLATFORM_OVERVIEW,
    P.PLATFORM_TENANTS_VIEW,
    P.PLATFORM_PRICES_VIEW,
    P.PLATFORM_PRICES_MANAGE,
    P.PLATFORM_RECHARGE,
    P.PLATFORM_FINANCE_VIEW,
    P.PLATFORM_STATEMENTS_MANAGE,
    P.PLATFORM_INVOICES_MANAGE,
    P.PLATFORM_AUDIT_MONEY,
    P.PLATFORM_STATEMENTS_MANAGE,
}


def test_the_role_is_these_rights_and_no_more() -> None:
    assert PLATFORM_ROLES[PlatformRole.FINANCE] == THEIRS


def lists() -> list[Route]:
    """The platform's pages and API lists that need no id and are read by GET."""
    return [
        route
        for route in own_routes()
        if not route.keys and any(each.realm is Realm.PLATFORM for each in declared(route.access))
    ]


@pytest.mark.django_db
def test_every_page_and_list_opens_exactly_with_one_of_them() -> None:
    client = signed_in(make_staff(PlatformRole.FINANCE))
    wrong = {}
    for route in lists():
        access = route.access["get"] if isinstance(route.access, dict) and "get" in route.access else route.access
        rights = {each.permission for each in declared(access)}
        answer = client.get(route.url({}))
        refused = answer.status_code == 403
        if refused == bool(rights & THEIRS) or answer.status_code >= 500:
            wrong[route.name] = (answer.status_code, sorted(filter(None, rights)))
    assert wrong == {}
