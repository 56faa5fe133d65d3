"""Every route as a stranger, an ex-member and nobody: they learn nothing and change nothing."""

from typing import Any

import pytest
from django.apps import apps
from django.db import models
from django.utils import timezone
from django_scopes.exceptions import ScopeError

from apps.common.access import Realm
from apps.common.scoping import TenantModel, acting
from apps.tenants.models import Organisation
from apps.training.models import Run
from apps.workloads.models import Event
from tests.architecture.routes import Route, own_routes
from tests.architecture.scene import SECRET, Scene, scene, standing_scene
from tests.architecture.test_access import declared
from tests.builders import platform
from tests.searching import some

__all__ = ["scene", "standing_scene"]  # the fixtures


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
