"""What a cluster is, and what its account may do there: asked before it becomes a zone."""

import re
from dataclasses import dataclass

from kubernetes import client

from apps.workloads.drivers.kubernetes.account import Need, each_needed
from apps.workloads.drivers.kubernetes.cluster import TIMEOUT_S, Cluster, asking
from apps.workloads.drivers.kubernetes.devices import DRIVER

LEAST_MINOR_FOR_USER_NAMESPACES = 33  # on by default from then on


@dataclass(frozen=True, slots=True)
class Facts:
    """`missing`: permissions that are needed and not held, as `verb resource`."""

    uid: str
    version: str
    claims_cards: bool
    user_namespaces: bool
    missing: tuple[str, ...]


def inspect(cluster: Cluster) -> Facts:
    """Raises CannotSee, or ApiException for an answer that makes no sense."""
    with asking():
        version = client.VersionApi(cluster.api).get_code(_request_timeout=TIMEOUT_S)
        space = cluster.core.read_namespace("kube-system", _request_timeout=TIMEOUT_S)
        missing = tuple(f"{verb} {need.resource}" for need, verb in each_needed() if not may(cluster, need, verb))
        slices = cluster.resources.list_resource_slice(_request_timeout=TIMEOUT_S).items
    minor = int(re.sub(r"\D.*", "", version.minor or "0") or 0)
    return Facts(
        uid=str(space.metadata.uid if space.metadata else ""),
        version=version.git_version or "",
        claims_cards=any(each.spec.driver == DRIVER for each in slices),  # a class may be left of a driver that is gone
        user_namespaces=minor >= LEAST_MINOR_FOR_USER_NAMESPACES,
        missing=missing,
    )


def may(cluster: Cluster, need: Need, verb: str) -> bool:
    """Raises ApiException, HTTPError."""
    asked = client.V1SelfSubjectAccessReview(
        spec=client.V1SelfSubjectAccessReviewSpec(
            resource_attributes=client.V1ResourceAttributes(group=need.group, resource=need.resource, verb=verb)
        )
    )
    answer = client.AuthorizationV1Api(cluster.api).create_self_subject_access_review(asked, _request_timeout=TIMEOUT_S)
    return bool(answer.status and answer.status.allowed)
