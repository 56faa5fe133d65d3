"""An end in words: what happened, whose matter it is, what to do. Derived when read, in the reader's language."""

from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _

from apps.common.formatting import duration, memory
from apps.common.money import yuan
from apps.workloads.advice import (
    OF_CONTAINER_IMAGES,
    Advice,
    container_image,
    gpu_idle,
    image_blocked,
    mount_failed,
    mount_lost,
    secret_lost,
    time_over,
    unauthorised,
)
from apps.workloads.card_fault_advice import with_card_fault
from apps.workloads.choices import NOT_STARTED, Fault, Reason, Status
from apps.workloads.drivers.said import Code, Said
from apps.workloads.member_words import which_member
from apps.workloads.models import Attempt, Workload
from apps.workloads.tracebacks import exception_line
from apps.workloads.words import recorded, sentence

TAIL_LINES = 12
# Stopped by the rules of money, not by a person.
FOR_MONEY = frozenset({Reason.ARREARS, Reason.CAP, Reason.PREPAID})
# Stopped by what its owner said about time.
BY_TIME = frozenset({Reason.LONGEST, Reason.GPU_IDLE})
# Ends whose detail is output, to be shown as such; that of the others is a sentence.
WITH_OUTPUT = frozenset({Reason.EXIT_CODE, Reason.SIGNAL, Reason.IMAGE_FAILED})


def card(workload: Workload, attempt: Attempt | None) -> dict[str, Any] | None:
    """What `components/failure.html` shows; None unless it failed, or was stopped by a rule or for a lost right."""
    if workload.status != Status.FAILED and workload.reason not in FOR_MONEY | BY_TIME | NOT_STARTED:
        return None
    advice = with_card_fault(advise(workload), workload, attempt)
    return {
        "id": str(workload.pk),
        "title": advice.title,
        "text": advice.text,
        "verdict": advice.verdict,
        "fixes": [{"label": fix} for fix in advice.fixes],
        "facts": _facts(workload, attempt),
        "excerpt": _tail(workload, attempt),
        "credited": _credited_short(attempt),
        "given_back": credited_words(attempt),
    }


def credited_words(attempt: Attempt | None) -> str:
    """What was given back for the attempt, with what for; empty where nothing was lost, or it is not known yet."""
    if attempt is None or not attempt.lost_s:
        return ""
    words = {"amount": yuan(attempt.credited_fen), "time": duration(attempt.lost_s)}
    if not attempt.credited_fen:  # below one fen, or nothing was charged at all
        return _("The %(time)s that were lost are not charged.") % words
    if attempt.checkpoint_at is None:
        return _("%(amount)s were credited: the %(time)s since its start are not charged.") % words
    return _("%(amount)s were credited: the %(time)s since its last checkpoint are not charged.") % words


def _credited_short(attempt: Attempt | None) -> str:
    if attempt is None or not attempt.credited_fen:
        return ""
    return _("%(amount)s credited") % {"amount": yuan(attempt.credited_fen)}


def advise(workload: Workload) -> Advice:
    """Words for the workload's reason; a reason without words of its own is still told apart by its fault."""
    known = _ADVICE.get(Reason(workload.reason)) if workload.reason in Reason.values else None
    if known is not None:
        return replace(found := known(workload), text=f"{found.text} {which_member(workload)}".strip())
    return Advice(_("It failed"), str(Reason(workload.reason).label), verdict(workload))


def verdict(workload: Workload) -> str:
    return {
        Fault.USER: _("The cause is in the program."),
        Fault.PLATFORM: _("This is the platform's fault, not your program's."),
        Fault.NODE: _("This is the machine's fault, not your program's."),
        Fault.NOBODY: "",
    }[Fault(workload.fault)]


