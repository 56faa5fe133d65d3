"""A run's launcher, put into the kernel's spec and shown to people."""

import shlex
from collections.abc import Sequence
from dataclasses import replace

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.common.errors import Invalid
from apps.training import command
from apps.training.launchers.base import Argv, Team
from apps.training.launchers.names import LauncherName
from apps.training.launchers.registry import LAUNCHERS, inside_mount
from apps.workloads.ports.declaring import own_ports
from apps.workloads.spec import Port, RankStart, Spec

SHOWN = 3
"""Ranks whose commands are shown in full; all others differ in their numbers alone."""


def with_launcher(spec: Spec, name: LauncherName) -> Spec:
    """With what each member starts; a spec without a launcher stays as it is.

    Raises `Invalid` for too few members, and for a launcher that starts with all of them or not at all.
    """
    launcher = LAUNCHERS[name]
    if spec.is_elastic and not launcher.elastic:
        both = {"launcher": name.label, "elastic": LauncherName.TORCHRUN_ELASTIC.label}
        said = gettext_lazy("%(launcher)s starts with all members or not at all. Choose %(elastic)s, or none.") % both
        raise Invalid.field("least_members", said)
    if name is LauncherName.NONE:
        return spec
    if spec.members < launcher.least:
        words = {"launcher": name.label, "least": launcher.least}
        raise Invalid.field("launcher", gettext_lazy("%(launcher)s needs %(least)s members or more.") % words)
    mounts = (*spec.mounts, inside_mount()) if launcher.needs_inside else spec.mounts
    return replace(
        spec, mounts=mounts, ports=(*spec.ports, *launcher.ports), ranks=launcher.starts(Team.of(spec), spec.argv)
    )


def named_ports(spec: Spec, name: LauncherName) -> tuple[Port, ...]:
    """Of the ports of a spec those that a person named: what its launcher brings comes by itself again."""
    return tuple(port for port in own_ports(spec.ports) if port not in LAUNCHERS[name].ports)


def preview(name: LauncherName, team: Team, program: Argv) -> str:
    """The command of each rank as a shell would need it, for people only; of many ranks, the first few and the last."""
    if name is LauncherName.NONE or team.members < LAUNCHERS[name].least:
        return command.shell_preview(program)
    return ranks_preview(LAUNCHERS[name].starts(team, program))


def ranks_preview(starts: Sequence[RankStart]) -> str:
    ranks = range(len(starts)) if len(starts) <= SHOWN + 1 else (*range(SHOWN), len(starts) - 1)
    parts = [_one(rank, starts[rank]) for rank in ranks]
    if len(ranks) < len(starts):
        parts.insert(
            SHOWN, "# " + _("%(first)s to %(last)s: likewise") % {"first": f"m{SHOWN}", "last": f"m{len(starts) - 2}"}
        )
    return "\n\n".join(parts)


def _one(rank: int, start: RankStart) -> str:
    variables = [f"{key}={shlex.quote(value)}" for key, value in start.env.items()]
    return "\n".join([f"# m{rank}", *(f"{each} \\" for each in variables), command.shell_preview(start.argv)])
