"""The contract's observations as JSON: in a shim's records, between machines, and over its channel."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from apps.workloads.drivers.base import Exit, ExitReason, Observation, Phase, Progress, StepTime, Usage
from apps.workloads.drivers.said import Said


def encode_observation(observation: Observation) -> bytes:
    """What is said lies beside the fields that readers of before codes insist on, which have it in English."""
    data = asdict(observation)
    progress, ended = observation.progress, observation.exit
    if progress is not None:
        data["progress"] = {"text": progress.text, "fraction": progress.fraction, "left_s": progress.left_s}
    if ended is not None:
        fields = {"code": ended.code, "signal": ended.signal, "reason": ended.reason.value, "detail": ended.detail}
        data["exit"] = fields
    spoken = {"progress": progress.said if progress else None, "exit": ended.said if ended else None}
    data["said"] = {name: said.as_json() for name, said in spoken.items() if said is not None}
    return json.dumps(data).encode()


def decode_observation(data: bytes) -> Observation:
    """Raises ValueError, KeyError or TypeError when the file is not one of ours."""
    fields: dict[str, Any] = json.loads(data)
    said: dict[str, Any] = fields.get("said", {})
    return Observation(
        phase=Phase(fields["phase"]),
        steps=tuple(StepTime(Phase(step["name"]), step["seconds"], step["done"]) for step in fields["steps"]),
        progress=_decode_progress(fields["progress"], said.get("progress")),
        ran_for_s=fields["ran_for_s"],
        exit=_decode_exit(fields["exit"], said.get("exit")),
        usage=Usage(**fields["usage"]) if fields["usage"] else None,
        peak_memory_mib=fields["peak_memory_mib"],
        checkpoint_age_s=fields.get("checkpoint_age_s"),
    )


def _decode_progress(fields: Mapping[str, Any] | None, said: object) -> Progress | None:
    if not fields:
        return None
    return Progress(Said.from_json(said or fields["text"]), fields["fraction"], fields.get("left_s"))


def _decode_exit(fields: Mapping[str, Any] | None, said: object) -> Exit | None:
    if fields is None:
        return None
    end = Exit(fields["code"], fields["signal"], ExitReason(fields["reason"]), output=fields["detail"])
    return replace(end, said=Said.from_json(said), output="") if said else end
