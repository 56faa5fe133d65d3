"""Every route as a stranger, an ex-member and nobody: they learn nothing and change nothing."""

from dataclasses import dataclass
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.conf import LazySettings
from django.db import models
from django.test import Client
from django.utils import timezone
from django_scopes.exceptions import ScopeError

from apps.billing.models import Transfer
from apps.common.access import Realm
from apps.common.clock import db_now
from apps.common.scoping import TenantModel, acting
from apps.envs.models import Snapshot
from apps.envs.services import create as environments
from apps.notifications.models import Notice, Webhook, WebhookDelivery
from apps.notifications.services import notify_user
from apps.registry.distribution import downloading
from apps.registry.models import Image
from apps.secrets import services as secrets
from apps.secrets.choices import Scope
from apps.secrets.services import NewSecret
from apps.tenants.choices import Role
from apps.tenants.models import ApiToken, Membership, Organisation, SshKey
from apps.training import services as training
from apps.training.models import Entry, GitHostKey, Run
from apps.workloads.models import Event
from tests.architecture.money import money_values
from tests.architecture.people import people_values
from tests.architecture.registry import OneImage, registry_values
from tests.architecture.routes import Route, own_routes
from tests.architecture.storage import storage_values
from tests.architecture.test_access import declared
from tests.boards.kit import open_board
from tests.builders import (
    World,
    actor_of,
    make_member,
    make_organisation,
    make_staff,
    make_world,
    platform,
    signed_in,
    unique,
    unknown_id,
)
from tests.builds.kit import build
from tests.searching import some

SSH_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICFo/k5LU8863u66YC9eUO2170QduohPURkQnbLa/dcz"
SECRET = "Zebrafinch"  # in every name that the victim gives to anything


@dataclass(frozen=True, slots=True)
class Scene:
    """The victim's world and what its ids are called in URLs."""

    world: World
    run: Run
    values: dict[str, Any]
    clients: dict[str, Client]


