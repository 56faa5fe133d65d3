"""Every operation as member, organisation's admin and super admin: no 5xx, and answers as the description says."""

import os
from typing import Any

import pytest
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, Phase, given, settings

from tests.contract.conftest import Seat
from tests.contract.operations import CHECKS, Role, operations, strategy
from tests.registry import serving

pytestmark = pytest.mark.django_db
EXAMPLES = int(os.environ.get("PLSTACK_CONTRACT_EXAMPLES", "2"))


@pytest.mark.parametrize(("role", "least"), [(Role.MEMBER, 35), (Role.ADMIN, 45), (Role.SUPER, 35)])
def test_the_objects_are_there(seats: dict[Role, Seat], role: Role, least: int) -> None:
    """The positive control: nothing is shown about a route that only ever says no."""
    reached = [label for label in operations() if label.startswith("GET ") and _answers(seats[role], label)]
    assert len(reached) >= least, reached


def _answers(seat: Seat, label: str) -> bool:
    operation = operations()[label]
    named = {parameter.name: seat.values.get(parameter.name, "none") for parameter in operation.path_parameters}
    return bool(seat.ask(operation.Case(path_parameters=named), get_wsgi_application()).status_code == 200)


@pytest.mark.parametrize("label", sorted(operations()))
@pytest.mark.parametrize("role", list(Role))
def test_answers_are_as_described(seats: dict[Role, Seat], role: Role, label: str) -> None:
    seat, operation = seats[role], operations()[label]
    application = get_wsgi_application()

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy(operation, seat.values))
    def conforms(case: Any) -> None:
        answer = seat.ask(case, application)
        if serving.PROGRAM is None and b"registry_away" in answer.content:
            pytest.skip("needs docker-registry")
        case.validate_response(answer, checks=CHECKS)

    conforms()
