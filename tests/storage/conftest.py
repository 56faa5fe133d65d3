"""Two organisations: Alice and Bob in one, Charlie in the other; files lie in a folder of the test's own."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from django.conf import LazySettings

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.storage.choices import RootKind
from apps.storage.roots import Root, resolve
from apps.tenants.choices import Role
from apps.tenants.models import Organisation, User
from tests.builders import actor_of, make_member, make_organisation, platform
from tests.storage.kit import make_volume, put


@dataclass(frozen=True, slots=True)
class People:
    organisation: Organisation
    alice: User
    bob: User
    charlie: User
    admin: User

    def actor(self, name: str) -> Actor:
        user = getattr(self, name)
        with acting(platform()):
            return actor_of(user)


@pytest.fixture
def people(db: None, tmp_path: Path, settings: LazySettings) -> People:
    settings.PLSTACK_HOME = tmp_path / "home"
    (tmp_path / "home").mkdir()
    with acting(platform()):
        organisation, other = make_organisation(), make_organisation()
        return People(
            organisation,
            alice=make_member(organisation, "alice"),
            bob=make_member(organisation, "bob"),
            charlie=make_member(other, "charlie", Role.ADMIN),
            admin=make_member(organisation, "dora", Role.ADMIN),
        )


@pytest.fixture
def alice(people: People) -> Actor:
    return people.actor("alice")


@pytest.fixture
def bob(people: People) -> Actor:
    return people.actor("bob")


@pytest.fixture
def charlie(people: People) -> Actor:
    return people.actor("charlie")


@pytest.fixture
def root(alice: Actor, tmp_path: Path) -> Root:
    """A volume of 10 MiB in which a program has planted links."""
    volume = make_volume(alice, size_mib=10)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    with acting(alice):
        found = resolve(alice, RootKind.VOLUME, volume.pk)
    put(found.path, "notes.txt")
    put(found.path, "sub/deep/data.csv", "1,2\n")
    (found.path / "door").symlink_to(tmp_path / "outside")
    (found.path / "link").symlink_to(tmp_path / "outside" / "secret")
    return found
