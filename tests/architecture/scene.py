"""The victim of the sweeps: an organisation in which everything that a route can name has been made.

It takes most of a second to make, so all tests of a module share one: it stands in a transaction around them, and what
a test changes is undone with the test's own. Import `scene` and `standing_scene` by name, both or neither.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.conf import LazySettings
from django.db import transaction
from django.test import Client, override_settings

from apps.billing.models import Transfer
from apps.common.clock import db_now
from apps.common.scoping import acting
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
from apps.training.models import Entry, GitHostKey, Report, Run, SavedView
from tests.architecture.models import model_values
from tests.architecture.money import money_values
from tests.architecture.people import people_values
from tests.architecture.registry import OneImage, registry_values
from tests.architecture.repeated import repeated_values
from tests.architecture.storage import storage_values
from tests.automl.kit import experiment_values
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
from tests.pipelines.kit import pipeline_values
from tests.serving.kit import service_values
from tests.tabular.kit import search_values

SSH_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICFo/k5LU8863u66YC9eUO2170QduohPURkQnbLa/dcz"
SECRET = "Zebrafinch"  # in every name that the victim gives to anything


@dataclass(frozen=True, slots=True)
class Scene:
    """The victim's world and what its ids are called in URLs."""

    world: World
    run: Run
    values: dict[str, Any]
    clients: dict[str, Client]


@pytest.fixture(scope="module")
def standing_scene(
    request: pytest.FixtureRequest,
    django_db_setup: None,
    django_db_blocker: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Scene, Path]]:
    """The scene of a module's tests, and the home that its files are in.

    Every test of the module that needs a database asks for `scene`: any other would find the scene's rows or not,
    depending on which came first, and one that commits would end more than itself.
    """
    others = [item.nodeid for item in request.session.items if item.path == request.path and _needs_its_own(item)]
    assert not others, f"these belong in another file: {others}"
    home = tmp_path_factory.mktemp("scene")
    with django_db_blocker.unblock():
        around = transaction.atomic()
        around.__enter__()
        try:
            with override_settings(PLSTACK_HOME=home):
                made = _make()
        except BaseException:
            transaction.set_rollback(True)
            around.__exit__(None, None, None)
            raise
    yield made, home
    with django_db_blocker.unblock():
        transaction.set_rollback(True)
        around.__exit__(None, None, None)


@pytest.fixture
def scene(
    standing_scene: tuple[Scene, Path],
    db: None,
    tmp_path: Path,
    settings: LazySettings,
    monkeypatch: pytest.MonkeyPatch,
) -> Scene:
    """Copies of the module's own, so that no test finds what another has made of a row, a browser or a file."""
    made, home = standing_scene
    settings.PLSTACK_HOME = copytree(home, tmp_path / "home", symlinks=True)
    monkeypatch.setattr(downloading, "Client", OneImage)
    # Each route is asked within a minute: what a limit refuses would prove nothing.
    settings.API_REQUESTS_PER_MINUTE = dict.fromkeys(settings.API_REQUESTS_PER_MINUTE, 1_000_000)
    clients = {who: _again(client) for who, client in made.clients.items()}
    return Scene(deepcopy(made.world), deepcopy(made.run), dict(made.values), clients)


def _needs_its_own(item: pytest.Item) -> bool:
    """Whether a test needs a database that the scene does not stand in."""
    asked = set(getattr(item, "fixturenames", ()))
    mark = item.get_closest_marker("django_db")
    commits = bool(mark and mark.kwargs.get("transaction")) or "transactional_db" in asked
    return commits or ((mark is not None or "db" in asked) and "scene" not in asked)


def _again(client: Client) -> Client:
    """A browser of its own with the same cookies."""
    made = Client()
    made.cookies.update(deepcopy(client.cookies))
    return made


def _make() -> Scene:
    with acting(platform()):
        world = make_world(role=Role.ADMIN)
        Organisation.objects.filter(pk=world.organisation.pk).update(name=f"{SECRET} Institute")
        run = run_of(world)
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
    return Scene(world, run, values_of(world, run), clients)


def run_of(world: World) -> Run:
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


def values_of(world: World, run: Run) -> dict[str, Any]:
    """What stands for each name in a path. A new name has to be taught here."""
    return {
        "run_id": run.pk,
        **repeated_values(world, run, SECRET),
        "call": "runs/get",  # of MLflow's protocol
        "artifact": f"{run.workload_id.hex}/model/MLmodel",
        **_environment(world),
        **experiment_values(world, run, SECRET),
        **pipeline_values(world, run, SECRET),
        **_build(world),
        "board_id": open_board(world, run, actor=actor_of(world.alice, world.organisation)).pk,
        **service_values(world, SECRET),
        "workload_id": run.workload_id,
        "organisation_id": world.organisation.pk,
        "node_id": world.node.pk,
        "zone_id": world.node.cluster.zone_id,
        "cluster_id": world.node.cluster_id,
        **dict.fromkeys(("card_id", "ref", "scenario_id", "trace_id"), unknown_id()),
        "package_id": world.package.pk,
        "price_id": 999_999,
        "user_id": world.alice.pk,
        "notice_id": _notice(world).pk,
        "transfer_id": _top_up(world).pk,
        **search_values(world, SECRET),  # its dataset tells of itself by a notice, and does the jobs that are due
        **_credentials(world),
        **_webhook(world),
        **_secret(world),
        **_kept_by_runs(world),
        **people_values(world, SECRET),
        **storage_values(world, SECRET),
        **model_values(world, SECRET),
        **registry_values(world, SECRET),
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


def _kept_by_runs(world: World) -> dict[str, Any]:
    """A Git server that the victim confirmed for their organisation, and what they keep for themselves."""
    mine = {"organisation": world.organisation}
    with acting(platform()):
        host = GitHostKey.objects.create(host=SECRET, key=SSH_KEY, fingerprint=SECRET, confirmed_by=world.alice, **mine)
        view = SavedView.objects.create(owner=world.alice, subject="list", name=f"{SECRET} view", query=SECRET, **mine)
        report = Report.objects.create(owner=world.alice, name=f"{SECRET} report", text=SECRET, runs=[], **mine)
    return {"host_id": host.pk, "view_id": view.pk, "report_id": report.pk}


def _notice(world: World) -> Notice:
    """An unread one of the victim: marking it read would show in the fingerprint."""
    notify_user(organisation_id=world.organisation.pk, user_id=world.alice.pk, kind=f"{SECRET} notice", data={})
    with acting(platform()):
        return Notice.objects.get(user=world.alice)


def _top_up(world: World) -> Transfer:
    with acting(platform()):
        return Transfer.objects.get(organisation=world.organisation)
