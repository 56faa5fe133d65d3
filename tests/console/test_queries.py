"""Lists cost the same number of queries, however many rows they have."""

from uuid import uuid4

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.common.scoping import acting
from apps.workloads.models import Workload
from tests.builders import World, make_node, make_organisation, make_package, platform, submit_workload
from tests.console.kit import page, ran


def queries(client: Client, url: str) -> int:
    client.get(url)  # what is cached once per process is cached now
    with CaptureQueriesContext(connection) as captured:
        assert client.get(url).status_code == 200
    return len(captured)


def more_of_everything(world: World) -> None:
    with acting(platform()):
        for _number in range(5):
            make_organisation()
            make_node()
            make_package()
    for number in range(5):
        with acting(world.actor):
            workload = submit_workload(world)
        with acting(platform()):
            Workload.objects.filter(pk=workload.pk).update(explanation={"cause": "never_fits"}, name=f"run {number}")
        ran(world, minutes=5, label=str(uuid4()))


def test_a_list_needs_no_query_for_each_row(root: Client, world: World) -> None:
    names = ("organisations", "workloads", "nodes", "packages", "recharges", "audit", "consumption")
    more_of_everything(world)
    few = {name: queries(root, page(name)) for name in names}
    more_of_everything(world)
    assert {name: count for name in names if (count := queries(root, page(name))) > few[name]} == {}
    assert {name: count for name, count in few.items() if count > 20} == {}
