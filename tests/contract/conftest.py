"""One world for each role, made once; every request of the suite is undone before the next."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from django.test import Client, override_settings

from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import Membership
from tests.architecture.scene import run_of, values_of
from tests.builders import World, make_staff, make_world, platform, signed_in
from tests.contract.operations import Role as Caller
from tests.registry import serving

CSRF = "c" * 32
CREDENTIALS = {"authorization", "cookie", "x-csrftoken"}


@dataclass(frozen=True, slots=True)
class Seat:
    """A signed-in person, and the ids of what is theirs to see."""

    cookies: dict[str, str]
    values: dict[str, Any]

    def ask(self, case: Any, application: Any) -> Any:
        """The answer to a request, sent as this person's browser would; whatever it changed is undone."""
        with transaction.atomic():
            case.cookies = dict(self.cookies)
            case.headers = {name: value for name, value in case.headers.items() if name.lower() not in CREDENTIALS}
            case.headers["X-CSRFToken"] = CSRF
            case.headers["Accept-Encoding"] = "identity"  # called without a network, nothing unpacks the answer
            answer = case.call(app=application)
            transaction.set_rollback(True)
        return answer


@pytest.fixture(scope="package")
def one_connection() -> Iterator[None]:
    """The application closes its connection after a request; the world lives in that one's transaction."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture(scope="package")
def seats(
    one_connection: None, django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[Caller, Seat]]:
    """By role: a member and an organisation's admin with rows of their own, and a super admin over the admin's.

    For this package only: its transaction is around every test, and others need the end of theirs to be the end.
    """
    home: Path = tmp_path_factory.mktemp("home")
    with django_db_blocker.unblock(), override_settings(PLSTACK_HOME=home), _registry(home), transaction.atomic():
        with acting(platform()):
            member, admin = make_world(role=Role.ADMIN), make_world(role=Role.ADMIN)
            admins, members = _values_of(admin), _values_of(member)
            Membership.objects.filter(user=member.alice).update(role=Role.MEMBER)
            found = {
                Caller.MEMBER: Seat(_cookies(signed_in(member.alice)), members),
                Caller.ADMIN: Seat(_cookies(signed_in(admin.alice)), admins),
                Caller.SUPER: Seat(_cookies(signed_in(make_staff())), admins),
            }
        yield found
        transaction.set_rollback(True)


@contextmanager
def _registry(home: Path) -> Iterator[None]:
    """The one that operations on repositories ask, where it is installed."""
    if serving.PROGRAM is None:
        yield
        return
    with serving.alone(home, 1) as registry, override_settings(REGISTRY_SOCKET=str(registry.socket)):
        yield


def _values_of(world: World) -> dict[str, Any]:
    return {name: str(value) for name, value in values_of(world, run_of(world)).items()}


def _cookies(client: Client) -> dict[str, str]:
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    return {settings.SESSION_COOKIE_NAME: session, settings.CSRF_COOKIE_NAME: CSRF}
