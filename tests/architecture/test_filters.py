"""A list is shown whatever stands in its address: bookmarks outlive filters, and people edit addresses."""

from urllib.parse import urlencode

import pytest
from django_filters import FilterSet

from apps.common.access import Realm
from apps.common.scoping import acting
from tests.architecture.routes import own_routes
from tests.architecture.scene import Scene, scene, standing_scene
from tests.architecture.test_access import declared
from tests.builders import platform
from tests.searching import some

__all__ = ["scene", "standing_scene"]  # the fixtures


def filter_names(base: type[FilterSet] = FilterSet) -> set[str]:
    """Of all lists."""
    return {name for child in base.__subclasses__() for name in (*child.base_filters, *filter_names(child))}


@pytest.mark.sweep
def test_filters_that_mean_nothing_break_no_list(scene: Scene) -> None:
    with acting(platform()):
        urls = [
            route.url(scene.values)
            for route in own_routes()
            if any(access.realm is not Realm.PUBLIC for access in declared(route.access))
        ]
    names = sorted(filter_names())  # known once the routes have imported the lists
    assert len(names) > 20
    nonsense, broken, seen = urlencode(dict.fromkeys(names, "no such value")), {}, 0
    for url in some(urls):
        for who in ("owner", "staff"):
            scene.clients[who].raise_request_exception = False
            status = scene.clients[who].get(f"{url}?{nonsense}").status_code
            seen += status < 400
            if status >= 500:
                broken[f"{who} {url}"] = status
    assert broken == {}
    assert seen >= len(some(range(100))), "the sweep reaches too few lists to prove anything"
