"""Every sentence that the local driver composes is known to the translator."""

import pytest
from django.utils.translation import override

from apps.workloads.drivers.local.disk_watch import NO_FILES, NO_SPACE
from apps.workloads.drivers.local.isolation import Machine
from apps.workloads.words import _SENTENCES, translated


def test_this_machines_isolation_is_said_without_a_word_left_over() -> None:
    said = Machine().isolation().reason
    for pattern, _words in _SENTENCES:
        said = pattern.sub("", said)
    assert said.strip(" .") == ""


@pytest.mark.parametrize(
    "text",
    [
        "Waiting for another installation of sklearn",
        "Creating the Python environment of sklearn",
        "Downloading numpy-2.3.5.whl (16.2 MB)",
        "Installing 12 packages",
        "Collecting numpy==2.3.5",
        "Downloading and building: sqlite3@5.1.7",
        "To build code-server, this machine lacks: libkrb5-dev",
        "Its files in /tmp take more than 999 MiB",
        "It wrote a file larger than 777 MiB",
        "It holds more than 2000 files and folders",
        "Its folders are nested more than 200 deep",
        "Too many terminals and commands are open in it: at most 64 at a time",
    ],
)
def test_names_and_numbers_stay(text: str) -> None:
    with override("zh-hans"):
        words = translated(text)
    assert all(part in words for part in text.split() if any(letter.isdigit() for letter in part) and "(" not in part)


def test_unknown_words_are_shown_as_they_came() -> None:
    assert translated("Something else entirely") == "Something else entirely"


@pytest.mark.parametrize("text", [NO_SPACE, NO_FILES])
def test_a_full_disk_is_said_in_known_words(text: str) -> None:
    assert any(pattern.fullmatch(text) for pattern, _words in _SENTENCES)