@pytest.fixture
def scene(db: None, tmp_path: Any, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Scene:
    settings.PLSTACK_HOME = tmp_path
    monkeypatch.setattr(downloading, "Client", OneImage)
    # Each route is asked within a minute: what a limit refuses would prove nothing.
    settings.API_REQUESTS_PER_MINUTE = dict.fromkeys(settings.API_REQUESTS_PER_MINUTE, 1_000_000)
    with acting(platform()):
        world = make_world(role=Role.ADMIN)
        Organisation.objects.filter(pk=world.organisation.pk).update(name=f"{SECRET} Institute")
        run = _run(world)
        stranger = make_member(make_organisation(), "charlie", Role.ADMIN)
        gone = make_member(world.organisation, "erin", Role.ADMIN)
        Membership.objects.filter(user=gone).delete()
        staff = make_staff()
    clients = {
        "owner": signed_in(world.alice),
        "staff": signed_in(staff),
        "stranger": signed_in(stranger),
        "ex-member": signed_in(gone),
        "anonymous": Client(),
    }
    return Scene(world, run, _values(world, run), clients)


def _run(world: World) -> Run:
    actor = actor_of(world.alice, world.organisation)
    request = training.Request(
        name=f"{SECRET} run",
        image_id=world.image.pk,
        package_id=world.package.pk,
        entry=Entry.PYTHON,
        script="train.py",
        key=unique("key"),
        text="print('hello')\n",
        note=f"{SECRET} note",
    )
    with acting(actor):
        return training.submit(actor, request)


def _build(world: World) -> dict[str, Any]:
    reference = f"registry.lab/team/box@sha256:{'a' * 64}"
    with acting(platform()):
        words = {"description_en": "x", "description_zh": "x"}
        Image.objects.create(key=unique("box"), name="box", reference=reference, **words)
    text = f"FROM {reference}\nRUN echo {SECRET}\n"
    return {"build_id": build(world, text, name=f"{SECRET}-image", actor=actor_of(world.alice)).pk}


def _values(world: World, run: Run) -> dict[str, Any]:
    """What stands for each name in a path. A new name has to be taught here."""
    return {
        "run_id": run.pk,
        **_environment(world),
        **_build(world),
        "board_id": open_board(world, run, actor=actor_of(world.alice, world.organisation)).pk,
        "workload_id": run.workload_id,
        "organisation_id": world.organisation.pk,
        "node_id": world.node.pk,
        "zone_id": world.node.cluster.zone_id,
        "cluster_id": world.node.cluster_id,
        "card_id": unknown_id(),
        "ref": unknown_id(),
        "package_id": world.package.pk,
        "price_id": 999_999,
        "user_id": world.alice.pk,
        "notice_id": _notice(world).pk,
        "transfer_id": _top_up(world).pk,
        **_credentials(world),
        **_webhook(world),
        **_secret(world),
        "host_id": _git_host(world),
        **people_values(world, SECRET),
        **storage_values(world, SECRET),
        **registry_values(world, SECRET),
        "scenario_id": unknown_id(),
        "trace_id": unknown_id(),
        **money_values(world, SECRET),
        "name": "cpu",
        "part": "waiting",
        "key": "1-abc",
        "uidb36": "1",
    }


def _image(world: World) -> Image:
    """One that the victim has saved."""
    return Image.objects.create(
        key=unique("own"), name=f"{SECRET} image", organisation=world.organisation, owner=world.alice
    )


def _environment(world: World) -> dict[str, Any]:
    """An environment of the victim's with a snapshot, and a port by which it is opened."""
    actor = actor_of(world.alice, world.organisation)
    request = environments.Request(
        name=f"{SECRET} notebook", image_id=world.image.pk, package_id=world.package.pk, key=unique("key")
    )
    with acting(actor):
        made = environments.create(actor, request)
        snapshot = Snapshot.objects.create(
            organisation=world.organisation, environment=made, kind="manual", made_by=SECRET, note=SECRET
        )
    return {"environment_id": made.pk, "snapshot_id": snapshot.pk, "image_id": _image(world).pk, "port": "jupyter"}


def _credentials(world: World) -> dict[str, Any]:
    """The victim's API token, SSH key, sign-in and connected account."""
    token = ApiToken.objects.create(user=world.alice, name=f"{SECRET} token", digest=unique("digest"))
    key = SshKey.objects.create(user=world.alice, name=f"{SECRET} key", public_key=SSH_KEY, fingerprint="SHA256:x")
    session = UserSession.objects.create(
        user=world.alice, ip="192.0.2.1", session_key=unique("session"), user_agent=SECRET
    )
    account = SocialAccount.objects.create(user=world.alice, provider="weixin", uid=unique(SECRET))
    return {"token_id": token.pk, "ssh_key_id": key.pk, "session_id": session.pk, "account_id": account.pk}


def _webhook(world: World) -> dict[str, Any]:
    """A webhook of the victim's organisation, and an event on its way to it."""
    with acting(platform()):
        hook = Webhook.objects.create(
            organisation=world.organisation,
            name=f"{SECRET} hook",
            url="https://hooks.example.org/",
            secret=b"sealed",
            created_by=world.alice,
        )
        delivery = WebhookDelivery.objects.create(
            organisation=world.organisation, webhook=hook, kind="run.failed", data={"name": SECRET}, give_up_at=db_now()
        )
    return {"webhook_id": hook.pk, "delivery_id": delivery.pk}


def _secret(world: World) -> dict[str, Any]:
    """A secret of the victim's own."""
    with acting(actor_of(world.alice, world.organisation)) as actor:
        new = NewSecret(Scope.PERSONAL, "HF_TOKEN", f"{SECRET} value", f"{SECRET} token")
        return {"secret_id": secrets.create(actor, new).pk}


def _git_host(world: World) -> Any:
    """A Git server that the victim confirmed for their organisation."""
    named = {"organisation": world.organisation, "confirmed_by": world.alice}
    with acting(platform()):
        return GitHostKey.objects.create(host=SECRET, key=SSH_KEY, fingerprint=SECRET, **named).pk


def _notice(world: World) -> Notice:
    """An unread one of the victim: marking it read would show in the fingerprint."""
    notify_user(organisation_id=world.organisation.pk, user_id=world.alice.pk, kind=f"{SECRET} notice", data={})
    with acting(platform()):
        return Notice.objects.get(user=world.alice)


def _top_up(world: World) -> Transfer:
    with acting(platform()):
        return Transfer.objects.get(organisation=world.organisation)


def fingerprint(organisation: Organisation) -> dict[str, list[Any]]:
    """All rows of an organisation, to be compared before and after."""
    rows: dict[str, list[Any]] = {}
    with acting(platform()):
        for model in apps.get_models():
            if issubclass(model, TenantModel) and _has_organisation(model):
                manager: models.Manager[Any] = model._base_manager
                found = manager.filter(organisation_id=organisation.pk).order_by("pk").values()
                rows[model._meta.label] = list(found)
    return rows


def _has_organisation(model: type[models.Model]) -> bool:
    return any(field.attname == "organisation_id" for field in model._meta.concrete_fields)


def tenant_routes(scene: Scene) -> list[tuple[Route, str]]:
    """Each with its URL in the victim's world."""
    found = [route for route in own_routes() if any(a.realm is not Realm.PUBLIC for a in declared(route.access))]
    return [(route, route.url(scene.values)) for route in found]


@pytest.mark.sweep
@pytest.mark.parametrize("who", ["stranger", "ex-member", "anonymous"])
def test_outsiders_learn_and_change_nothing(scene: Scene, who: str) -> None:
    before = fingerprint(scene.world.organisation)
    for route, url in some(tenant_routes(scene)):
        for method in ("get", "post", "put", "patch", "delete"):
            response = getattr(scene.clients[who], method)(url)
            told = _text(response)
            assert SECRET not in told, f"{who} {method} {route.name} was told {SECRET}"
            assert response.status_code < 500, f"{who} {method} {route.name}: {response.status_code}"
            if set(route.keys) & {"run_id", "workload_id", "organisation_id"}:
                allowed = {301, 302, 401, 403, 404, 405, 204}
                assert response.status_code in allowed, f"{who} {method} {route.name}: {response.status_code}"
                assert (
                    "/training/" not in response.headers.get("Location", "") or "login" in response.headers["Location"]
                )
    assert fingerprint(scene.world.organisation) == before


def _text(response: Any) -> str:
    if getattr(response, "streaming", False):
        return ""
    return str(response.content.decode(errors="replace"))


@pytest.mark.sweep
def test_the_owner_and_the_staff_do_reach_them(scene: Scene) -> None:
    """The positive control: the sweep would see it if everything were simply refused."""
    reached = {"owner": 0, "staff": 0}
    for route, url in some(tenant_routes(scene)):
        realms = {access.realm for access in declared(route.access)}
        for who in reached:
            response = scene.clients[who].get(url)
            assert response.status_code < 500, f"{who} get {route.name}: {response.status_code}"
            reached[who] += response.status_code == 200 and SECRET in _text(response)
        if realms == {Realm.PLATFORM}:
            denied = scene.clients["owner"].get(url)
            assert denied.status_code in (403, 404, 405), f"owner get {route.name}: {denied.status_code}"
    assert reached["owner"] >= 3
    assert reached["staff"] >= 3


def test_a_query_without_a_scope_raises(scene: Scene) -> None:
    with pytest.raises(ScopeError):
        Run.objects.count()
    with pytest.raises(ScopeError):
        list(Event.objects.filter(at__lt=timezone.now()))
    for ask in ("exists", "first", "all", "count", "exclude", "values_list", "explain", "in_bulk"):
        with pytest.raises(ScopeError):
            getattr(Run.objects, ask)()
