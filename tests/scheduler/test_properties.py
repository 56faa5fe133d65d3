"""The table of properties names tests that are there, and that search: a renamed one does not drop out of it unseen."""

from importlib import import_module

import pytest
from hypothesis import is_hypothesis_test

from tests.scheduler.properties import PROPERTIES


@pytest.mark.parametrize("name", sorted({name for names in PROPERTIES.values() for name in names}))
def test_each_named_test_is_there_and_searches(name: str) -> None:
    module, _dot, test = name.partition(".")
    found = getattr(import_module(f"tests.scheduler.{module}"), test)
    assert is_hypothesis_test(getattr(found, "runTest", found))


def test_every_property_has_a_test() -> None:
    assert all(PROPERTIES.values())
