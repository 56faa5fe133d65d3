"""What Grype answered, recorded from version 0.121.3, and what is made of it; anything else is refused."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.registry.scanning import report
from apps.registry.scanning.report import Finding, Unreadable, packed, read, summed, unpacked

RECORDED = Path(__file__).with_name("answers") / "grype-0.121.3.json"
RECORDED_AT = datetime(2026, 11, 26, 18, 19, 38, tzinfo=UTC)  # when its database was built
URLLIB = Finding("GHSA-aaaa-bbbb-cccc", "urllib3", "2.5.0", "2.6.0", "high", "python")
WHEEL = Finding("GHSA-dddd-eeee-ffff", "wheel", "0.4", "", "medium", "python")


def test_the_recorded_answer_is_read() -> None:
    answer = read(RECORDED.read_bytes())
    assert answer.findings == {URLLIB, WHEEL}
    assert answer.scanner == "grype 0.121.3"
    assert answer.built_at == RECORDED_AT
    found = summed(answer.findings)
    assert found.findings == (URLLIB, WHEEL)  # the worst first
    assert (found.count("high"), found.count("medium"), found.total, found.unfixed) == (1, 1, 2, 1)
    assert found.counts["medium"] == (1, 0)


def changed(**match: Any) -> bytes:
    about = json.loads(RECORDED.read_bytes())
    about["matches"] = [{**about["matches"][0], **match}]
    return json.dumps(about).encode()


@pytest.mark.parametrize("severity", ["Unknown", "", "Terrible", None])
def test_what_is_graded_by_no_known_word_is_unknown(severity: str | None) -> None:
    (found,) = read(changed(vulnerability={"id": "CVE-1", "severity": severity})).findings
    assert (found.severity, found.fixed) == ("unknown", "")


def test_names_from_inside_an_image_are_cleaned_and_cut() -> None:
    package = {"name": "a\x1b[31m\n" + "b" * 999, "version": "1\x00" + "2" * 999, "type": "deb"}
    (found,) = read(changed(artifact=package)).findings
    assert found.package == "a[31m" + "b" * 195
    assert len(found.version) == 100


def test_a_database_without_a_date_has_none() -> None:
    about = json.loads(RECORDED.read_bytes())
    for database in (None, {}, {"status": {}}, {"status": {"built": "yesterday"}}, {"built": "2026-11-26T18:19:38"}):
        about["descriptor"]["db"] = database
        assert read(json.dumps(about).encode()).built_at is None
    about["descriptor"]["db"] = {"built": "2026-11-26T18:19:38Z"}
    assert read(json.dumps(about).encode()).built_at is not None


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"matches": 1}', b'{"matches": [], "descriptor": 1}', b"\xff"])
def test_anything_else_is_refused(body: bytes) -> None:
    with pytest.raises(Unreadable):
        read(body)


@given(st.recursive(st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from(["matches", "descriptor", "vulnerability", "artifact", "name", "version", "id", "fix"]), inner
)))  # fmt: skip
def test_no_document_breaks_it(document: Any) -> None:
    with suppress(Unreadable):
        read(json.dumps(document).encode())


def test_more_than_is_kept_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "MOST_FINDINGS", 1)
    found = summed([WHEEL, URLLIB, URLLIB])
    assert (found.findings, found.total, found.unlisted) == ((URLLIB,), 2, 1)
    assert unpacked(*json.loads(json.dumps(packed(found)))) == found
