"""The settings store: typed groups, defaults, one reading per request, a row in the log for each change."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar

import pytest
from django.utils.translation import gettext_lazy as _

from apps.audit.models import Entry
from apps.common.actor import Actor
from apps.common.errors import Denied, Invalid
from apps.common.scoping import acting
from apps.tenants import settings
from apps.tenants.choices import PlatformRole
from apps.tenants.models import PlatformSetting
from tests.builders import make_staff, platform, staff_actor

pytestmark = pytest.mark.django_db


@dataclass(frozen=True, slots=True)
class Locker:
    KEY: ClassVar[str] = "locker"
    number: int = 0
    code: str = settings.secret()


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Paint:
    KEY: ClassVar[str] = "paint"
    colour: Colour = Colour.RED
    coats: int = 1
    rooms: tuple[str, ...] = ()
    note: str | None = None
    ratio: float = 1.0

    def validate(self) -> None:
        if self.coats < 1:
            raise Invalid.field("coats", _("At least one."))


@pytest.fixture
def staff() -> Iterator[Actor]:
    with acting(platform()) as actor:
        yield actor


def test_a_group_that_nobody_set_has_its_defaults() -> None:
    assert settings.get(Paint) == Paint()


def test_what_was_put_is_read_back_with_its_types(staff: Actor) -> None:
    value = Paint(colour=Colour.BLUE, coats=2, rooms=("hall", "attic"), note="matt", ratio=2)
    settings.put(staff, value)
    found = settings.get(Paint)
    assert found == value
    assert isinstance(found.colour, Colour)


def test_the_log_shows_only_what_changed(staff: Actor) -> None:
    settings.put(staff, Paint(coats=3))
    entry = Entry.objects.get(action="settings.changed", target_id="paint")
    assert (entry.before, entry.after) == ({"coats": 1}, {"coats": 3})
    settings.put(staff, Paint(coats=3))
    assert Entry.objects.filter(action="settings.changed").count() == 1


def test_what_cannot_stand_is_refused_and_changes_nothing(staff: Actor) -> None:
    with pytest.raises(Invalid) as refused:
        settings.put(staff, Paint(coats=0))
    assert "coats" in refused.value.fields
    assert not PlatformSetting.objects.filter(pk="paint").exists()


def test_only_those_who_manage_settings_put_them(staff: Actor) -> None:
    ops = staff_actor(make_staff(PlatformRole.OPS))
    with pytest.raises(Denied):
        settings.put(ops, Paint(coats=2))


def test_rows_of_another_version_are_read_as_far_as_they_make_sense() -> None:
    PlatformSetting.objects.create(key="paint", value={"colour": "green", "coats": "many", "brush": 7, "note": "ok"})
    assert settings.get(Paint) == Paint(note="ok")


def test_a_request_reads_each_group_once_and_sees_its_own_change(
    staff: Actor, django_assert_num_queries: object
) -> None:
    with settings.caching_reads():
        with django_assert_num_queries(1):  # type: ignore[operator]
            settings.get(Paint)
            settings.get(Paint)
        settings.put(staff, replace(settings.get(Paint), coats=4))
        assert settings.get(Paint).coats == 4


def test_secrets_are_encrypted_in_the_row_and_masked_in_the_log(staff: Actor) -> None:
    settings.put(staff, Locker(number=7, code="open sesame"))
    row = PlatformSetting.objects.get(pk="locker")
    assert row.value == {"number": 7}
    assert b"sesame" not in bytes(row.sealed or b"")
    assert settings.get(Locker).code == "open sesame"
    entry = Entry.objects.get(target_id="locker")
    assert entry.before == {"number": 0, "code": ""}
    assert entry.after == {"number": 7, "code": settings.MASK}
    assert "sesame" not in repr(settings.get(Locker))


def test_secrets_without_their_key_read_as_not_set(staff: Actor) -> None:
    settings.put(staff, Locker(number=7, code="open sesame"))
    PlatformSetting.objects.filter(pk="locker").update(sealed=b"\x01\x00\x01" + bytes(40))
    assert settings.get(Locker) == Locker(number=7)
