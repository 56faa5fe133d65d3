"""A sample list: what a page's table definition looks like."""

from typing import Any

import django_tables2 as tables
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.common.tables import FULL, Table, column

_ROWS = [
    ("qwen3-8b-sft-v3", "A100 80 GB × 2", "running", "Since 11:20, 3 h 12 min", 93, 1560),
    ("digits-baseline", "4 cores · 16 GiB", "starting", "Step 3 of 5, preparing the runtime", None, 0),
    ("qwen3-32b-dpo", "H200 141 GB × 4", "queued", "Short of 1 H200 on gpu-a01", None, 0),
    ("asr-whisper", "RTX 4090", "stale", "Node gone since 14:28", 71, 0),
    ("yolo11-defect-07", "RTX 4090", "failed", "Out of GPU memory, your code", None, 0),
    ("mae-vit-h", "H200 141 GB", "succeeded", "Finished 12:10 after 6 h 5 min", None, 0),
    ("ocr-invoice", "L40S vGPU 12 GB", "stopped", "Stopped by Lin Xiao at 09:12", None, 0),
]


def sample_rows() -> list[dict[str, Any]]:
    keys = ("name", "package", "status", "say", "gpu", "rate")
    return [dict(zip(keys, row, strict=True)) for row in _ROWS]


class SampleTable(Table):
    caption = "Training jobs"
    pick = tables.TemplateColumn(
        '<input class="form-check-input" type="checkbox" data-pick name="id" value="{{ record.name }}"'
        ' aria-label="Select {{ record.name }}">',
        orderable=False,
        attrs=column("pl-wide"),
        verbose_name="",
    )
    name = tables.Column(attrs=column(width=FULL))
    status = tables.TemplateColumn(
        '{% load pl %}{% state record.status %}<span class="pl-sub">{{ record.say }}</span>',
        attrs=column("pl-inline", width=FULL),
    )
    gpu = tables.TemplateColumn(
        "{% load pl %}{{ record.gpu|percent }}{% if record.gpu is not None %}{% meter record.gpu 100 %}{% endif %}",
        verbose_name="GPU",
        attrs=column(fold="GPU"),
    )
    rate = tables.TemplateColumn(
        "{% load pl %}{{ record.rate|rate_amount }}", verbose_name="¥/h", attrs=column(fold="¥/h", numeric=True)
    )
    menu = tables.TemplateColumn(
        "{% load pl %}{% menu record.name table.actions %}",
        verbose_name="",
        orderable=False,
        attrs=column("pl-corner", numeric=True),
    )

    actions = [
        {"label": "Clone", "icon": "copy", "url": "#"},
        {"label": "Rerun", "icon": "refresh", "disabled": True, "why": "Nothing has ended yet"},
        {"label": "Stop…", "icon": "player-stop", "dialog": "sample-stop", "danger": True},
    ]

    class Meta(Table.Meta):
        row_attrs = {"data-href": "#row"}

    def render_name(self, value: str, record: dict[str, Any]) -> SafeString:
        return format_html(
            '<a class="pl-name" href="#row">{}</a><span class="pl-sub">{}</span>', value, record["package"]
        )
