"""An alias moves and its versions stay; production changes only when another person than who asked has approved."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.scoping import acting
from apps.modelhub import services, stages
from apps.modelhub.models import Model, ModelAlias, ModelVersion, Promotion
from apps.notifications.models import Notice
from tests.builders import platform, signed_in
from tests.modelhub.kit import again, make_model, make_version, volume_with
from tests.storage.conftest import People


@pytest.fixture
def model(alice: Actor) -> Model:
    return make_model(alice, open_to_all=True)


@pytest.fixture
def versions(alice: Actor, model: Model) -> list[ModelVersion]:
    volume = volume_with(alice, {"a.txt": b"one", "b.txt": b"two"})
    metrics: list[dict[str, Any]] = [{"accuracy": 0.9}, {"accuracy": 0.95}]
    return [
        make_version(alice, model, volume, path, metrics=found)
        for path, found in zip(("a.txt", ""), metrics, strict=True)
    ]


def production(actor: Actor, model: Model) -> int | None:
    with acting(actor):
        try:
            return stages.version_named(actor, model, "production").number
        except NotFound:
            return None


def test_an_alias_moves_between_versions_and_holds_the_one_that_it_names(
    alice: Actor, bob: Actor, model: Model, versions: list[ModelVersion]
) -> None:
    first, second = versions
    with acting(alice):
        stages.set_alias(alice, first, " Champion ")
        stages.set_alias(alice, second, "champion")
        assert stages.version_named(alice, model, "champion") == second
        with pytest.raises(Conflict, match="Alias champion"):
            services.delete_version(alice, second)
        services.delete_version(alice, first)
        for name in ("production", "v2", "9", "a b", ""):
            with pytest.raises(Invalid):
                stages.set_alias(alice, second, name)
        services.delete(alice, model)  # an alias does not outlive its model, so it does not hold it
        services.restore(alice, model)
    with acting(bob), pytest.raises(Denied):
        stages.set_alias(bob, second, "champion")


def test_production_is_decided_by_another_person_once(
    people: People, alice: Actor, bob: Actor, model: Model, versions: list[ModelVersion]
) -> None:
    dora = people.actor("admin")
    with acting(alice):
        asked = stages.ask(alice, versions[0], reason="better on line 5")
        with pytest.raises(Conflict, match="asked for this already"):
            stages.ask(alice, versions[0])
        with pytest.raises(Denied):
            stages.decide(alice, asked, approve=True)
    assert production(bob, model) is None
    with acting(dora):
        found = stages.promotion(dora, asked.pk)
        stages.decide(dora, found, approve=True, answer="fine")
        with pytest.raises(Conflict, match="decided meanwhile"):
            stages.decide(dora, found, approve=False)
    assert production(bob, model) == 1
    with acting(platform()):
        told = set(Notice.objects.values_list("user__username", "kind"))
        assert {kind for name, kind in told if name == people.admin.username} == {"model.review_asked"}
        assert (people.alice.username, "model.review_decided") in told
        with pytest.raises(IntegrityError), transaction.atomic():
            Promotion.objects.filter(pk=asked.pk).update(state="open")


def test_a_reviewer_does_not_approve_their_own_wish_unless_nobody_else_may(
    people: People, alice: Actor, model: Model, versions: list[ModelVersion]
) -> None:
    dora = people.actor("admin")
    with acting(dora):  # the only reviewer of the organisation
        stages.decide(dora, stages.ask(dora, versions[1]), approve=True)
        assert production(dora, model) == 2
    with acting(platform()):
        people.alice.memberships.update(role="admin")
    with acting(dora):
        asked = stages.ask(dora, versions[0])
        with pytest.raises(Conflict, match="asked for it yourself"):
            stages.decide(dora, asked, approve=True)
        stages.withdraw(dora, asked)
    assert production(dora, model) == 2


def test_pages_of_stages_card_and_comparison(
    people: People, alice: Actor, model: Model, versions: list[ModelVersion]
) -> None:
    owner, reviewer = signed_in(people.alice), signed_in(people.admin)
    page = reverse("models:version", args=[versions[1].pk])

    def post(client: Client, route: str, *args: Any, **data: str) -> int:
        return client.post(reverse(f"models:{route}", args=args), data).status_code

    assert post(owner, "set_alias", versions[1].pk, name="Not good") == 422
    assert post(owner, "set_alias", versions[1].pk, name="staging") == 302
    assert post(owner, "card", versions[1].pk, card="**For** digits <b>only</b>") == 302
    assert post(owner, "ask_production", versions[1].pk, reason="it is better") == 302
    with acting(platform()):
        asked = Promotion.objects.get().pk
    shown = reviewer.get(page).content.decode()
    for word in (
        "it is better",
        "staging",
        "**For** digits &lt;b&gt;only",
        reverse("models:decide", args=[asked, "approve"]),
    ):
        assert word in shown, word
    assert post(reviewer, "decide", asked, "approve", reason="") == 302
    compared = owner.get(reverse("models:compare", args=[model.pk]), {"from": 1, "to": 2}).content.decode()
    for word in ("accuracy", "+0.05", "b.txt"):
        assert word in compared, word
    assert owner.get(reverse("models:compare", args=[model.pk]), {"from": 1, "to": 9}).status_code == 404
    assert post(owner, "remove_alias", model.pk, "production") == 302  # says who may
    assert post(owner, "remove_alias", model.pk, "staging") == 302
    with acting(platform()):
        assert list(ModelAlias.objects.values_list("name", flat=True)) == ["production"]
    assert again(alice, versions[1]).card.startswith("**For**")
