"""Names and keys of an organisation's own address: who may give them, what the door then knows, and the page of it."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.urls import reverse

from apps.common.clock import db_now
from apps.common.errors import Denied, Invalid, NotFound
from apps.common.scoping import acting
from apps.serving import changing, keys, model_names, services, usage
from apps.serving.door import admitting, counting, directory
from apps.serving.keys import KeyDraft
from apps.serving.model_names import NameDraft, give, take_back
from apps.serving.models import ModelName, Service
from apps.tenants.choices import OrganisationStatus, Role
from apps.tenants.models import Organisation, User
from apps.tenants.tokens import digest_of
from tests.builders import World, actor_of, make_member, make_world, platform, signed_in
from tests.serving.kit import make_service

pytestmark = pytest.mark.django_db


@pytest.fixture
def service(world: World) -> Service:
    return make_service(world)


@pytest.fixture(autouse=True)
def as_alice(world: World) -> Iterator[None]:
    with acting(world.actor):
        yield


@pytest.fixture
def boss(world: World) -> User:
    """An admin of the organisation."""
    with acting(platform()):
        return make_member(world.organisation, "boss", Role.ADMIN)


def known(world: World) -> dict[str, str]:
    return {name: each.label for name, each in (directory.read(world.organisation.pk) or {}).items()}


class TestNames:
    def test_a_name_leads_to_its_service_until_it_is_taken_back(self, world: World, service: Service) -> None:
        first = give(world.actor, service.pk, NameDraft("qwen3:8b", "Qwen/Qwen3-8B"))
        give(world.actor, service.pk, NameDraft("chat", fallback="qwen3:8b"))
        found = directory.read(world.organisation.pk)
        assert found is not None
        assert (found["qwen3:8b"].upstream, found["chat"].upstream) == ("Qwen/Qwen3-8B", "chat")
        assert (found["chat"].label, found["chat"].fallback) == (service.host, "qwen3:8b")
        assert take_back(world.actor, first.pk) == "qwen3:8b"
        found = directory.read(world.organisation.pk)
        assert found is not None
        assert {name: each.fallback for name, each in found.items()} == {"chat": None}

    @pytest.mark.parametrize(
        ("draft", "field"),
        [
            (NameDraft("taken"), "name"),
            (NameDraft(""), "name"),
            (NameDraft("a b"), "name"),
            (NameDraft("模型"), "name"),
            (NameDraft("x" * 101), "name"),
            (NameDraft("fine", "two\nlines"), "upstream"),
            (NameDraft("fine", fallback="nowhere"), "fallback"),
            (NameDraft("fine", fallback="fine"), "fallback"),
        ],
    )
    def test_what_cannot_be_is_refused_beside_its_field(
        self, world: World, service: Service, draft: NameDraft, field: str
    ) -> None:
        give(world.actor, service.pk, NameDraft("taken"))
        with pytest.raises(Invalid) as refused:
            give(world.actor, service.pk, draft)
        assert set(refused.value.fields) == {field}
        assert set(known(world)) == {"taken"}

    def test_only_who_manages_the_service_gives_it_a_name(self, world: World, service: Service) -> None:
        row = give(world.actor, service.pk, NameDraft("mine"))
        with acting(platform()):
            bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
            other = make_world()
        for actor in (bob, other.actor):
            with acting(actor):
                with pytest.raises(NotFound):
                    give(actor, service.pk, NameDraft("theirs"))
                with pytest.raises(NotFound):
                    take_back(actor, row.pk)
        assert set(known(world)) == {"mine"}
        assert known(other) == {}

    def test_a_deleted_service_and_a_frozen_organisation_answer_to_nothing(
        self, world: World, service: Service
    ) -> None:
        give(world.actor, service.pk, NameDraft("mine"))
        with acting(platform()):
            Organisation.objects.filter(pk=world.organisation.pk).update(status=OrganisationStatus.FROZEN)
            assert directory.read(world.organisation.pk) is None
            Organisation.objects.filter(pk=world.organisation.pk).update(status=OrganisationStatus.ACTIVE)
        services.stop(world.actor, service.pk)
        with acting(platform()):
            service.deployments.update(status="ended", ended_at=db_now())
        changing.delete(world.actor, service.pk)
        assert not ModelName.objects.exists()
        assert directory.read(uuid4()) is None


class TestKeys:
    def test_a_key_of_the_address_opens_no_service_and_the_other_way_round(
        self, world: World, service: Service, boss: User
    ) -> None:
        actor = actor_of(boss, world.organisation)
        _key, of_service = keys.create(world.actor, service, KeyDraft("app"))
        key, of_address = keys.create(
            actor, None, KeyDraft("all", per_minute=5, model_names=("a", "b"), tokens_per_minute=900)
        )
        here = world.organisation.pk
        found = admitting.read_of_organisation(here, digest_of(of_address))
        assert found is not None
        assert (found.per_minute, found.tokens_per_minute, found.models) == (5, 900, {"a", "b"})
        assert admitting.read(service.pk, digest_of(of_address)) is None
        assert admitting.read_of_organisation(here, digest_of(of_service)) is None
        assert admitting.read_of_organisation(uuid4(), digest_of(of_address)) is None
        _new, rotated = keys.rotate(actor, None, key.pk, overlap_h=0)
        assert admitting.read_of_organisation(here, digest_of(of_address)) is None
        after = admitting.read_of_organisation(here, digest_of(rotated))
        assert after is not None
        assert (after.models, after.tokens_per_minute) == ({"a", "b"}, 900)

    def test_members_make_none(self, world: World, boss: User) -> None:
        actor = actor_of(boss, world.organisation)
        with acting(platform()):
            bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
        with acting(bob), pytest.raises(Denied):
            keys.create(bob, None, KeyDraft("mine"))
        with pytest.raises(Invalid):
            keys.create(actor, None, KeyDraft("mine", model_names=("a b",)))
        with pytest.raises(Invalid) as refused:
            keys.create(actor, None, KeyDraft("mine", tokens_per_minute=0))
        assert list(refused.value.fields) == ["tokens_per_minute"]


def test_the_page_shows_who_answers_and_what_was_spent(world: World, service: Service, boss: User) -> None:
    actor = actor_of(boss, world.organisation)
    give(world.actor, service.pk, NameDraft("chat"))
    key, _secret = keys.create(actor, None, KeyDraft("team key"))
    counter = counting.Counter(lambda: db_now().timestamp())
    counter.answered(key.pk, service.pk, 200, 5.0)
    counter.spent(key.pk, service.pk, (1234, 77))
    counter.spent(key.pk, service.pk, None)
    counting.write(counter.take())
    by_key, by_service = usage.at_address(world.actor)
    assert by_key == {key.pk: usage.Tokens(1, 0, 0, 1234, 77, 1)} == {key.pk: by_service[service.pk]}
    client = signed_in(boss)
    page = client.get(reverse("serving:gateway")).content.decode()
    for words in ("chat", "team key", "1234", f"{world.organisation.pk.hex}-models.", service.name):
        assert words in page
    with acting(platform()):
        carol = make_member(world.organisation, "carol")
    colleague = signed_in(carol).get(reverse("serving:gateway"))
    told = colleague.content.decode()
    for words in ("chat", service.name):
        assert words in told, "what the address offers is everybody's to see"
    for words in ("team key", reverse("serving:detail", args=[service.pk])):
        assert words not in told
    asked = {"name": "x", "lifetime": "30", "model_names": "chat chat", "tokens_per_minute": "5000"}
    made = client.post(reverse("serving:gateway_key_new"), asked)
    assert made.headers["Cache-Control"] == "no-store"
    shown = made.content.decode()
    for words in ("plsv_", "&quot;model&quot;: &quot;chat&quot;"):
        assert words in shown, "what it shows can be pasted"
    limited = keys.keys_of_address(world.actor).get(name="x")
    assert (limited.model_names, limited.tokens_per_minute) == (["chat"], 5000)
    assert "5000 tokens" in client.get(reverse("serving:gateway")).content.decode()
    posted = {"name": "second", "service": str(service.pk), "upstream": "", "fallback": "chat"}
    assert client.post(reverse("serving:gateway_name_new"), posted).status_code == 302
    refused = client.post(reverse("serving:gateway_name_new"), {**posted, "service": str(uuid4())})
    assert (refused.status_code, set(refused.context["form"].errors)) == (422, {"service"})
    assert [row.name for row in model_names.names(world.actor)] == ["chat", "second"]


def test_by_api_as_by_hand(world: World, service: Service, boss: User) -> None:
    client = signed_in(boss)
    names = "/api/v1/services/gateway/names/"
    asked = {"name": "chat", "service": str(service.pk)}
    made = client.post(names, asked, content_type="application/json")
    assert (made.status_code, made.json()["fallback"]) == (201, None)
    key = client.post("/api/v1/services/gateway/keys/", {"name": "k"}, content_type="application/json").json()
    assert key["secret"].startswith("plsv_")
    listed = client.get("/api/v1/services/gateway/keys/").json()["results"]
    assert [(each["model_names"], each["tokens_per_minute"]) for each in listed] == [([], None)]
    assert client.delete(f"{names}{made.json()['id']}/").status_code == 204
    assert known(world) == {}
