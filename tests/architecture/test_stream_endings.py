"""Every answer that is streamed ends with the right to it: each is found, and asked in each way that rights end."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection, transaction
from django.http import HttpResponse, StreamingHttpResponse
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from apps.billing.export_choices import ExportStatus
from apps.billing.models import Export, ExportPart
from apps.common.access import PUBLIC, bind_stream, in_organisation
from apps.common.clock import db_now
from apps.common.errors import DomainError, SignedOut
from apps.common.grants import Grant
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.common.streams import Stream
from apps.registry.distribution import downloading
from apps.registry.models import Image
from apps.storage import sharing, volumes
from apps.storage.choices import Right
from apps.storage.models import Volume
from apps.storage.services import root_of
from apps.tenants import tokens
from apps.tenants.actors import personal_actor
from apps.tenants.choices import Role
from apps.tenants.models import ApiToken
from tests.architecture import endings
from tests.architecture.endings import Ending, Holder
from tests.architecture.reaching import reaches
from tests.architecture.registry import OneImage, registry_values
from tests.architecture.routes import Route, own_routes
from tests.boards.kit import open_board
from tests.builders import World, actor_of, make_member, make_staff, make_world, platform, signed_in
from tests.builds.kit import build
from tests.training.kit import submit

APPS = Path(__file__).parents[2] / "apps"
STREAMING = ("StreamingHttpResponse", "FileResponse")
FILE = "?path=paper.txt"
# What a route is asked for, and whether by the staff. A new streaming route has to be taught here.
ASKED = {
    "console:workload_log": "",
    "console:export_download": "",
    "console:audit_export": "",
    "console:money_audit_export": "",
    "training:output": FILE,
    "training:log": "",
    "builds:log": "",
    "boards:log": "",
    "storage:raw": FILE,
    "storage:zip": "",
    "billing:export": "?since=2026-11-01&until=2026-11-02",
    "billing:export_download": "",
    "api-run-output-file": FILE,
    "api-mlflow-artifact": "",
    "api-files-content": FILE,
    "api-files-zip": "",
    "registry:download_tag": "",
    "api-repository-tag-file": "",
    "api-export-file": "",
    "/api/v1/console/exports/<uuid:export_id>/file/": "",
}


# Downloading an image is pulling it, which is more than reading: a frozen organisation does not.
OF_USE = frozenset({"registry:download_tag", "api-repository-tag-file"})


# Read by programs alone: the session of a browser is not asked there.
BY_TOKEN = frozenset({"api-mlflow-artifact"})


@cache
def streaming_routes() -> Sequence[Route]:
    return [route for route in own_routes() if reaches(route.view, Stream)]


def session_routes() -> Sequence[Route]:
    return [route for route in streaming_routes() if route.name not in BY_TOKEN]


def is_of_staff(route: Route) -> bool:
    return "console" in route.path


@dataclass(frozen=True, slots=True)
class Scene:
    world: World
    holders: dict[bool, Holder]  # by whether they are of the staff
    clients: dict[bool, Client]
    values: dict[bool, dict[str, Any]]
    secrets: dict[bool, str]

    def stream(self, route: Route, *, by_token: bool = False) -> Stream:
        staff = is_of_staff(route)
        url = route.url(self.values[staff]) + ASKED[route.name]
        if by_token:
            response = Client().get(url, headers={"Authorization": f"Bearer {self.secrets[staff]}"})
        else:
            response = self.clients[staff].get(url)
        assert response.status_code == 200, f"{route.name}: {response.status_code}"
        assert isinstance(response, Stream), f"{route.name} is not streamed"
        return response

    def grant(self, route: Route, *, by_token: bool = False) -> Grant:
        response = self.stream(route, by_token=by_token)
        assert response.grant is not None, f"{route.name} asks nobody whether it may go on"
        return response.grant


@pytest.fixture
def scene(db: None, tmp_path: Path, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    settings.PLSTACK_HOME = tmp_path
    monkeypatch.setattr(downloading, "Client", OneImage)
    with acting(platform()):
        world = make_world(role=Role.ADMIN)
        staff = make_staff()
        people = {False: world.alice, True: staff}
        run = submit(world, actor_of(world.alice, world.organisation))
        (root_of(run.output) / "paper.txt").write_text("words")
        (root_of(run.output) / "artifacts").mkdir()
        (root_of(run.output) / "artifacts" / "paper.txt").write_text("words")
        shared = {"run_id": run.pk, "workload_id": run.workload_id, "kind": "volume", "root_id": _volume(world).pk}
        shared |= registry_values(world, "image")
        shared["build_id"] = _build(world)
        shared["artifact"] = f"{run.workload_id.hex}/paper.txt"
        shared["board_id"] = open_board(world, run, actor=actor_of(world.alice, world.organisation)).pk
        values = {
            False: {**shared, "export_id": _export(world.alice, world.organisation).pk},
            True: {**shared, "export_id": _export(staff, None).pk},
        }
        secrets = {of_staff: _token(user, None if of_staff else world) for of_staff, user in people.items()}
        clients = {of_staff: signed_in(user) for of_staff, user in people.items()}
        keys = {of_staff: client.session.session_key or "" for of_staff, client in clients.items()}
        holders = {of_staff: Holder(user, world.organisation, keys[of_staff]) for of_staff, user in people.items()}
        yield Scene(world, holders, clients, values, secrets)


def _build(world: World) -> Any:
    reference = f"registry.lab/team/box@sha256:{'a' * 64}"
    words = {"description_en": "x", "description_zh": "x"}
    Image.objects.create(key="box", name="box", reference=reference, **words)
    actor = actor_of(world.alice, world.organisation)
    return build(world, f"FROM {reference}\nRUN true\n", actor=actor).pk


def _volume(world: World) -> Volume:
    actor = actor_of(world.alice, world.organisation)
    with acting(actor):
        volume = volumes.create(actor, name="data", size_mib=10)
    (volumes.root_of(volume) / "paper.txt").write_text("words")
    return volume


def _export(owner: Any, organisation: Any) -> Export:
    export = Export.objects.create(
        owner=owner, organisation=organisation, kind="charges", format="csv", language="en", wanted="x", digest="x",
        status=ExportStatus.READY, expires_at=db_now() + timedelta(days=1), size=5,
    )  # fmt: skip
    ExportPart.objects.create(export=export, organisation=organisation, number=0, content=b"words")
    return export


def _token(user: Any, world: World | None) -> str:
    organisation_id = world.organisation.pk if world else None
    draft = tokens.TokenDraft("sweep", organisation_id, tokens.grantable(user, organisation_id), tokens.Lifetime.MONTH)
    return tokens.create(personal_actor(user), draft=draft)[1]


def test_every_streaming_route_is_known_here() -> None:
    assert {route.name for route in streaming_routes()} == set(ASKED)


def test_only_one_class_streams() -> None:
    """Any other streaming answer would go on for as long as the client reads."""
    elsewhere = [
        f"{path.relative_to(APPS)}:{node.lineno}"
        for path in sorted(APPS.rglob("*.py"))
        if path != APPS / "common" / "streams.py"
        if any(name in (text := path.read_text()) for name in STREAMING)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in STREAMING
    ]
    assert elsewhere == []


def test_a_view_that_streams_by_itself_fails_at_once() -> None:
    request = RequestFactory().get("/")
    access = in_organisation(Permission.ORGANISATION_VIEW)
    with pytest.raises(TypeError, match="never checked again"):
        bind_stream(request, access, StreamingHttpResponse(iter(())))
    bind_stream(request, PUBLIC, HttpResponse())


def test_every_stream_ends_in_every_way_that_a_session_does(scene: Scene) -> None:
    for route in session_routes():
        grant = scene.grant(route)
        grant.recheck()
        for end in endings.OF_A_SESSION:
            refusal = refused(grant, end, scene.holders[is_of_staff(route)])
            expected = end in (endings.removed, endings.role_lost)
            assert isinstance(refusal, SignedOut) != expected, f"{route.name}, {end.__name__}: {refusal!r}"
        grant.recheck()


def test_every_stream_of_the_api_ends_in_every_way_that_a_token_does(scene: Scene) -> None:
    for route in streaming_routes():
        if not route.path.startswith("/api/"):
            continue
        grant = scene.grant(route, by_token=True)
        grant.recheck()
        ends = endings.OF_A_TOKEN if is_of_staff(route) else (*endings.OF_A_TOKEN, endings.frozen)
        for end in ends:
            refused(grant, end, scene.holders[is_of_staff(route)])
        grant.recheck()


def test_who_may_go_on_reading_is_not_disturbed(scene: Scene) -> None:
    """A frozen organisation's people read everything; another session's end, or a better role, is nobody else's."""
    for route in session_routes():
        if is_of_staff(route) or route.name in OF_USE:
            continue
        grant, holder = scene.grant(route), scene.holders[False]
        endings.frozen(holder)
        signed_in(holder.user).logout()
        ApiToken.objects.all().delete()
        grant.recheck()


