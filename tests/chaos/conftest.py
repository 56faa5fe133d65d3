"""A copy of the platform to be killed."""

from collections.abc import Iterator

import pytest

from tests.stack import Api, Stack, running


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    with running() as copy:
        yield copy


@pytest.fixture
def api(stack: Stack) -> Api:
    return Api(stack).sign_in()
