"""What a Containerfile comes to: its base, the steps for `inside/build.py`, and what the image says of itself."""

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext_lazy as _

from apps.builds.addresses import check_address
from apps.builds.containerfile import Instruction, expand, pairs, read, words_of_arg
from apps.builds.stages import choose
from apps.workloads.drivers.images import Making

ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".txz")
SHELL = ("/bin/sh", "-c")
REFUSED_FLAGS = {"mount", "network", "security", "parents", "exclude", "checksum", "keep-git-dir"}
LONGEST_TEXT = 300


@dataclass(frozen=True, slots=True)
class Step:
    """`do`: `run`, `copy`, `fetch`, `folder` or `take`, as `inside/build.py` has them. `files`: each with its target.

    Paths that are not absolute are below the base's own working directory. Of `take`, `paths` are those of the earlier
    part `part`, which leaves them as its export of the number `export`.
    """

    line: int
    text: str
    do: str
    argv: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    workdir: str = ""
    files: tuple[tuple[str, str], ...] = ()
    url: str = ""
    target: str = ""
    mode: int | None = None
    part: int | None = None
    export: int = 0
    paths: tuple[str, ...] = ()

    def digests_among(self, known: Mapping[str, str]) -> dict[str, str]:
        return {source: known[source] for source, _target in self.files if source in known}


