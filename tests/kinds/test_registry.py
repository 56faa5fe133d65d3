"""What is wrong with a kind stops the process when it starts."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.urls import Resolver404, resolve

from apps.common.permissions import Permission
from apps.tenants import roles
from apps.workloads import kinds
from apps.workloads.choices import Kind
from apps.workloads.kinds import KindRules
from apps.workloads.models import Workload

PATHS = [
    *("apps.training.kind.TRAINING", "apps.envs.kind.ENVIRONMENT"),
    *("apps.builds.kind.BUILD", "apps.boards.kind.BOARD", "apps.serving.kind.SERVICE"),
]


@pytest.fixture
def nothing_collected() -> Iterator[None]:
    house = _withdraw_all()
    yield
    _withdraw_all()
    for rules in house:
        kinds.register(rules)


def _withdraw_all() -> tuple[KindRules, ...]:
    try:
        found = kinds.every()
    except ImproperlyConfigured:
        return ()
    for rules in found:
        kinds.withdraw(rules)
    return found


@pytest.mark.usefixtures("nothing_collected")
@pytest.mark.parametrize(
    ("paths", "why"),
    [
        (PATHS[:1], "leaves out the kind of apps.boards"),
        ([], "leaves out the kind of"),
        ([*PATHS, PATHS[0]], "share the name"),
        ([*PATHS, "apps.training.kind.TESTING"], "cannot be imported"),
        ([*PATHS, "apps.nowhere.kind.NOTHING"], "cannot be imported"),
        ([*PATHS, "apps.training.kind.KIND"], "not a KindRules"),
    ],
)
def test_a_list_that_is_wrong_is_refused(paths: list[str], why: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=why):
        kinds.collect(paths)


@pytest.mark.usefixtures("nothing_collected")
def test_they_stand_in_the_order_of_the_list() -> None:
    kinds.collect(PATHS)
    assert [rules.name for rules in kinds.every()] == [
        *("training", "environment", "image_build", "tensorboard"),
        "model_service",
    ]


@pytest.mark.usefixtures("nothing_collected")
def test_nothing_is_known_before_they_are_collected() -> None:
    with pytest.raises(ImproperlyConfigured):
        kinds.every()


@pytest.mark.parametrize("change", [{"name": Kind("")}, {"name": Kind("much-too-long-a-name")}, {"name": Kind("else")}])
def test_a_kind_needs_a_name_and_a_subject_of_its_own(change: dict[str, Kind]) -> None:
    with pytest.raises(ImproperlyConfigured):
        kinds.register(replace(kinds.named(Kind("training")), **change))


@pytest.mark.parametrize("path", ["/toys/", "/api/v1/toys/"])
def test_a_kind_has_pages_and_an_api_where_it_is_listed_and_nowhere_else(
    request: pytest.FixtureRequest, path: str
) -> None:
    with pytest.raises(Resolver404):
        resolve(path)
    request.getfixturevalue("toy")
    assert resolve(path).view_name in {"toys:list", "api-toys"}


def test_work_of_an_unknown_kind_is_not_taken_for_another() -> None:
    with pytest.raises(kinds.UnknownKind):
        kinds.kind_of(Workload(kind="service"))


def test_a_name_of_the_house_cannot_be_taken() -> None:
    with pytest.raises(ValueError, match=r"training\.view"):
        Permission.add(Permission.new("training.view"))


def test_a_permission_belongs_to_one_kind() -> None:
    with pytest.raises(ValueError, match=r"training\.view"):
        roles.register_permission(kinds.named(Kind("training")).permissions[0])
