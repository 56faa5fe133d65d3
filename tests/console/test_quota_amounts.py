"""Amounts of quotas as people read them."""

import pytest

from apps.console.kit.quotas import shown_amount, shown_used
from apps.tenants.choices import Resource


@pytest.mark.parametrize(
    ("resource", "amount", "used"),
    [
        (Resource.MEMORY_MIB, 74_907, "73.152"),  # exactly 73.1513671875 GiB
        (Resource.MEMORY_MIB, 16 * 1024, "16"),
        (Resource.MEMORY_MIB, 100 * 1024, "100"),
        (Resource.GPU_MILLI, 1_143, "1.143"),
        (Resource.MEMORY_MIB, 0, "0"),
    ],
)
def test_what_is_used_has_at_most_three_decimals_and_is_never_less(resource: Resource, amount: int, used: str) -> None:
    assert shown_used(resource, amount) == used


def test_a_limit_is_shown_exactly_so_that_saving_it_again_changes_nothing() -> None:
    assert shown_amount(Resource.MEMORY_MIB, 74_907) == "73.1513671875"
