"""The commands behind the Makefile."""

import argparse
import errno
import os
import sys
import tempfile
import traceback
from collections.abc import Callable

from plstack.launch import control, run, testing
from plstack.launch.layout import Layout
from plstack.launch.report import Trouble

INTERRUPTED = 130


def main(argv: list[str]) -> int:
    """Run one command; whatever goes wrong is one line on standard error and a non-zero status."""
    arguments = _parser().parse_args(argv)
    try:
        os.umask(0o022)
        command: Callable[..., int] = arguments.command
        return command(Layout.from_environ(), *([arguments.rest] if "rest" in arguments else []))
    except Trouble as trouble:
        return _fail(str(trouble))
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            return _fail(
                f"the disk is full ({error.filename or 'writing a file'}): free some space or set PLSTACK_HOME"
            )
        return _fail(f"{error.strerror or error} ({error.filename or 'see'} {_keep_traceback()})")
    except Exception as error:
        return _fail(f"unexpected {type(error).__name__}: {error} (details: {_keep_traceback()})")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="plstack", description="Run, stop, check and test this copy of PLStack.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, function, text in (
        ("run", run.run, "start the platform and stay with it"),
        ("stop", control.stop, "stop the running platform"),
        ("status", control.status, "show what is running"),
    ):
        commands.add_parser(name, help=text).set_defaults(command=function)
    for name, passing_on, text in (
        ("test", testing.test, "run the test suites on servers of their own"),
        ("check", testing.check, "run the static checks"),
        ("exec", testing.execute, "run a command with the test servers in its environment"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("rest", nargs=argparse.REMAINDER, metavar="...", help="passed on")
        command.set_defaults(command=passing_on)
    return parser


def _fail(message: str, code: int = 1) -> int:
    print(f"plstack: {message}", file=sys.stderr)
    return code


def _keep_traceback() -> str:
    """A traceback is for a bug report, not for the terminal."""
    with tempfile.NamedTemporaryFile("w", prefix="plstack-", suffix=".log", delete=False) as file:
        traceback.print_exc(file=file)
    return file.name
