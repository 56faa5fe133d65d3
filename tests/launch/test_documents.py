"""Documents name what is there: files, folders, models, make targets, and the words of the interface."""

import re
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from plstack.launch import messages
from plstack.launch.layout import ROOT

DOCUMENTS = [
    *("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/glossary.md"),
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs/decisions").glob("*.md"))),
]
PATH = re.compile(r"`((?:apps|plstack|scheduler|tests|benchmarks|deploy|docs)/[\w./-]+)`")
LINK = re.compile(r"\]\(([\w./-]+\.md)\)")
MODEL = re.compile(r"`([A-Z]\w+)` in `([\w./-]+)`")
TARGET = re.compile(r"(?:`|^)make ([a-z]+)", re.MULTILINE)
WRITTEN_LATER = {"docs/architecture.md"}


def defines(path: Path, name: str) -> bool:
    return re.search(rf"^class {name}[(:]", path.read_text(), re.MULTILINE) is not None


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_a_document_names_is_there(name: str) -> None:
    text = (ROOT / name).read_text()
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert [path for path in PATH.findall(text) if not (ROOT / path).exists() and path not in WRITTEN_LATER] == []
    assert [path for path in LINK.findall(text) if not (ROOT / name).parent.joinpath(path).exists()] == []
    assert [model for model, path in MODEL.findall(text) if not defines(ROOT / path, model)] == []
    assert set(TARGET.findall(text)) <= targets


def test_every_decision_is_in_the_list_with_the_same_headings() -> None:
    folder = ROOT / "docs/decisions"
    records = sorted(path.name for path in folder.glob("0*.md"))
    assert LINK.findall((folder / "README.md").read_text()) == records
    for number, name in enumerate(records, 1):
        lines = (folder / name).read_text().splitlines()
        assert lines[0].startswith(f"# {number:04} ")
        assert [line for line in lines if line.startswith("## ")] == ["## Context", "## Decision", "## Consequences"]


def test_the_glossary_says_it_in_the_interfaces_chinese() -> None:
    path: Path = messages.catalogue_path("zh_Hans", ROOT)
    with path.open("rb") as file:
        spoken = " ".join(str(message.string) for message in read_po(file, locale="zh_Hans"))
    words = re.findall(r"[\u4e00-\u9fff]+", (ROOT / "docs/glossary.md").read_text().replace("中文", ""))
    assert [word for word in words if word not in spoken] == []
