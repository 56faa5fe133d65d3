"""The pod of an attempt: whatever people type changes leaves of it, and never what it may do."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.client import ApiClient

from apps.workloads.drivers.base import DeviceGrant, Gang, LaunchRequest, Mount, Reference, RuntimeImage, Secret
from apps.workloads.drivers.kubernetes import account, devices, launching, manifest, names, tenant
from apps.workloads.drivers.kubernetes.cluster import Cluster, VolumeSource
from apps.workloads.drivers.kubernetes.manifest import Plan
from apps.workloads.drivers.request import DATA

SOURCE = VolumeSource({"nfs": {"server": "files.lab", "path": "/plstack"}}, ".pods", Path("/srv/plstack"))
CLUSTER = Cluster("ours", {}, "registry.lab/python@sha256:" + "1" * 64, {DATA: SOURCE}, b"secret")
IMAGE = Reference("registry.lab:5000/team/torch", f"sha256:{'0' * 64}")
CARD = DeviceGrant("GPU-00000000-0000-4000-8000-000000000001", 0, "nvidia", "A100", 81920, 100, "whole")
TENANT = UUID(int=7)


def request(**changes: Any) -> LaunchRequest:
    made = LaunchRequest(
        attempt_id=uuid4(),
        workload_id=uuid4(),
        tenant_id=TENANT,
        node="gpu-1",
        image=RuntimeImage("plain"),
        argv=("python", "train.py"),
        env={},
        mounts=(
            Mount(DATA, "orgs/7/code", "/workspace/code", True),
            Mount(DATA, "orgs/7/out", "/workspace/out", False),
        ),
        workdir="/workspace/code",
        cpu_milli=1500,
        memory_mib=2048,
    )
    return replace(made, **changes)


def plain(made: Any) -> Any:
    """As it is sent."""
    return ApiClient().sanitize_for_serialization(made)  # type: ignore[no-untyped-call]


def built(plan: Plan) -> Any:
    return plain(manifest.pod(plan))


def containers(pod: Any) -> dict[str, Any]:
    return {each["name"]: each for each in pod["spec"].get("initContainers", []) + pod["spec"]["containers"]}


@pytest.mark.parametrize("image", [RuntimeImage("plain"), IMAGE])
def test_the_pod_meets_the_restricted_standard(image: Any) -> None:
    """Kubernetes, "Pod Security Standards", Restricted: field by field."""
    pod = built(Plan(CLUSTER, "gpu-1", request(image=image), 231_000))
    spec = pod["spec"]
    assert not any(spec.get(name) for name in ("hostNetwork", "hostPID", "hostIPC"))
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] == 231_000
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for each in containers(pod).values():
        assert each["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
        assert not any(port.get("hostPort") for port in each.get("ports", ()))
    allowed = {"name", "configMap", "secret", "emptyDir", "persistentVolumeClaim"}
    assert all(set(volume) <= allowed for volume in spec["volumes"])
    assert spec["automountServiceAccountToken"] is False
    assert spec["priorityClassName"] == names.PRIORITY
    assert plain(tenant._priority())["preemptionPolicy"] == "Never"


def test_only_the_shim_sees_what_it_is_given_and_the_journal() -> None:
    pod = built(Plan(CLUSTER, "gpu-1", request(image=IMAGE), 231_000))
    seen = {name: {mount["name"] for mount in each["volumeMounts"]} for name, each in containers(pod).items()}
    for volume in ("given", "private"):
        assert [name for name, volumes in seen.items() if volume in volumes] == [names.SHIM]
    journals = [
        (name, mount["subPath"]) for name, each in containers(pod).items() for mount in each["volumeMounts"]
        if mount.get("subPath", "").endswith("/runs")
    ]  # fmt: skip
    assert journals == [(names.SHIM, f".pods/{TENANT.hex}/runs")]


def test_the_program_may_write_where_its_mounts_say_and_nowhere_else_of_the_volume() -> None:
    program = containers(built(Plan(CLUSTER, "gpu-1", request(), 231_000)))[names.PROGRAM]
    of_volume = {m["subPath"]: m.get("readOnly", False) for m in program["volumeMounts"] if m["name"] == DATA}
    assert of_volume == {"orgs/7/code": True, "orgs/7/out": False, f".pods/{TENANT.hex}/runtimes": True}


def test_a_mount_that_is_missing_is_left_out_for_the_shim_to_name() -> None:
    plan = Plan(CLUSTER, "gpu-1", request(), 231_000, frozenset({"/workspace/code"}))
    program = containers(built(plan))[names.PROGRAM]
    assert "/workspace/code" not in {mount["mountPath"] for mount in program["volumeMounts"]}
    told = json.loads(launching.content(plan)["spec.json"])
    assert [mount["target"] for mount in told["mounts"]] == ["/workspace/code", "/workspace/out"]


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)


@given(st.lists(texts, min_size=1), st.dictionaries(st.from_regex(r"[A-Za-z_]\w{0,9}", fullmatch=True), texts), texts)
def test_hostile_arguments_variables_and_secrets_change_nothing_of_the_pod(
    argv: list[str], env: dict[str, str], secret: str
) -> None:
    """They go to the shim in a Secret that no other container sees; the manifest has no place for them."""
    usual = request()
    hostile = replace(usual, argv=tuple(argv), env=env, secrets=(Secret("s", variable="S", value=secret),))
    assert built(Plan(CLUSTER, "gpu-1", hostile, 231_000)) == built(Plan(CLUSTER, "gpu-1", usual, 231_000))


@given(st.text(max_size=60))
def test_a_cards_name_is_never_part_of_an_expression_unless_it_is_one(uuid: str) -> None:
    card = replace(CARD, uuid=uuid)
    try:
        told = devices.expression(card)
    except ValueError:
        return
    assert told == f'device.attributes["gpu.nvidia.com"].uuid == "{uuid}"'
    assert '"' not in uuid
    assert "\\" not in uuid


def test_with_claims_the_very_card_is_asked_for() -> None:
    cluster = replace(CLUSTER, dra=True)
    asked = request(devices=(CARD, replace(CARD, uuid="GPU-2")))
    claim = plain(devices.claim(cluster, asked))
    found = [each["exactly"]["selectors"][0]["cel"]["expression"] for each in claim["spec"]["devices"]["requests"]]
    assert found == [f'device.attributes["gpu.nvidia.com"].uuid == "{uuid}"' for uuid in (CARD.uuid, "GPU-2")]
    pod = built(Plan(cluster, "gpu-1", asked, 231_000))
    assert pod["spec"]["resourceClaims"] == [{"name": "cards", "resourceClaimName": names.pod(str(asked.attempt_id))}]
    program = containers(pod)[names.PROGRAM]
    assert program["resources"]["claims"] == [{"name": "cards"}]
    assert not any("nvidia.com" in name for name in program["resources"]["limits"])


def test_without_claims_cards_are_asked_for_by_number() -> None:
    pod = built(Plan(CLUSTER, "gpu-1", request(devices=(CARD, replace(CARD, uuid="GPU-2"))), 231_000))
    assert containers(pod)[names.PROGRAM]["resources"]["limits"]["nvidia.com/gpu"] == "2"
    mig = replace(CARD, mode="mig", profile="3g.40gb")
    pod = built(Plan(CLUSTER, "gpu-1", request(devices=(mig,)), 231_000))
    assert containers(pod)[names.PROGRAM]["resources"]["limits"]["nvidia.com/mig-3g.40gb"] == "1"


def test_members_of_a_gang_have_names_and_reach_each_other_alone() -> None:
    group = uuid4()
    plan = Plan(CLUSTER, "gpu-1", request(gang=Gang(group, 1, ("gpu-1", "gpu-2"))), 231_000)
    spec = built(plan)["spec"]
    assert (spec["hostname"], spec["subdomain"]) == ("m1", f"gang-{group.hex}")
    policy = plain(tenant.gang_policy(CLUSTER, TENANT, group))["spec"]
    same = {"matchLabels": {names.GANG: group.hex}}
    assert policy["podSelector"] == same
    assert policy["ingress"] == [{"from": [{"podSelector": same}]}]
    assert policy["egress"] == [{"to": [{"podSelector": same}]}]


def test_nothing_gets_in_but_to_the_shim_and_nothing_out_but_names() -> None:
    [closed] = plain(tenant.policies(CLUSTER, TENANT))
    assert closed["spec"]["podSelector"] == {}
    assert closed["spec"]["policyTypes"] == ["Ingress", "Egress"]
    assert closed["spec"]["ingress"] == [{"ports": [{"port": 7171, "protocol": "TCP"}]}]
    assert closed["spec"]["egress"] == [{"ports": [{"port": 53, "protocol": p} for p in ("UDP", "TCP")]}]


@given(st.uuids(), st.uuids(), st.text(max_size=200))
def test_names_are_ones_that_kubernetes_takes_and_each_its_own(one: UUID, other: UUID, platform: str) -> None:
    cluster = replace(CLUSTER, platform=platform)
    made = {
        of: [names.namespace(cluster, of), names.pod(str(of)), names.given(str(of)), names.service(of)]
        for of in (one, other)
    }
    for name in (*made[one], *made[other]):
        assert len(name) <= 63
        assert name.replace("-", "").isalnum()
        assert name == name.lower()
    assert one == other or not set(made[one]) & set(made[other])
    assert names.key(cluster, str(one)) != names.key(replace(cluster, secret=b"another"), str(one))


def test_the_account_in_the_repository_has_the_rights_that_the_driver_needs() -> None:
    path = Path(__file__).parents[2] / "deploy/kubernetes/zone-account.yaml"
    assert list(yaml.safe_load_all(path.read_text())) == account.manifests()
    assert not [need for need in account.NEEDED if "*" in (need.group, need.resource, *need.verbs)]
