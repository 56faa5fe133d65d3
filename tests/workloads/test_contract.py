"""The contract of giving way: its class by what is guaranteed and used, on pages, in forms and in the API."""

from dataclasses import replace
from uuid import uuid4

import pytest
from django.test import Client

from apps.clusters.choices import AcceleratorMode
from apps.clusters.models import Accelerator
from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import Guarantee, Membership, Organisation
from apps.workloads.models import Attempt, Placement, Workload
from apps.workloads.queueing.contract import ContractClass, contract_for, contract_of
from apps.workloads.queueing.words import contract_lines
from apps.workloads.services import highest_priority
from apps.workloads.spec import Gpu, Image, Spec
from tests.builders import World, make_member, make_organisation, platform, signed_in, submit_workload
from tests.workloads.test_preempt import ask, finish, running, waiting

CARD = Spec(Image("x"), (), 1000, 512, gpu=Gpu("whole", model="H200"))


def promise(world: World, milli: int, model: str = "H200") -> None:
    Guarantee.objects.create(organisation=world.organisation, gpu_model=model, gpu_milli=milli)


def kind(world: World, spec: Spec = CARD) -> ContractClass:
    return contract_for(world.organisation.pk, spec, priority=3).kind


def hold(world: World, model: str = "H200", milli: int = 1000) -> Workload:
    """Something of the organisation's sits on such a card."""
    card = Accelerator.objects.create(
        node=world.node, uuid=uuid4().hex, index=Accelerator.objects.count(), vendor="nvidia", model=model,
        memory_mib=143_771, mode=AcceleratorMode.WHOLE,
    )  # fmt: skip
    with acting(world.actor):
        workload = submit_workload(world, gpu=Gpu("whole", model=model))
    with acting(platform()):
        attempt = Attempt.objects.create(organisation=world.organisation, workload=workload, number=1, node=world.node)
        Placement.objects.create(
            organisation=world.organisation, attempt=attempt, node=world.node, accelerator=card, core_milli=milli
        )
    return workload


def test_inside_the_guarantee_beyond_it_and_without_one(world: World) -> None:
    assert kind(world) is ContractClass.OVER_GUARANTEE
    promise(world, 1000)
    assert kind(world) is ContractClass.GUARANTEED
    held = hold(world)
    assert kind(world) is ContractClass.OVER_GUARANTEE
    assert contract_of(held).kind is ContractClass.GUARANTEED  # its own card does not count against it


def test_a_model_without_a_promise_counts_towards_the_one_over_all(world: World) -> None:
    promise(world, 1000, "A100")
    assert kind(world) is ContractClass.OVER_GUARANTEE
    promise(world, 1000, "")
    hold(world, "A100")
    assert kind(world) is ContractClass.GUARANTEED
    hold(world, "H200")
    assert kind(world) is ContractClass.OVER_GUARANTEE


def test_simulated_cards_frozen_organisations_and_processors_are_promised_nothing(world: World) -> None:
    promise(world, 1000)
    assert kind(world, replace(CARD, simulated=True)) is ContractClass.OVER_GUARANTEE
    assert kind(world, replace(CARD, gpu=None)) is ContractClass.OVER_GUARANTEE
    Organisation.objects.filter(pk=world.organisation.pk).update(status=OrganisationStatus.FROZEN)
    assert kind(world) is ContractClass.OVER_GUARANTEE


def test_what_its_owner_chose_wins(world: World) -> None:
    promise(world, 1000)
    firm = contract_for(world.organisation.pk, replace(CARD, preemptible=False), priority=3)
    assert (firm.kind, firm.may_be_asked) == (ContractClass.UNINTERRUPTIBLE, False)
    assert len(contract_lines(firm)) == 1


def test_a_spec_of_before_there_was_a_choice_may_be_asked() -> None:
    old = {name: value for name, value in CARD.as_json().items() if name != "preemptible"}
    assert Spec.from_json(old).preemptible
    assert not Spec.from_json(replace(CARD, preemptible=False).as_json()).preemptible


def test_nobody_takes_a_higher_priority_than_their_own(world: World) -> None:
    assert highest_priority(world.actor) == 3
    Membership.objects.filter(user=world.alice).update(priority=2)
    with acting(world.actor):
        assert submit_workload(world).priority == 2
        assert submit_workload(world, priority=1).priority == 1
        with pytest.raises(Invalid):
            submit_workload(world, priority=3)
        with pytest.raises(Invalid):
            submit_workload(world, priority=0)


@pytest.mark.programs
def test_the_api_tells_colleagues_and_hides_it_from_strangers(world: World) -> None:
    victim, gainer = running(world), waiting(world)
    ask(victim, gainer)
    url = f"/api/v1/workloads/{victim.pk}/contract/"
    told = signed_in(world.alice).get(url).json()
    assert (told["kind"], told["notice_s"], told["save_window_s"], told["priority"]) == ("over_guarantee", 120, 300, 3)
    (row,) = told["preemptions"]
    assert (row["why"], row["outcome"], row["attempt"]) == ("higher_priority", "asked", 1)
    assert str(gainer.pk) not in str(told)
    stranger = make_member(make_organisation(), "charlie")
    assert signed_in(stranger).get(url).status_code == 404
    assert Client().get(url).status_code in (401, 403)
    finish(victim, gainer)
