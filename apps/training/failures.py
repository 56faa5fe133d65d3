"""How a run failed, in words: as the kernel says it, unless its launcher was not in the image."""

import re
from typing import Any

from django.utils.translation import gettext as _

from apps.training.launchers.base import Launcher
from apps.training.launchers.names import LauncherName
from apps.training.launchers.registry import LAUNCHERS
from apps.training.models import Run
from apps.workloads import faults
from apps.workloads.advice import Advice
from apps.workloads.choices import Reason
from apps.workloads.models import Attempt

NOT_FOUND = 127


def advice_of(run: Run) -> Advice:
    return _without_launcher(run) or faults.advise(run.workload)


def card(run: Run, attempt: Attempt | None) -> dict[str, Any] | None:
    """As `faults.card`; the launcher that the image lacks in place of an exit code."""
    shown = faults.card(run.workload, attempt)
    missing = _without_launcher(run)
    if shown is None or missing is None:
        return shown
    fixes = [{"label": fix} for fix in missing.fixes]
    return {**shown, "title": missing.title, "text": missing.text, "fixes": fixes}


def _without_launcher(run: Run) -> Advice | None:
    launcher = LAUNCHERS[LauncherName(run.launcher)]
    missing = _missing(launcher, run)
    if missing is None:
        return None
    words = {"launcher": launcher.name.label, "needed": missing[0], "package": missing[1]}
    return Advice(
        _("Failed: the image lacks %(launcher)s") % words,
        _("The run is started with %(launcher)s, and %(needed)s is not in the image.") % words,
        faults.verdict(run.workload),
        (_("Choose an image that has %(package)s, or another launcher.") % words,),
    )


def _missing(launcher: Launcher, run: Run) -> tuple[str, str] | None:
    """What the image lacks, and what brings it."""
    detail = str(run.workload.reason_data.get("detail") or "")
    if launcher.needs is not None and launcher.needs[1] in detail:
        return launcher.needs[0], launcher.needs[0]
    return (launcher.module or launcher.program, launcher.package) if _is_missing(launcher, run) else None


def _is_missing(launcher: Launcher, run: Run) -> bool:
    """By what Python, `gang.py` or the machine says of a module or a program that is not there."""
    told = run.workload.reason_data
    detail = str(told.get("detail") or "")
    module = bool(launcher.module and re.search(rf"No module named '?{re.escape(launcher.module)}\b", detail))
    if not launcher.program or module:
        return module
    if run.workload.reason == Reason.START_FAILED:
        return launcher.program in detail
    return told.get("code") == NOT_FOUND and f"{launcher.program}: " in detail
