"""Runtimes beside the image's: each prepared like it, told in a variable, read-only; also of npm packages."""

import json
import tarfile
from pathlib import Path

import pytest

from apps.workloads.drivers.base import ExitReason, RuntimeImage, RuntimeKind
from apps.workloads.drivers.local import node, runtime
from tests.drivers.kit import Kit


def test_a_tool_is_beside_the_image_and_not_in_it(isolated: Kit) -> None:
    tool = RuntimeImage("side-kick", ())
    source = (
        "import os, subprocess, sys\npath = os.environ['PLSTACK_TOOL_SIDE_KICK']\n"
        "print(subprocess.check_output([path + '/bin/python', '-c', 'import sys; print(sys.prefix)'], text=True))\n"
        "print(path == sys.prefix)\ntry:\n    open(path + '/x', 'w')\n"
        "except OSError as error:\n    print(error.strerror)"
    )
    ended, text = isolated.run(isolated.python(source, tools=(tool,), image=RuntimeImage("other", ())))
    assert ended.succeeded, text
    prefix, same, refusal = text.split("\n")[0], text.split("\n")[2], text.split("\n")[3]
    assert prefix.endswith(runtime.key(tool))
    assert (same, refusal) == ("True", "Read-only file system")  # equal requirements are one runtime, whatever its name


def test_a_tool_that_cannot_be_had_ends_the_start_in_words(plain: Kit) -> None:
    tool = RuntimeImage("broken", ("no-such-package==1",))
    handle = plain.launch(plain.request("true", tools=(tool,)))
    seen = plain.wait(handle)
    assert seen.exit is not None
    assert seen.exit.reason is ExitReason.IMAGE_FAILED
    assert "no-such-package==1" in seen.exit.detail


def test_npm_packages_on_a_node_of_their_own(isolated: Kit, tmp_path: Path) -> None:
    tool = RuntimeImage("hello", (f"file:{packed(tmp_path)}",), RuntimeKind.NODE)
    script = '"$PLSTACK_TOOL_HELLO/bin/node" "$PLSTACK_TOOL_HELLO/node_modules/hello/index.js"'
    ended, text = isolated.run(isolated.request("sh", "-c", script, tools=(tool,)))
    assert ended.succeeded, text
    assert text.startswith("hello from v24.")


def packed(folder: Path) -> Path:
    """A package as npm publishes it."""
    package = folder / "package"
    package.mkdir()
    (package / "package.json").write_text(json.dumps({"name": "hello", "version": "1.0.0", "main": "index.js"}))
    (package / "index.js").write_text("console.log(`hello from ${process.version}`)")
    with tarfile.open(folder / "hello-1.0.0.tgz", "w:gz") as archive:
        archive.add(package, "package")
    return folder / "hello-1.0.0.tgz"


def test_what_the_machine_lacks_is_named_before_the_build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert str(node.missing(["code-server@4.139.1"])) == (
        "To build code-server, this machine lacks: g++ make libkrb5-dev libsecret-1-dev libx11-dev libxkbfile-dev"
    )
    assert node.missing(["left-pad@1.3.0", "@scope/name@1"]) is None
