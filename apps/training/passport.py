"""The passport of a run: what identifies it, where it ran, what came out, and what a rerun needs.

It opens for the whole organisation. What only who sees the run may see is left out for others: values of variables,
names of secrets and of files.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.translation import get_language, ngettext, pgettext
from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.common.formatting import file_size, gpu_memory, moment
from apps.common.money import yuan_rate
from apps.storage.choosing import DATASETS, VOLUMES
from apps.storage.digests import Digest, NoDigest, digest_of
from apps.storage.models import Folder
from apps.storage.services import file_names
from apps.training import command, selectors
from apps.training.continuing import continuation_of, continued_by
from apps.training.git.origin import origin_of
from apps.training.launchers.names import LauncherName
from apps.training.launchers.starting import ranks_preview
from apps.training.models import Continuation, Run
from apps.training.seeds import Seed, seeds_of
from apps.workloads import selectors as workloads
from apps.workloads.models import Attempt, Workload
from apps.workloads.options import others_of
from apps.workloads.spec import AnyImage, Image

Row = dict[str, Any]


@dataclass(frozen=True)
class Passport:
    """Of one run, as far as the actor may see it; `full`: who sees the run itself."""

    run: Run
    full: bool
    attempt: Attempt | None
    began: Continuation | None
    continued: tuple[Continuation, ...]

    @cached_property
    def seeds(self) -> list[Seed]:
        """Values of variables that people set are for who sees the run."""
        shown = {name for name, _value in self.run.arguments}
        return [
            each if self.full or each.by_platform or each.name in shown else Seed(each.name, "", False)
            for each in seeds_of(self.run)
        ]

    @property
    def facts(self) -> dict[str, str]:
        """Of its last machine, as they were when it began to run there."""
        return self.attempt.machine_facts if self.attempt is not None else {}

    @property
    def drivers(self) -> dict[str, str]:
        return {name: value for name, value in self.facts.items() if name.endswith("-driver") or name == "cuda"}

    @property
    def cards(self) -> list[str]:
        """Each card or slice that it was given: model, and how much of it."""
        pieces = self.attempt.placements.all() if self.attempt is not None else ()
        return [
            " ".join(filter(None, (each.accelerator.model, each.mig_profile or _share(each.device_memory_mib))))
            for each in pieces
            if each.accelerator is not None
        ]


def _share(memory_mib: int) -> str:
    return gpu_memory(memory_mib) if memory_mib else ""


def passport_of(actor: Actor, run: Run) -> Passport:
    """Of a run that `selectors.of_organisation` gave."""
    started = [each for each in workloads.attempts(run.workload) if each.started_at is not None]
    return Passport(
        run=run,
        full=selectors.runs(actor).filter(pk=run.pk).exists(),
        attempt=started[0] if started else None,
        began=continuation_of(run),
        continued=tuple(continued_by(run)[:20]),
    )


def summary_rows(run: Run, began: Continuation | None = None, continued: Iterable[Continuation] = ()) -> list[Row]:
    """Rows of `components/kv.html` for the card beside the run: what it is made of, and what went on from it."""
    workload = run.workload
    price = workload.price_version
    rows = [
        {"label": _("Image"), "value": run.image.name, "sub": _made_of(workload.frozen_spec.image)},
        {"label": _("Code"), "value": _files(run), "sub": str(run.code_id)[:8]},
        *_commit(run),
        {"label": _("Entry"), "value": run.script, "sub": run.get_entry_display()},
        {"label": _("Arguments"), "value": _arguments(run)},
        {"label": _("Starts from"), "value": _began(began), "sub": _began_when(began)},
        {"label": _("Continued by"), "value": ", ".join(f"v{row.run.version} ({row.name})" for row in continued)},
        {"label": _("Data"), "value": _data(run)},
        {"label": _("Package"), "value": workload.package.name(get_language() or "")},
        {
            "label": pgettext("of a run", "Members"),
            "value": str(workload.member_count) if workload.member_count > 1 else "",
            "sub": _fewer(workload),
        },
        {
            "label": _("Launcher"),
            "value": run.get_launcher_display() if run.launcher != LauncherName.NONE else "",
        },
        {"label": _("Would do as well"), "value": ", ".join(others_of(workload, get_language() or ""))},
        {"label": _("Price"), "value": yuan_rate(run.paid_rate), "sub": f"v{price.number}", "icon": "lock"},
    ]
    return [row for row in rows if row["value"]]


def command_text(run: Run) -> str:
    """The frozen command as a shell would need it; of each rank, where a launcher starts them."""
    spec = run.workload.frozen_spec
    return ranks_preview(spec.ranks) if spec.ranks else command.shell_preview(spec.argv)


def definition_rows(found: Passport) -> list[Row]:
    """What a rerun needs, on the passport's own page."""
    run, spec = found.run, found.run.workload.frozen_spec
    names = ", ".join(f"{name}={value}" if found.full else name for name, value in run.environment)
    rows = [
        *summary_rows(run, found.began),
        {"label": _("Command"), "value": command_text(run)},
        {"label": _("Variables"), "value": names},
        {
            "label": pgettext("secret", "Secrets"),
            "value": ", ".join(each.name for each in spec.secrets) if found.full else str(len(spec.secrets) or ""),
        },
    ]
    return [row for row in rows if row["value"]]


