"""One cluster: how it is reached, what it offers, and where its nodes have people's files from."""

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from kubernetes import client, config
from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from apps.workloads.drivers.errors import CannotSee
from apps.workloads.drivers.said import Code, Said

MOST = 300
TIMEOUT_S = (5.0, 20.0)
"""To connect, and between two pieces of an answer."""
CONFLICT, FORBIDDEN, GONE, MISSING, UNPROCESSABLE = 409, 403, 410, 404, 422


@dataclass(frozen=True, slots=True)
class VolumeSource:
    """Where every node of the cluster finds one of the platform's volumes.

    `volume`: the part of a PersistentVolume's specification that says so, such as `{"hostPath": {"path": …}}` or
    `{"nfs": {"server": …, "path": …}}`. `own`: a folder of it, relative to its root, that is the driver's. `root`:
    where the platform itself has it mounted.
    """

    volume: Mapping[str, Any]
    own: str
    root: Path


@dataclass(frozen=True)
class Cluster:
    """`platform`: the installation's id, which tells its objects from another's on the same cluster. `image`: with a
    Python of 3.11 or later, for shims and for runtimes. `secret`: from which the keys of channels are derived.
    `user_namespaces`: pods have user ids of their own. `dra`: cards are given by claims, so the very one that was
    chosen.
    """

    platform: str
    kubeconfig: Mapping[str, Any] = field(repr=False)
    image: str
    volumes: Mapping[str, VolumeSource]
    secret: bytes = field(repr=False)
    pull_policy: str = "IfNotPresent"
    domain: str = "cluster.local"
    user_namespaces: bool = False
    dra: bool = False

    @cached_property
    def api(self) -> client.ApiClient:
        """For use by several threads. Raises CannotSee for a configuration that makes no sense."""
        found = client.Configuration()
        try:
            config.load_kube_config_from_dict(dict(self.kubeconfig), client_configuration=found)  # type: ignore[no-untyped-call]
        except (config.ConfigException, KeyError, TypeError, ValueError) as error:
            raise CannotSee(Said(Code.CLUSTER_UNREADABLE, {"error": str(error)[:200]})) from error
        found.retries = False
        return client.ApiClient(found)

    @staticmethod
    def encoded(data: bytes) -> str:
        """As the API takes bytes."""
        return base64.b64encode(data).decode()

    @cached_property
    def core(self) -> client.CoreV1Api:
        return client.CoreV1Api(self.api)

    @cached_property
    def networking(self) -> client.NetworkingV1Api:
        return client.NetworkingV1Api(self.api)

    @cached_property
    def scheduling(self) -> client.SchedulingV1Api:
        return client.SchedulingV1Api(self.api)

    @cached_property
    def resources(self) -> client.ResourceV1Api:
        return client.ResourceV1Api(self.api)


@dataclass(frozen=True, slots=True)
class Place:
    """One of its nodes. `node`: its name in the cluster."""

    cluster: Cluster
    node: str


@contextmanager
def asking() -> Iterator[None]:
    """What the cluster did not answer is not known. Raises CannotSee for everything but an answer in its own words."""
    try:
        yield
    except ApiException as error:
        if error.status in (CONFLICT, GONE, MISSING, UNPROCESSABLE):
            raise
        said = Said(Code.CLUSTER_REFUSES, {"status": error.status or 0, "error": reason(error)})
        raise CannotSee(said) from error
    except (HTTPError, OSError) as error:
        raise CannotSee(Said(Code.CLUSTER_UNREACHABLE, {"error": _plainly(error)})) from error


def _plainly(error: BaseException) -> str:
    """In the system's words where it has any: what urllib3 wraps it in names objects of ours."""
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, OSError) and found.strerror:
            return found.strerror
        found = getattr(found, "reason", None) or found.__cause__ or found.__context__
    return type(error).__name__


def reason(error: ApiException) -> str:
    """In the API server's words, cut to fit."""
    try:
        return str(json.loads(error.body or "")["message"])[:MOST]
    except (ValueError, KeyError, TypeError):
        return str(error.reason)[:MOST]