def refused(grant: Grant, end: Ending, holder: Holder) -> DomainError:
    """What the grant says after the right has ended; the rows are as before afterwards."""
    with transaction.atomic():
        end(holder)
        with pytest.raises(DomainError) as caught:
            grant.recheck()
        transaction.set_rollback(True)
    return caught.value


@pytest.mark.parametrize("name", ["storage:raw", "storage:zip", "api-files-content", "api-files-zip"])
@pytest.mark.parametrize("how", ["unshared", "binned"])
def test_files_end_with_the_share_and_with_the_volume(scene: Scene, name: str, how: str) -> None:
    alice = actor_of(scene.world.alice, scene.world.organisation)
    bob = make_member(scene.world.organisation, "bob")
    volume = Volume.objects.get()
    with acting(alice):
        sharing.share(alice, volume, user_id=bob.pk, right=Right.READ)
    (route,) = (route for route in streaming_routes() if route.name == name)
    response = signed_in(bob).get(route.url(scene.values[False]) + ASKED[name])
    assert isinstance(response, Stream)
    assert response.grant is not None
    response.grant.recheck()
    with acting(alice):
        if how == "unshared":
            sharing.unshare(alice, volume, user_id=bob.pk)
        else:
            volumes.delete(alice, volume)
    with pytest.raises(DomainError):
        response.grant.recheck()


def test_output_ends_with_the_sight_of_a_colleagues_run(scene: Scene) -> None:
    """An administrator who becomes a member sees their own runs and nobody else's."""
    carol = make_member(scene.world.organisation, "carol", Role.ADMIN)
    (route,) = (route for route in streaming_routes() if route.name == "training:output")
    response = signed_in(carol).get(route.url(scene.values[False]) + FILE)
    assert isinstance(response, Stream)
    assert response.grant is not None
    response.grant.recheck()
    with acting(platform()):
        carol.memberships.update(role=Role.MEMBER)
    with pytest.raises(DomainError):
        response.grant.recheck()


def test_asking_again_costs_a_handful_of_queries(scene: Scene) -> None:
    """Once in twelve seconds for each download that is open: the cost must not grow with what is downloaded."""
    for route in streaming_routes():
        grant = scene.grant(route, by_token=route.name in BY_TOKEN)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            grant.recheck()
        assert len(queries) <= 7, f"{route.name}: {[query['sql'] for query in queries]}"
