"""Whose trees of files one may read and write."""

import pytest

from apps.common.actor import Actor
from apps.common.errors import Denied, NotFound
from apps.common.scoping import acting
from apps.storage.models import Folder, FolderKind
from apps.storage.roots import RootKind, resolve
from apps.storage.services import create_folder
from tests.storage.conftest import People

pytestmark = pytest.mark.django_db


@pytest.fixture
def home(alice: Actor) -> Folder:
    with acting(alice):
        return create_folder(alice, kind=FolderKind.HOME)


def test_a_home_is_written_by_its_owner_alone(alice: Actor, home: Folder) -> None:
    with acting(alice):
        assert resolve(alice, RootKind.FOLDER, home.pk, write=True).writable


def test_an_administrator_reads_a_colleagues_home_and_writes_nothing_there(people: People, home: Folder) -> None:
    dora = people.actor("admin")
    with acting(dora):
        assert not resolve(dora, RootKind.FOLDER, home.pk).writable
        with pytest.raises(Denied):
            resolve(dora, RootKind.FOLDER, home.pk, write=True)


def test_a_colleague_does_not_see_it(bob: Actor, home: Folder) -> None:
    with acting(bob), pytest.raises(NotFound):
        resolve(bob, RootKind.FOLDER, home.pk)
