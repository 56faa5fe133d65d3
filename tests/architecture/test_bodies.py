"""Every route that writes says which fields it takes, and takes no others."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import RequestFactory
from drf_spectacular.generators import SchemaGenerator

from apps.common import bodies
from apps.common.api import ScopedView
from tests.architecture.routes import own_routes

STREAMS = {"/api/v1/uploads/{upload_id}/"}
# Agents, and clients of MLflow, of an older or newer version tell more or less than this one reads.
MACHINES = ("/api/v1/agents/", "/api/2.0/mlflow/", "/api/2.0/mlflow-artifacts/", "/api/3.0/mlflow/")


def writes() -> Iterator[tuple[str, str, Any]]:
    """Path, method and a view of each operation that takes a body."""
    generator: Any = SchemaGenerator()
    generator.parse(None, True)
    for path, _regex, method, view in generator._get_paths_and_endpoints():
        if method in bodies.METHODS - {"DELETE"} and not path.startswith(MACHINES):
            yield path, method, view


@pytest.mark.django_db
def test_every_write_declares_its_fields() -> None:
    seen = 0
    for path, method, view in writes():
        view.request = RequestFactory().generic(method, path)
        shape = bodies.shape_of(view, method)
        assert (shape is None) == (path in STREAMS), f"{method} {path}"
        seen += 1
    assert seen > 100


def test_every_api_view_checks_its_bodies() -> None:
    """A view of another base would let everything through."""
    classes = {
        route.view.cls for route in own_routes() if route.path.startswith("/api/v1/") and hasattr(route.view, "cls")
    }
    assert all(issubclass(each, ScopedView) for each in classes)


@pytest.mark.django_db
def test_the_description_says_so() -> None:
    generator: Any = SchemaGenerator
    schemas = generator().get_schema(request=None, public=True)["components"]["schemas"]
    requests = {
        name: each for name, each in schemas.items() if name.endswith("Request") and each.get("type") == "object"
    }
    assert len(requests) > 60
    loose = [name for name, each in requests.items() if each.get("additionalProperties") is not False]
    assert loose == []
