"""Software sources in the settings, and what a node reaches of them on its page and in the API."""

import json
from pathlib import Path

import pytest
from django.test import Client

from apps.clusters.models import Node
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.tenants import settings as store
from apps.workloads.drivers.capabilities import Probe
from apps.workloads.drivers.said import Code, Said
from apps.workloads.software_sources import SourceSettings
from tests.builders import World, platform, reload
from tests.console.kit import last_entry, page, post, text_of
from tests.drivers.indexes import index

pytestmark = pytest.mark.django_db
HERE = page("settings_sources")
WELL = Probe("pip", "https://index.example/simple/", 0.034)
FAILED = Probe(
    "npm",
    "https://npm.example/",
    0.2,
    Said(Code.SOURCE_ANSWERS, {"url": "https://npm.example/wrappy", "status": 404}),
    Said(Code.SOURCE_REFUSED_INSIDE, {"host": "npm.example:443", "answer": "403 no"}),
)


def told(node: Node, *probes: Probe) -> None:
    kept = {"at": db_now().isoformat(), "digest": "x", "probes": [each.as_json() for each in probes]}
    with acting(platform()):
        Node.objects.filter(pk=node.pk).update(software_sources=kept)


def test_what_is_chosen_is_kept_and_logged(root: Client, tmp_path: Path) -> None:
    with index(tmp_path) as campus:
        authority = campus.authority
    answer = post(root, HERE, pip_index="https://m.example/simple/", certificates=authority, no_proxy="a.example,*.b")
    assert answer.status_code == 422  # no such pattern
    post(root, HERE, pip_index="https://m.example/simple/", certificates=authority, proxy="http://p.example:3128")
    with acting(platform()):
        kept = store.get(SourceSettings)
    assert kept.pip_index == "https://m.example/simple/"
    assert kept.certificates.strip() == authority.strip()
    assert last_entry("settings.changed").after["proxy"] == "http://p.example:3128"
    assert "https://m.example/simple/" in text_of(root.get(HERE))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pip_index", "mirror.example"),
        ("pip_index", "ftp://mirror.example/"),
        ("pip_index", "https://one.example/ https://two.example/"),
        ("pip_index", "https://me:secret@mirror.example/simple/"),
        ("pip_index", "https://mirror.example:99999/"),
        ("pip_index", "https://mirror.example/$(id)"),
        ("pip_extra_indexes", "https://one.example/ two"),
        ("pip_trusted_hosts", "https://one.example/"),
        ("npm_registry", "https://user@npm.example/"),
        ("proxy", "https://p.example:3128"),
        ("proxy", "http://p.example:3128/path"),
        ("no_proxy", "a b"),
        ("certificates", "hello"),
        ("certificates", "-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----"),
    ],
)
def test_what_cannot_be_is_refused_beside_its_field_and_stays_typed(root: Client, name: str, value: str) -> None:
    answer = post(root, HERE, **{name: value})
    assert answer.status_code == 422
    assert answer.context["form"].errors.keys() == {name}
    assert answer.context["form"][name].value() == value
    sent = json.dumps({name: value})
    refused = root.patch("/api/v1/console/settings/software-sources/", sent, content_type="application/json")
    assert refused.status_code == 400
    assert name in refused.json()["fields"]


def test_all_that_is_wrong_is_said_at_once(root: Client) -> None:
    answer = post(root, HERE, pip_index="mirror", proxy="ftp://p.example", certificates="hello")
    assert answer.context["form"].errors.keys() == {"pip_index", "proxy", "certificates"}


def test_a_node_says_what_it_reaches(root: Client, world: World) -> None:
    where = page("node", world.node.pk)
    assert "is being asked what it reaches" in text_of(root.get(where))
    told(world.node, WELL, FAILED)
    text = text_of(root.get(where))
    assert "34 ms" in text
    assert "https://npm.example/wrappy answers 404." in text
    assert "Programs in sandboxes do not get to npm.example:443: 403 no" in text
    rows = root.get(f"/api/v1/console/nodes/{world.node.pk}/sources/").json()["rows"]
    assert [(row["kind"], len(row["problems"])) for row in rows] == [("pip", 0), ("npm", 2)]


def test_it_is_asked_again_when_somebody_wants_to_know(root: Client, world: World) -> None:
    told(world.node, FAILED)
    post(root, page("node_sources", world.node.pk))
    with acting(platform()):
        assert reload(world.node).software_sources == {}
    told(world.node, FAILED)
    answer = root.post(f"/api/v1/console/nodes/{world.node.pk}/sources/")
    assert (answer.status_code, answer.json()) == (202, {"at": None, "rows": []})