def _exit_code(workload: Workload) -> Advice:
    code = workload.reason_data.get("code")
    fixes: tuple[str, ...] = (_("Read the last lines of the log: the error stands there."),)
    if code == 127:
        fixes = (_("A command was not found. Check its name, or choose an image that has it."),)
    elif code == 126:
        fixes = (_("The file is not executable. Choose the right kind of entry."),)
    elif exception := exception_line(str(workload.reason_data.get("detail") or "")):
        return Advice(
            _("Failed: %(exception)s") % {"exception": exception},
            _("The program did not catch this exception and ended with exit code %(code)s.") % {"code": code},
            verdict(workload),
            (_("The lines above it in the log name the file and the line."),),
        )
    return Advice(
        _("Failed: the program ended with exit code %(code)s") % {"code": code},
        _("It started as it should and reported an error by itself."),
        verdict(workload),
        fixes,
    )


def _signal(workload: Workload) -> Advice:
    number = workload.reason_data.get("signal")
    return Advice(
        _("Failed: ended by signal %(number)s") % {"number": number},
        _("The program was ended from inside, as a crash in native code does."),
        verdict(workload),
        (_("Signal 11 is a memory error of a library: try other versions of it."),) if number == 11 else (),
    )


def _out_of_memory(workload: Workload) -> Advice:
    limit = memory(workload.reason_data.get("limit_mib") or workload.frozen_spec.memory_mib)
    return Advice(
        _("Failed: out of memory"),
        _("The program needed more than the package's %(limit)s.") % {"limit": limit},
        verdict(workload),
        (_("Choose a package with more memory."), _("Load less at a time: smaller batches, fewer workers.")),
    )


def _disk_limit(workload: Workload) -> Advice:
    return Advice(
        _("Failed: it held too much on disk"),
        recorded(workload.reason_data),
        verdict(workload),
        (
            _("Delete intermediate files as it goes, and keep only the newest checkpoints."),
            _("Put large data on a volume: its size is its own."),
        ),
    )


def _file_limit(workload: Workload) -> Advice:
    return Advice(
        _("Failed: it held too many files on disk"),
        recorded(workload.reason_data),
        verdict(workload),
        (_("Pack many small files into few large ones, as archives or Parquet and HDF5 files do."),),
    )


def _disk_full(workload: Workload) -> Advice:
    return Advice(
        _("Failed: the machine's disk was full"),
        recorded(workload.reason_data),
        _("It was ended so that other work on the machine could go on. Its output so far is kept, its /tmp is not."),
        (
            _("Write less at a time: keep only the newest checkpoints, delete intermediate files."),
            _("Ask the platform's administrators for more room if you need what it wrote."),
        ),
    )


def _image_failed(workload: Workload) -> Advice:
    said = Said.from_json(workload.reason_data.get("said") or "")
    if said.code in OF_CONTAINER_IMAGES:
        return container_image(said)
    lacking = said.code is Code.BUILD_TOOLS_MISSING
    return Advice(
        _("Failed: the runtime could not be prepared"),
        sentence(said) if lacking else _("Installing the image's libraries failed."),
        _("This is the platform's fault, not your program's. Nothing was charged."),
        (_("Run it again; if it fails again, tell the platform's administrators."),),
    )


def _start_failed(workload: Workload) -> Advice:
    return Advice(
        _("Failed: the program could not be started"),
        recorded(workload.reason_data),
        verdict(workload),
        (_("Check the entry file and its kind."),),
    )


def _lost(workload: Workload) -> Advice:
    return Advice(
        _("Failed: the machine lost the run"),
        recorded({"said": workload.reason_data.get("said")})
        or _("It ended without a trace, as after a power cut. It is charged up to the last sign of life only."),
        verdict(workload),
        (_("Run it again; nothing in the program needs to change."),),
    )


def _refused(workload: Workload) -> Advice:
    return Advice(_("Failed: the machine refused the run"), recorded(workload.reason_data), verdict(workload))


def _arrears(workload: Workload) -> Advice:
    return Advice(
        _("Stopped: the balance is used up"),
        _("The organisation's grace period ended. Everything the run had written is kept."),
        "",
        (_("Top up the wallet, then run it again."),),
    )


