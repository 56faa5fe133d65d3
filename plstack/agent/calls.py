"""The calls that an agent serves to the platform: the local driver's methods, one verb each."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

from apps.workloads.drivers.base import CannotSee, Handle, LaunchRefused, Mount, SoftwareSources
from apps.workloads.drivers.capabilities import Notice
from apps.workloads.drivers.local import accounts
from apps.workloads.drivers.local.checks import check
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.remote import codec, envelope
from apps.workloads.drivers.request import DATA
from apps.workloads.drivers.said import Code, Said

Json = dict[str, Any]
Verb = Callable[[Json], Json]


class Calls:
    """The verbs by name. `data`: where the platform's data folder, `platform_data` there, is mounted here.

    `secret`: shared with the platform.
    """

    def __init__(self, home: Path, driver: LocalDriver, data: Path, platform_data: Path, secret: bytes) -> None:
        self._secret = secret
        self._home, self._driver = home, driver
        self._data, self._platform_data = data.resolve(), platform_data
        self.verbs: dict[str, Verb] = {
            "launch": self._launch,
            "observe": lambda asked: {"seen": codec.observation_out(driver.observe(self.handle(asked)))},
            "stop": self._stop,
            "tell": self._tell,
            "release": self._release,
            "logs": self._logs,
            "metrics": self._metrics,
            "endpoint": lambda asked: {"here": driver.endpoint(self.handle(asked), int(asked["port"])).socket_path},
            "forget": self._forget,
            "known": lambda asked: {"refs": driver.known()},
            "isolation": lambda asked: codec.isolation_out(driver.isolation()),
            "mode": self._mode,
            "sources": self._sources,
        }

    def handle(self, asked: Json) -> Handle:
        return Handle(self._driver.name, "", str(asked["ref"]))

    def _launch(self, asked: Json) -> Json:
        request = codec.request_in(asked["request"])
        if request.secrets:
            request = envelope.opened(self._secret, request, str(asked["secrets"]))
        request = replace(request, mounts=tuple(map(self._with_volume, request.mounts)))
        check(request)
        if asked.get("uid") is not None and os.geteuid() == 0:
            self._adopt(request.tenant_id, int(asked["uid"]))
        for mount in (*request.mounts, *request.copies):
            self._refuse_link(mount)
        self._driver.launch(request)
        return {}

    def _adopt(self, tenant: UUID, uid: int) -> None:
        try:
            accounts.adopt(tenant, uid, self._home / "uids.json")
        except ValueError as error:
            raise LaunchRefused("uid_taken", Said(Code.UID_TAKEN)) from error
        except OSError as error:
            raise CannotSee(Said.plain(error)) from error

    def _with_volume(self, mount: Mount) -> Mount:
        """The mount with its volume: an older platform sends its own path, which must be in the shared folder."""
        if mount.volume:
            return mount
        try:
            inside = Path(mount.subpath).relative_to(self._platform_data)
        except ValueError as error:
            raise LaunchRefused("bad_mount", Said(Code.NOT_SHARED, {"target": mount.target})) from error
        return replace(mount, volume=DATA, subpath=str(inside))

    def _refuse_link(self, mount: Mount) -> None:
        """Refuse a mount with a symlink below the shared folder: tenants can make one. There is no other volume."""
        source = str(self._data / mount.subpath)
        if os.path.realpath(source) != source:
            raise LaunchRefused("bad_mount", Said(Code.MOUNT_THROUGH_LINK, {"target": mount.target}))

    def _stop(self, asked: Json) -> Json:
        self._driver.stop(self.handle(asked), float(asked["grace_s"]))
        return {}

    def _tell(self, asked: Json) -> Json:
        notice = Notice(**asked["notice"]) if asked["notice"] else None
        self._driver.tell(self.handle(asked), notice)
        return {}

    def _release(self, asked: Json) -> Json:
        self._driver.release(self.handle(asked))
        return {}

    def _logs(self, asked: Json) -> Json:
        limit = min(int(asked["limit"]), 4 * 1024 * 1024)
        return {"chunk": codec.chunk_out(self._driver.logs(self.handle(asked), int(asked["offset"]), limit))}

    def _metrics(self, asked: Json) -> Json:
        return {"samples": codec.usages_out(self._driver.metrics(self.handle(asked), float(asked["since_s"])))}

    def _forget(self, asked: Json) -> Json:
        self._driver.forget(self.handle(asked))
        return {}

    def _sources(self, asked: Json) -> Json:
        found = self._driver.probe_sources("", SoftwareSources(**asked["sources"]))
        return {"probes": [each.as_json() for each in found]}

    def _mode(self, asked: Json) -> Json:
        self._driver.set_gpu_mode("", str(asked["uuid"]), str(asked["mode"]))
        return {}