@dataclass(slots=True)
class Plan:
    """`base`: as FROM names it, in line `base_line`. `files`: names of those that were uploaded.

    `given`: what ARG lines before the first FROM say. `name`: of the stage. `before`: plans of what it takes files of,
    which are carried out first, and `sources` which of them a COPY takes by its line. `exports`: what is taken of this
    one, each with the line of who takes it.
    """

    files: Sequence[str]
    base: str
    base_line: int
    given: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    before: Sequence["Plan"] = ()
    sources: Mapping[int, int] = field(default_factory=dict)
    exports: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)
    _args: dict[str, str] = field(default_factory=dict)
    _shell: tuple[str, ...] = SHELL
    _workdir: str = ""

    @property
    def making(self) -> Making:
        return Making(self.config, self.env, tuple(self.commands))

    @property
    def parts(self) -> list["Plan"]:
        """All that is carried out, in order, this one last."""
        return [*self.before, self]

    @property
    def all_steps(self) -> list[Step]:
        """Of all parts: a step's number is its place among them, from 1 on."""
        return [step for part in self.parts for step in part.steps]

    def as_json(self, digests: Mapping[str, str] | None = None) -> dict[str, Any]:
        """`digests`: of the files, where it matters that those are copied that were there when they were read."""
        return {"parts": [part._as_part(digests or {}) for part in self.parts]}

    def _as_part(self, digests: Mapping[str, str]) -> dict[str, Any]:
        steps = [{**asdict(step), "digests": step.digests_among(digests)} for step in self.steps]
        exports = [{"line": line, "paths": paths} for line, paths in self.exports]
        return {"name": self.name, "base": self.base, "steps": steps, "exports": exports}

    def add(self, each: Instruction) -> None:
        """Raises `Invalid` beside `containerfile`, with the line."""
        _DO[each.name](self, each)
        if each.name not in ("ARG", "MAINTAINER"):
            self.commands.append(each.text[:LONGEST_TEXT])

    def _known(self) -> dict[str, str]:
        return {**self._args, **self.env}

    def _step(self, each: Instruction, do: str, **about: Any) -> None:
        text = " ".join(each.text.split())[:LONGEST_TEXT]
        self.steps.append(Step(each.line, text, do, env=self._known(), **{"workdir": self._workdir, **about}))

    def _arg(self, each: Instruction) -> None:
        for name, value in words_of_arg(each):
            self._args[name] = self.given.get(name, "") if value is None else expand(value, self._known())

    def _env(self, each: Instruction) -> None:
        found = {name: expand(value, self._known()) for name, value in pairs(each).items()}
        if not all(re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) for name in found):
            raise each.refused(_("a variable's name has letters, digits and _ alone."))
        self.env |= found

    def _run(self, each: Instruction) -> None:
        flags, rest = each.flags()
        if flags:
            raise each.refused(_("options of RUN (--%(name)s) are not read here.") % {"name": next(iter(flags))})
        self._step(each, "run", argv=tuple(each.exec_form(rest) or (*self._shell, rest)))

    def _copy(self, each: Instruction) -> None:
        flags, sources, target = self._operands(each)
        if "from" in flags:
            return self._take(each, flags, sources, target)
        chosen = [pair for source in sources for pair in self._matching(each, source, target, len(sources) > 1)]
        self._step(each, "copy", files=tuple(chosen), mode=_mode(each, flags))

    def _take(self, each: Instruction, flags: dict[str, str], sources: list[str], target: str) -> None:
        """Files of another stage, which that one leaves when it is done."""
        for source in sources:
            if posixpath.normpath(source.lstrip("/")).split("/")[0] == "..":
                raise each.refused(_("%(name)s leads out of the stage.") % {"name": source[:100]})
        paths = tuple(posixpath.normpath(f"/{source.lstrip('/')}") for source in sources)
        number = self.sources[each.line]
        exports = self.before[number].exports
        exports.append((each.line, paths))
        about = {"part": number, "export": len(exports) - 1, "paths": paths}
        self._step(each, "take", target=target, mode=_mode(each, flags), **about)

    def _add(self, each: Instruction) -> None:
        flags, sources, target = self._operands(each)
        urls = [source for source in sources if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://|git@", source)]
        for url in urls:
            check_address(each, url)
            name = posixpath.basename(urlsplit(url).path)
            place = posixpath.join(target, name) if target.endswith("/") else target
            if place.endswith("/"):
                raise each.refused(_("the address names no file: say what it is to be called."))
            self._step(each, "fetch", url=url, target=place, mode=_mode(each, flags))
        local = [source for source in sources if source not in urls]
        if any(source.lower().endswith(ARCHIVES) for source in local):
            raise each.refused(_("ADD would unpack the archive, which is not done here: COPY it and RUN tar."))
        chosen = [pair for source in local for pair in self._matching(each, source, target, len(sources) > 1)]
        if chosen:
            self._step(each, "copy", files=tuple(chosen), mode=_mode(each, flags))

    def _place(self, path: str) -> str:
        return posixpath.normpath(posixpath.join(self._workdir, path))

    def _operands(self, each: Instruction) -> tuple[dict[str, str], list[str], str]:
        """Flags, sources, and the target as an absolute path, with a slash at its end for a folder."""
        flags, rest = each.flags()
        if refused := REFUSED_FLAGS & flags.keys():
            raise each.refused(_("the option --%(name)s is not read here.") % {"name": min(refused)})
        if "from" in flags and each.name != "COPY":
            raise each.refused(_("--from is for COPY alone."))
        words = [expand(word, self._known()) for word in each.exec_form(rest) or each.words(rest)]
        if len(words) < 2:
            raise each.refused(_("name what is copied, and where to."))
        target = self._place(words[-1])
        is_folder = words[-1].endswith(("/", "/.")) or words[-1] in (".", "..") or len(words) > 2
        return flags, words[:-1], f"{target.rstrip('/')}/" if is_folder else target

    def _matching(self, each: Instruction, source: str, target: str, several: bool) -> list[tuple[str, str]]:
        """The uploaded files that a source names: one file, all of a folder, or those that fit a pattern."""
        plain = posixpath.normpath(source.lstrip("/"))
        if plain.startswith(".."):
            raise each.refused(_("%(name)s leads out of the uploaded files.") % {"name": source[:100]})
        folder = "" if plain == "." else f"{plain}/"
        below = [name for name in self.files if name.startswith(folder)]
        if plain not in self.files and below:
            return [(name, posixpath.join(target, name[len(folder) :])) for name in below]
        depth = plain.count("/")
        found = [name for name in self.files if name.count("/") == depth and fnmatchcase(name, plain)]
        if not found:
            raise each.refused(_("%(name)s is not among the uploaded files.") % {"name": source[:100]})
        into = target.endswith("/") or several or len(found) > 1
        return [(name, posixpath.join(target, posixpath.basename(name)) if into else target) for name in found]

    def _enter(self, each: Instruction) -> None:
        self._workdir = self._place(expand(each.value.strip("\"'"), self._known()))
        if not self._workdir.startswith("/"):
            raise each.refused(_("write the first WORKDIR as an absolute path."))
        self.config["WorkingDir"] = self._workdir
        self._step(each, "folder")

    def _label(self, each: Instruction) -> None:
        found = {name: expand(value, self._known()) for name, value in pairs(each).items()}
        self.config["Labels"] = {**self.config.get("Labels", {}), **found}

    def _user(self, each: Instruction) -> None:
        self.config["User"] = expand(each.value, self._known())

    def _expose(self, each: Instruction) -> None:
        words = expand(each.value, self._known()).split()
        ports: dict[str, Any] = {word if "/" in word else f"{word}/tcp": {} for word in words}
        if not all(re.fullmatch(r"\d{1,5}/(tcp|udp)", port) for port in ports):
            raise each.refused(_("a port is a number, such as 8080 or 53/udp."))
        self.config["ExposedPorts"] = {**self.config.get("ExposedPorts", {}), **ports}

    def _volume(self, each: Instruction) -> None:
        places = each.exec_form(each.value) or each.words(each.value)
        self.config["Volumes"] = {**self.config.get("Volumes", {}), **{place: {} for place in places}}

    def _stop_signal(self, each: Instruction) -> None:
        self.config["StopSignal"] = each.value

    def _entrypoint(self, each: Instruction) -> None:
        self.config["Entrypoint"] = each.exec_form(each.value) or [*self._shell, each.value]
        self.config.setdefault("Cmd", [])  # the base's would be arguments of another program

    def _cmd(self, each: Instruction) -> None:
        self.config["Cmd"] = each.exec_form(each.value) or [*self._shell, each.value]

    def _choose_shell(self, each: Instruction) -> None:
        words = each.exec_form(each.value)
        if not words:
            raise each.refused(_('write it as a list, such as ["/bin/bash", "-c"].'))
        self._shell = tuple(words)

    def _maintainer(self, each: Instruction) -> None:
        self.config["Labels"] = {**self.config.get("Labels", {}), "maintainer": each.value}


_DO: dict[str, Callable[[Plan, Instruction], None]] = {
    "ARG": Plan._arg,
    "ENV": Plan._env,
    "RUN": Plan._run,
    "COPY": Plan._copy,
    "ADD": Plan._add,
    "WORKDIR": Plan._enter,
    "USER": Plan._user,
    "LABEL": Plan._label,
    "EXPOSE": Plan._expose,
    "ENTRYPOINT": Plan._entrypoint,
    "CMD": Plan._cmd,
    "SHELL": Plan._choose_shell,
    "VOLUME": Plan._volume,
    "STOPSIGNAL": Plan._stop_signal,
    "MAINTAINER": Plan._maintainer,
}


def make(text: str, files: Sequence[str], target: str = "") -> Plan:
    """Of the stage `target`, or of the last. Raises `Invalid` beside `containerfile`, with the line, or `target`."""
    plans: list[Plan] = []
    for part in choose(read(text), target):
        plan = Plan(
            files,
            part.base,
            part.start.line,
            part.given,
            name=part.name,
            before=tuple(plans),
            sources=part.sources,
        )
        for each in part.body:
            plan.add(each)
        plans.append(plan)
    return plans[-1]


def _mode(each: Instruction, flags: dict[str, str]) -> int | None:
    if "chmod" not in flags:
        return None
    if not re.fullmatch(r"0?[0-7]{3}", flags["chmod"]):
        raise each.refused(_("--chmod is an octal number, such as 0755."))
    return int(flags["chmod"], 8)
