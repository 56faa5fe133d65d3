"""The contract's dataclasses as JSON, between the platform and an agent. The local driver's records do the work."""

import base64
import json
from dataclasses import asdict
from typing import Any

from apps.workloads.drivers.base import (
    Isolation,
    IsolationLevel,
    LaunchRequest,
    LogChunk,
    LogTime,
    Observation,
    Usage,
)
from apps.workloads.drivers.errors import error_in as error_in
from apps.workloads.drivers.errors import error_out as error_out
from apps.workloads.drivers.local.records import RunSpec, decode_spec, encode_spec
from apps.workloads.drivers.observations import decode_observation, encode_observation
from apps.workloads.drivers.said import Said

Json = dict[str, Any]


def request_out(request: LaunchRequest) -> Json:
    """Without the values of its secrets. The rest of the record is decided by the node's own driver."""
    record = RunSpec(request, IsolationLevel.L0, None, False, "/")
    found: Json = json.loads(encode_spec(record))
    if not request.secrets:
        del found["request"]["secrets"]  # agents of before there were any refuse the name
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
    """`times` and `size` are not in the answers of older agents."""
    times = tuple(LogTime(int(offset), int(at)) for offset, at in data.get("times", ()))
    body = base64.b64decode(data["data"])
    return LogChunk(body, data["offset"], data["next_offset"], data["complete"], times, data.get("size"))


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