def place_rows(found: Passport) -> list[Row]:
    """Where it ran; empty before it did."""
    attempt, facts = found.attempt, found.facts
    if attempt is None:
        return []
    drivers = ", ".join(f"{name} {value}" for name, value in sorted(found.drivers.items()))
    rows = [
        {"label": _("Machine"), "value": attempt.node.name, "sub": attempt.node.arch},
        {"label": _("Processor"), "value": facts.get("cpu", "")},
        {"label": _("System"), "value": facts.get("os", "")},
        {"label": _("Cards"), "value": ", ".join(found.cards) or _("none")},
        {"label": _("Driver"), "value": drivers or (_("not known") if found.cards else "")},
        {"label": _("Attempt"), "value": str(attempt.number)},
    ]
    return [row for row in rows if row["value"]]


def seed_rows(found: Passport) -> list[Row]:
    """Seeds that the platform set or sees, by name."""
    return [
        {
            "label": each.name,
            "value": each.value or _("set, not shown"),
            "sub": _("set by the platform") if each.by_platform else _("set by its owner"),
        }
        for each in found.seeds
    ]


def digest_rows(found: Passport) -> list[Row]:
    """What identifies its files, one way for all: SHA-256 over the list of each file's."""
    folders: list[tuple[str, Folder]] = [(_("Code"), found.run.code)]
    if found.began is not None:
        folders.append((pgettext("of a run", "Checkpoint"), found.began.folder))
    folders.append((_("Output"), found.run.output))
    return [_digest_row(label, digest_of(folder), found.run) for label, folder in folders]


def _digest_row(label: str, digest: Digest | None, run: Run) -> Row:
    if digest is None:
        return {"label": label, "value": _("once it has ended") if run.workload.is_live else _("being computed")}
    if digest.problem is not None:
        return {"label": label, "value": _("none"), "sub": no_digest_words(digest.problem)}
    count = ngettext("%(count)s file", "%(count)s files", digest.files) % {"count": digest.files}
    return {"label": label, "value": digest.sha256, "sub": f"{count}, {file_size(digest.size)}"}


def no_digest_words(problem: NoDigest) -> str:
    return {
        NoDigest.TOO_LARGE: _("More than 20,000 files or 100 GB are not read."),
        NoDigest.TOO_LONG: _("Reading them took longer than half an hour."),
        NoDigest.MISSING: _("The files are not there any more."),
        NoDigest.UNREADABLE: _("The files could not be read."),
    }[problem]


def _fewer(workload: Workload) -> str:
    spec = workload.frozen_spec
    words = {"count": spec.least_members}
    return _("or at least %(count)s, where there is no room for all") % words if spec.is_elastic else ""


def _began(row: Continuation | None) -> str:
    words = row and {"name": row.name, "version": row.source.version, "run": row.source.name}
    return _("%(name)s of %(run)s v%(version)s") % words if words else ""


def _began_when(row: Continuation | None) -> str:
    if row is None:
        return ""
    step = "" if row.step is None else _("step %(step)s") % {"step": row.step}
    return " · ".join(filter(None, (step, moment(row.saved_at, seconds=True), file_size(row.size_bytes))))


def _made_of(image: AnyImage) -> str:
    return " · ".join(image.requirements) if isinstance(image, Image) else image.digest


def _commit(run: Run) -> list[Row]:
    """Of code that is a commit of a repository. Whose token fetched it is nobody's business."""
    origin = origin_of(run.code)
    if origin is None:
        return []
    place = f"{origin.address} · {origin.path}" if origin.path else origin.address
    asked = f"{origin.ref} · {place}" if origin.ref and origin.follows else place
    return [{"label": _("Commit"), "value": origin.commit, "sub": asked}]


def _files(run: Run) -> str:
    count = len(file_names(run.code))
    return ngettext("%(count)s file", "%(count)s files", count) % {"count": count}


def _arguments(run: Run) -> str:
    """The first few arguments as typed; the settings tab shows all."""
    shown = [f"{name} {value}".strip() for name, value in run.arguments[:4]]
    return " ".join([*shown, "…"] if len(run.arguments) > len(shown) else shown)


def _data(run: Run) -> str:
    """The mounted volumes and datasets; dataset versions are frozen, volumes are not."""
    mounts = run.workload.frozen_spec.mounts
    return ", ".join(mount.target for mount in mounts if mount.target.startswith((VOLUMES, DATASETS)))
