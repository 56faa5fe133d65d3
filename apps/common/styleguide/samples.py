"""Made-up values for the partials that take plain data."""

from datetime import datetime, timedelta
from typing import Any


def sample(now: datetime) -> dict[str, Any]:
    return {
        "now": now,
        "started": now - timedelta(hours=3, minutes=12),
        "ended": now - timedelta(days=1, hours=2),
        "p50": now + timedelta(minutes=33),
        "p90": now + timedelta(minutes=68),
        "strip": _STRIP,
        "steps": _STEPS,
        "rows": _ROWS,
        "todos": _TODOS,
        "quote": {**_QUOTE, "p50": now + timedelta(minutes=1), "p90": now + timedelta(minutes=4), "now": now},
        "short": _SHORT,
        "failure": _FAILURE,
        "tabs": _TABS,
        "tags": [
            {"text": "v3, from v2", "icon": "git-branch"},
            {"text": "A100 80 GB × 2", "icon": "cpu"},
            {"text": "gpu-a03 · cards 2, 3", "icon": "server-2"},
        ],
        "trend": [88, 91, 93, 90, 92, 93, 71, 90, 93, 12, 64, 92, 93],
        "starts": _STARTS,
        "command": "torchrun --nnodes 1 --nproc-per-node 2 train.py \\\n  --epochs 3 --lr 1e-5 --batch 8",
    }


_STRIP = [
    {"label": "Running", "value": "5", "sub": "1 starting · 2 queued · 1 unknown"},
    {
        "label": "Spending",
        "value": "¥23.68",
        "unit": "/h, organisation ¥84.94",
        "sub": "The balance lasts until 11-22 09:53",
    },
    {"label": "Needs me", "value": "6", "sub": "1 failure · 1 idle · 2 approvals · 2 more"},
    {"label": "Balance", "value": "¥183.40", "sub": "Below the reminder at ¥500.00", "tone": "warn"},
]
_STEPS = [
    {"label": "Quota", "icon": "clipboard-check", "value": "0.4 s", "note": "usually within 1 s", "tone": "stop"},
    {"label": "Queue", "icon": "clock", "value": "4 min 18 s", "note": "usually 2–6 min", "tone": "stop"},
    {
        "label": "Runtime",
        "icon": "cloud-download",
        "value": "38 s",
        "note": "usually 6 s, first use on this node",
        "tone": "warn",
    },
    {
        "label": "Mounts",
        "icon": "folder",
        "value": "2 s",
        "note": "62%, about 3 s left",
        "tone": "wait",
        "active": True,
    },
    {"label": "Ready", "icon": "player-play", "note": "usually 40 s", "tone": ""},
]
_ROWS = [
    {"label": "Available balance", "value": "¥3,683.40"},
    {"label": "Runs until", "value": "11-22 03:10", "strong": True, "sub": "organisation ¥100.54/h in all"},
    {"label": "Held at the start", "value": "¥15.60", "sub": "one hour's worth; the rest comes back"},
    {"label": "Price version", "value": "P-2026-11", "icon": "lock", "sub": "does not change during this run"},
]
_TODOS = [
    {
        "icon": "circle-x",
        "tone": "fail",
        "text": "yolo11-defect-07 failed: out of GPU memory",
        "sub": "Your code · 13:48 · peak 23.6 of 24 GB",
        "url": "#",
        "action": "See why",
    },
    {
        "icon": "zzz",
        "tone": "warn",
        "text": "cv-notebook has been idle for 18 min",
        "sub": "Saved and released at 14:44; saves ¥2.10/h",
        "url": "#",
        "action": "Keep it",
    },
]
_QUOTE = {
    "price": "¥15.60",
    "unit": "/ hour",
    "sub": "A100 80 GB, whole card × 2 · ¥7.80 × 2",
    "rows": _ROWS,
    "button": "Start training",
    "dock_sub": "runs until 11-22 03:10",
    "foot": "Charged from ready on, to the second. Waiting and preparing are free; platform faults are credited.",
}
_SHORT = {
    **_QUOTE,
    "rows": [
        {"label": "Available balance", "value": "¥9.60", "tone": "fail", "strong": True},
        {"label": "Runs until", "value": "cannot start", "tone": "fail"},
    ],
    "problem": {
        "title": "¥6.00 short of a start",
        "text": "A start holds ¥15.60; ¥9.60 is available. Smaller packages that would start now:",
    },
    "alternatives": [
        {"name": "A100 80 GB × 1", "sub": "¥7.80/h · runs until 15:29", "url": "#"},
        {"name": "H200 MIG 3g.71gb × 1", "sub": "¥9.60/h · runs until 15:20", "url": "#"},
    ],
    "top_up_url": "#",
    "blocked": "Start training",
}
_FAILURE = {
    "id": "1",
    "title": "Attempt 1 failed: the platform's fault",
    "when": "12:10:12 – 14:06:12",
    "credited": "¥23.76 credited",
    "text": "The file server behind the volume rlhf-work stopped answering at 14:05:42.",
    "verdict": "Your code is fine; nothing to do.",
    "facts": [
        {"label": "Lost progress", "value": "18 min", "sub": "after the checkpoint of step 1,200"},
        {"label": "Credited", "value": "¥23.76", "sub": "18 min × ¥79.20/h, booked 14:07"},
        {"label": "Done already", "value": "Requeued first", "sub": "goes on from step 1,200"},
    ],
    "fixes": [
        {"label": "Write checkpoints more often: each saves up to 18 min."},
        {"label": "Rerun with a smaller batch", "url": "#"},
    ],
    "excerpt": "14:06:12 OSError: [Errno 110] Connection timed out: '/vol/runs/metrics.jsonl'",
    "links": [{"label": "Full log", "url": "#"}],
    "dispute_url": "#",
}
_TABS = [
    {"label": "Overview", "url": "#", "current": True},
    {"label": "Metrics", "url": "#"},
    {"label": "Log", "url": "#"},
    {"label": "Events", "url": "#", "count": 12},
    {"label": "Cost", "url": "#"},
]
_STARTS = [
    {
        "url": "#",
        "icon": "flame",
        "name": "Digits example",
        "sub": "4 cores · 16 GiB · ¥0.48/h",
        "sub2": "ready in about 20 s",
    },
    {"url": "#", "icon": "code", "name": "Write code here", "sub": "CPU only", "sub2": "no upload needed"},
]
