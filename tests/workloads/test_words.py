"""What drivers say, in the reader's language; and what was said before there were codes, or by another version."""

import string
from typing import Any

import pytest
from django.utils.translation import override

from apps.workloads.choices import Fault, Reason, Status
from apps.workloads.drivers import said as vocabulary
from apps.workloads.drivers.base import Exit, ExitReason, LaunchRefused, Observation, Phase, Progress
from apps.workloads.drivers.english import ENGLISH
from apps.workloads.drivers.local import init
from apps.workloads.drivers.local.isolation import Machine
from apps.workloads.drivers.local.records import decode_observation, encode_observation
from apps.workloads.drivers.remote import codec
from apps.workloads.drivers.said import Code, Said
from apps.workloads.faults import advise
from apps.workloads.models import Workload
from apps.workloads.reconcile.outcome import why_of
from apps.workloads.words import isolation_words, recorded, sentence


def example(code: Code) -> Said:
    """The code with parameters of the types that its English asks for."""
    fields = string.Formatter().parse(ENGLISH[code])
    params: dict[str, Any] = {name: 4096 if kind == "d" else "numpy" for _, name, kind, _ in fields if name}
    return Said(code, params)


@pytest.mark.parametrize("code", Code)
def test_every_code_has_english_and_words_with_the_same_parameters(code: Code) -> None:
    said = example(code)
    assert str(said)
    with override("zh-hans"):
        assert sentence(said)
    assert Said.from_json(said.as_json()) == said


@pytest.mark.parametrize(
    "said",
    [
        Said(Code.WAITING_FOR_INSTALLATION, {"name": "sklearn2"}),
        Said(Code.CREATING_ENVIRONMENT, {"name": "sklearn2"}),
        Said(Code.DOWNLOADING, {"name": "numpy-2.3.5.whl", "size": "16.2"}),
        Said(Code.INSTALLING, {"count": 12}),
        Said(Code.COLLECTING, {"name": "numpy==2.3.5"}),
        Said(Code.BUILDING_PACKAGE, {"name": "sqlite3@5.1.7"}),
        Said(Code.BUILD_TOOLS_MISSING, {"name": "code-server2", "packages": "libkrb5-dev"}),
        Said(Code.DISK_EXCEEDED, {"place": "/tmp", "limit_mib": 999}),
        Said(Code.FILE_TOO_LARGE, {"limit_mib": 777}),
        Said(Code.TOO_MANY_FILES, {"count": 2000}),
        Said(Code.FOLDERS_TOO_DEEP, {"count": 200}),
        Said(Code.TOO_MANY_OPEN, {"count": 64}),
    ],
)
def test_names_and_numbers_stay(said: Said) -> None:
    with override("zh-hans"):
        words = sentence(said)
        assert words != str(said)
    assert all(str(value) in words for value in said.params.values())


def test_this_machines_isolation_is_said_without_an_english_word_left_over() -> None:
    found = Machine().isolation()
    with override("zh-hans"):
        words = isolation_words(vocabulary.dump(found.said))
    assert words
    assert not any(str(said) in words for said in found.said)


def test_text_of_before_there_were_codes_is_shown_as_it_came() -> None:
    with override("zh-hans"):
        assert recorded({"text": "Installing 12 packages", "fraction": None}) == "Installing 12 packages"
        assert recorded({"code": 1, "signal": None, "detail": "No such file"}) == "No such file"
        assert isolation_words("bubblewrap, a user namespace.") == "bubblewrap, a user namespace."
        assert recorded({}) == isolation_words("") == ""


@pytest.mark.parametrize(
    "data",
    [
        {"code": "invented_later", "params": {"count": 3}, "text": "Three of them"},
        {"code": "installing", "params": {"number": 3}, "text": "Three of them"},
        {"code": "installing", "params": {"count": "3"}, "text": "Three of them"},
        {"code": "installing", "params": None, "text": "Three of them"},
        {"code": ["installing"], "params": {}, "text": "Three of them"},
        "Three of them",
    ],
)
def test_what_another_version_says_is_shown_as_it_came(data: object) -> None:
    said = Said.from_json(data)
    assert (said.code, str(said)) == (Code.TEXT, "Three of them")


def test_an_observation_keeps_its_codes_on_the_way() -> None:
    progress = Progress(Said(Code.INSTALLING, {"count": 3}), 0.5)
    ended = Exit(None, 9, ExitReason.DISK_LIMIT, Said(Code.DISK_EXCEEDED, {"place": "/tmp", "limit_mib": 4}))
    for seen in (Observation(Phase.IMAGE, progress=progress), Observation(Phase.EXITED, exit=ended)):
        assert decode_observation(encode_observation(seen)) == seen
        assert codec.observation_in(codec.observation_out(seen)) == seen


def test_a_record_of_before_there_were_codes_is_read() -> None:
    told = codec.observation_out(Observation(Phase.IMAGE, progress=Progress(Said(Code.INSTALLING, {"count": 3}))))
    assert told.pop("said")
    seen = codec.observation_in(told)
    assert seen.progress == Progress(Said.plain("Installing 3 packages"))
    ended = codec.observation_out(Observation(Phase.EXITED, exit=Exit(1, None, ExitReason.EXITED, output="ValueError")))
    del ended["said"]
    assert codec.observation_in(ended).exit == Exit(1, None, ExitReason.EXITED, output="ValueError")


def test_a_platform_of_before_there_were_codes_finds_the_fields_that_it_reads() -> None:
    told = codec.observation_out(Observation(Phase.IMAGE, progress=Progress(Said(Code.INSTALLING, {"count": 3}))))
    assert told["progress"] == {"text": "Installing 3 packages", "fraction": None, "left_s": None}
    refusal = codec.error_out(LaunchRefused("no_limiter", Said(Code.NO_LIMITER)))
    assert refusal["text"] == "Nothing on this machine holds a vGPU slice to its memory"
    back = codec.error_in({name: value for name, value in refusal.items() if name != "said"})
    assert isinstance(back, LaunchRefused)
    assert (back.code, back.text) == ("no_limiter", refusal["text"])


def test_isolation_that_is_too_long_for_its_column_is_kept_as_text() -> None:
    column = vocabulary.dump([Said(Code.BUBBLEWRAP_FAILS, {"error": "x" * 1000})])
    assert len(column) == vocabulary.COLUMN_LIMIT
    assert isolation_words(column) == column


def test_the_first_process_knows_the_code_that_it_says() -> None:
    """It runs where nothing of the platform's is, so it names the code by itself."""
    said = Said.from_json({"code": init.TOO_MANY_OPEN, "params": {"count": init.MAX_TERMINALS}})
    assert said == Said(Code.TOO_MANY_OPEN, {"count": init.MAX_TERMINALS})


def test_a_machine_that_cannot_build_is_told_from_an_installation_that_failed() -> None:
    lacking = Said(Code.BUILD_TOOLS_MISSING, {"name": "code-server", "packages": "g++ make"})
    ends = [Exit(None, None, ExitReason.IMAGE_FAILED, lacking), Exit(None, None, ExitReason.IMAGE_FAILED, output="E1")]
    rows = [why_of(end, Workload(status=Status.STARTING)) for end in ends]
    advices = [
        advise(Workload(status=Status.FAILED, reason=Reason.IMAGE_FAILED, reason_data=row.data, fault=Fault.PLATFORM))
        for row in rows
    ]
    assert "g++ make" in advices[0].text
    assert advices[1].text == "Installing the image's libraries failed."
