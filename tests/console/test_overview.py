"""The console's first page."""

from django.test import Client

from apps.billing.choices import ArrearsStatus
from apps.billing.models import ArrearsState
from apps.common.scoping import acting
from apps.workloads import states
from apps.workloads.choices import Fault, Reason
from apps.workloads.models import Workload
from tests.builders import World, platform, submit_workload
from tests.console.kit import page, text_of


def submitted(world: World) -> Workload:
    with acting(world.actor):
        return submit_workload(world)


def test_what_waits_is_shown_with_its_cause(root: Client, world: World) -> None:
    workload = submitted(world)
    with acting(platform()):
        Workload.objects.filter(pk=workload.pk).update(explanation={"cause": "never_fits"})
    text = text_of(root.get(page("overview")))
    assert "No machine is large enough" in text
    assert page("workload", workload.pk) in text


def test_a_failure_names_whose_matter_it_is(root: Client, world: World) -> None:
    workload = submitted(world)
    with acting(platform()):
        states.fail_waiting(platform(), workload, states.Why(Reason.REFUSED, fault=Fault.NODE))
    text = text_of(root.get(page("overview")))
    assert "The node refused the work" in text
    assert "The node</td>" in text


def test_an_organisation_in_arrears_is_named_to_finance_and_not_to_operations(
    finance: Client, ops: Client, world: World
) -> None:
    with acting(platform()):
        ArrearsState.objects.update_or_create(organisation=world.organisation, defaults={"status": ArrearsStatus.GRACE})
    assert world.organisation.name in text_of(finance.get(page("overview")))
    assert world.organisation.name not in text_of(ops.get(page("overview")))


def test_a_scheduler_that_is_silent_is_said_so(root: Client) -> None:
    assert "The scheduler does not answer" in text_of(root.get(page("overview")))
