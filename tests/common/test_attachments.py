"""Files that people made leave as downloads, never as something that a browser runs or keeps."""

import pytest
from django.http import HttpResponse

from apps.common.files import as_attachment, attachment

KEPT_OUT = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, no-store",
}


def test_what_is_sent_is_saved_and_kept_by_nobody() -> None:
    answer = attachment(b"<script>", "凭证.html", "text/html")
    assert answer.content == b"<script>"
    assert answer.headers["Content-Disposition"].startswith("attachment; filename*=utf-8''")
    assert {name: answer.headers[name] for name in KEPT_OUT} == KEPT_OUT


@pytest.mark.parametrize(("inline", "begins"), [(True, "inline"), (False, "attachment")])
def test_what_is_shown_runs_nothing_either(inline: bool, begins: str) -> None:
    answer = as_attachment(HttpResponse(), "a.png", inline=inline)
    assert answer.headers["Content-Disposition"].startswith(begins)
    assert {name: answer.headers[name] for name in KEPT_OUT} == KEPT_OUT
