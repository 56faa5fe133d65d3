"""The contract's dataclasses as JSON, between the platform and an agent. The local driver's records do the work."""

import base64
import json
from dataclasses import asdict
from typing import Any

from apps.workloads.drivers.base import (
    CannotSee,
    DriverError,
    Isolation,
    IsolationLevel,
    LaunchRefused,
    LaunchRequest,
    LogChunk,
    Observation,
    Unsupported,
    Usage,
)
from apps.workloads.drivers.local.records import (
    RunSpec,
    decode_observation,
    decode_spec,
    encode_observation,
    encode_spec,
)
from apps.workloads.drivers.said import Said

Json = dict[str, Any]


def request_out(request: LaunchRequest) -> Json:
    """Only the request is meant: the rest of the record is decided by the node's own driver."""
    record = RunSpec(request, IsolationLevel.L0, None, False, "/")
    found: Json = json.loads(encode_spec(record))
    return found


def request_in(data: Json) -> LaunchRequest:
    """Raises KeyError, TypeError or ValueError for what `request_out` did not write."""
    return decode_spec(json.dumps(data).encode()).request


def observation_out(seen: Observation) -> Json:
    found: Json = json.loads(encode_observation(seen))
    return found


def observation_in(data: Json) -> Observation:
    return decode_observation(json.dumps(data).encode())


def chunk_out(chunk: LogChunk) -> Json:
    return {**asdict(chunk), "data": base64.b64encode(chunk.data).decode()}


def chunk_in(data: Json) -> LogChunk:
    return LogChunk(base64.b64decode(data["data"]), data["offset"], data["next_offset"], data["complete"])


def usages_out(usages: list[Usage]) -> list[Json]:
    return [asdict(usage) for usage in usages]


def usages_in(data: list[Json]) -> list[Usage]:
    return [Usage(**fields) for fields in data]


def isolation_out(found: Isolation) -> Json:
    """`reason`: in English, for a platform that knows no codes."""
    return {"level": found.level.value, "reason": found.reason, "said": [said.as_json() for said in found.said]}


def isolation_in(data: Json) -> Isolation:
    said = data["said"] if "said" in data else [data["reason"]]
    return Isolation(IsolationLevel(data["level"]), tuple(map(Said.from_json, said)))


def error_out(error: DriverError) -> Json:
    """What went wrong, in the contract's own terms. `text`: for a platform that knows no codes."""
    told = {"text": str(error), "said": error.said.as_json()}
    if isinstance(error, LaunchRefused):
        return {"kind": "refused", "code": error.code, **told}
    kind = "cannot_see" if isinstance(error, CannotSee) else "unsupported" if isinstance(error, Unsupported) else ""
    return {"kind": kind or "driver", **told}


def error_in(data: Json) -> DriverError:
    said = Said.from_json(data.get("said", data.get("text", "")))
    if data.get("kind") == "refused":
        return LaunchRefused(str(data.get("code", "")), said)
    return {"cannot_see": CannotSee, "unsupported": Unsupported}.get(str(data.get("kind")), DriverError)(said)
