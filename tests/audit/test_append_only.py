"""The operation log can be added to and nothing else, by anyone."""

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

from apps.audit.models import Entry
from apps.audit.services import Target, record
from apps.common.actor import system_actor
from apps.common.scoping import acting


@pytest.fixture
def entry(db: None) -> Entry:
    actor = system_actor()
    with acting(actor):
        record(actor, action="test.done", target=Target("thing", "1", "Thing"), after={"a": 1})
        return Entry.objects.get()


def test_the_application_role_may_not_change_it(entry: Entry) -> None:
    for statement in ("UPDATE audit_entry SET action = 'x'", "DELETE FROM audit_entry", "TRUNCATE audit_entry"):
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            connection.cursor().execute(statement)


def test_the_owner_may_not_change_it_either(entry: Entry) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE NONE")
        for statement in ("UPDATE audit_entry SET action = 'x'", "DELETE FROM audit_entry", "TRUNCATE audit_entry"):
            with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
                cursor.execute(statement)


@pytest.mark.django_db(transaction=True)
def test_flushing_between_tests_leaves_the_role_in_place() -> None:
    actor = system_actor()
    with acting(actor):
        record(actor, action="test.done", target=Target("thing", "1", "Thing"))
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        assert cursor.fetchone() == ("plstack_app",)
