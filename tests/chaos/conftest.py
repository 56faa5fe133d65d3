"""A copy of the platform to be killed."""

from collections.abc import Iterator

import pytest

from tests.stack import Api, Stack, running


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    home = tmp_path_factory.mktemp("plstack")
    for folder in (home, *home.parents[:2]):
        folder.chmod(0o755)  # the database's account and the tenants' have to pass through
    with running(home) as copy:
        yield copy


@pytest.fixture
def api(stack: Stack) -> Api:
    return Api(stack).sign_in()