def _cap(workload: Workload) -> Advice:
    return Advice(
        _("Stopped: its spending cap was reached"),
        _("It was asked to save before the cap was used up. Everything that it had written is kept."),
        "",
        (_("Run it again with a higher cap, or without one."),),
    )


def _prepaid(workload: Workload) -> Advice:
    return Advice(
        _("Stopped: its prepaid time ended"),
        _("The order that covered it asks for that. Everything that it had written is kept."),
        "",
        (_("Run it again by the hour, or prepay the package anew."),),
    )


def why_stopped(reason: Reason, who: str) -> str:
    """A sentence for a workload that was stopped: by whom, or by which rule."""
    return {
        Reason.ARREARS: _("The balance is used up, so it was stopped."),
        Reason.CAP: _("Its spending cap was reached, so it was saved and stopped."),
        Reason.PREPAID: _("Its prepaid time ended, so it was saved and stopped, as the order says."),
        Reason.LONGEST: _("It reached its longest run time, so it was saved and stopped."),
        Reason.GPU_IDLE: _("Its GPU was not used, so it was saved and stopped."),
        Reason.TIMED: _("It was saved and stopped at the time that was set."),
        Reason.IDLE: _("It was idle, so it was saved and released. Nothing is charged while it is."),
        Reason.EXPIRED: _("Its time had run out, so it was stopped. Renew it to start it again."),
        Reason.RECYCLED: _("It was stopped to be moved into the recycle bin."),
        Reason.DRAINED: _("The machine that it ran on was being emptied, so it was stopped."),
        Reason.CHANGED: _("It was stopped to start again with its new settings."),
        Reason.SCALED: _("It was stopped because fewer replicas are wanted."),
        Reason.PRUNED: _("It was stopped early, because other trials of its experiment do better."),
        Reason.UNAUTHORISED: _("It was not started: its owner may not run it any more."),
        Reason.MOUNT_LOST: _("It was not started: its owner may not use its files any more."),
        Reason.SECRET_LOST: _("It was not started: a secret that it needs is missing."),
        Reason.IMAGE_BLOCKED: _("It was not started: the policy about vulnerabilities does not allow its image."),
    }.get(reason) or _("Stopped, as %(who)s asked") % {"who": who}


_ADVICE = {
    Reason.EXIT_CODE: _exit_code,
    Reason.SIGNAL: _signal,
    Reason.OUT_OF_MEMORY: _out_of_memory,
    Reason.DISK_LIMIT: _disk_limit,
    Reason.FILE_LIMIT: _file_limit,
    Reason.DISK_FULL: _disk_full,
    Reason.IMAGE_FAILED: _image_failed,
    Reason.MOUNT_FAILED: mount_failed,
    Reason.START_FAILED: _start_failed,
    Reason.LOST: _lost,
    Reason.REFUSED: _refused,
    Reason.ARREARS: _arrears,
    Reason.CAP: _cap,
    Reason.PREPAID: _prepaid,
    Reason.LONGEST: time_over,
    Reason.GPU_IDLE: gpu_idle,
    Reason.UNAUTHORISED: unauthorised,
    Reason.MOUNT_LOST: mount_lost,
    Reason.SECRET_LOST: secret_lost,
    Reason.IMAGE_BLOCKED: image_blocked,
}


def _facts(workload: Workload, attempt: Attempt | None) -> list[dict[str, str]]:
    if attempt is None or attempt.peak_memory_mib is None:
        return []
    limit = memory(workload.frozen_spec.memory_mib)
    return [
        {
            "label": _("Peak memory"),
            "value": memory(attempt.peak_memory_mib),
            "sub": _("of %(limit)s") % {"limit": limit},
        }
    ]


def _tail(workload: Workload, attempt: Attempt | None) -> str:
    """The last lines that the program or the installer wrote, as the driver reported them with its end."""
    alone = attempt.exit_detail if attempt is not None and workload.reason in WITH_OUTPUT else ""
    lines = str(workload.reason_data.get("output") or alone).splitlines()
    return "\n".join(lines[-TAIL_LINES:])
