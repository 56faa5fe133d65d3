"""The commands behind the Makefile."""

import argparse
import errno
import os
import sys
import tempfile
import traceback
from collections.abc import Callable

from plstack.launch import control, management, mutants, run, testing
from plstack.launch.layout import Layout
from plstack.launch.report import Trouble

INTERRUPTED = 130


# Commands that receive all further arguments, including options.
PASSING_ON: dict[str, tuple[Callable[[Layout, list[str]], int], str]] = {
    "test": (testing.test, "run the test suites on servers of their own"),
    "check": (testing.check, "run the static checks"),
    "mutants": (mutants.mutants, "change rules one by one and see whether the tests notice"),
    "manage": (management.manage, "run a management command of Django in the running platform's environment"),
    "exec": (testing.execute, "run a command with the test servers in its environment"),
}
ALONE: dict[str, tuple[Callable[[Layout], int], str]] = {
    "run": (run.run, "start the platform and stay with it"),
    "stop": (control.stop, "stop the running platform"),
    "status": (control.status, "show what is running"),
}


def main(argv: list[str]) -> int:
    """Run one command; any failure prints one line on standard error and returns a non-zero status."""
    command = _command(argv)
    try:
        os.umask(0o022)
        return command(Layout.from_environ())
    except Trouble as trouble:
        return _fail(str(trouble))
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            return _fail(f"the disk is full ({error.filename or 'a file'}): free some space or set PLSTACK_HOME")
        return _fail(f"{error.strerror or error} ({error.filename or 'see'} {_keep_traceback()})")
    except Exception as error:
        return _fail(f"unexpected {type(error).__name__}: {error} (details: {_keep_traceback()})")


def _command(argv: list[str]) -> Callable[[Layout], int]:
    if argv and argv[0] in PASSING_ON:
        return lambda layout: PASSING_ON[argv[0]][0](layout, argv[1:])
    parser = argparse.ArgumentParser(prog="plstack", description="Run, stop, check and test this copy of PLStack.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    for name, (_, text) in {**ALONE, **PASSING_ON}.items():
        commands.add_parser(name, help=text)
    return ALONE[parser.parse_args(argv).command][0]


def _fail(message: str, code: int = 1) -> int:
    print(f"plstack: {message}", file=sys.stderr)
    return code


def _keep_traceback() -> str:
    """Save the traceback for a bug report instead of printing it; returns the file."""
    with tempfile.NamedTemporaryFile("w", prefix="plstack-", suffix=".log", delete=False) as file:
        traceback.print_exc(file=file)
    return file.name
