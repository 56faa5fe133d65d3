"""`make test` and `make check`: run the suites and checks in the environment, with temporary servers.

A test's suite follows from its place and its marks; tests/architecture/test_suites.py checks it:

- quick      everything that is not named below, of which nothing is to be slow.
- properties what searches at length: the tests that Hypothesis drives and the sweeps over all routes, with all of their
             examples (tests/searching.py), and the kill points: files called test_kill_*.py, in no other suite.
- processes  what starts programs, servers and sandboxes of its own, and so waits for them: the folders PROCESSES, and
             elsewhere the tests marked `programs`, without which a test may start no program (tests/conftest.py).
- contract   every operation of the API as each role.
- soak       hours of the whole platform on a clock that runs fast (benchmarks.soak), in a database of their own.
- browser, chaos, kube: what carries these marks, with a browser, a running platform, a cluster.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from plstack.launch import environment, frontend, preflight
from plstack.launch.layout import Layout
from plstack.launch.postgres import APP, OWNER, Postgres
from plstack.launch.report import Reporter, Step
from plstack.launch.run import StopRequests
from plstack.launch.valkey import Valkey

PROCESSES = ["tests/drivers", "tests/gateway", "tests/envs", "tests/launch"]
CONTRACT = ["tests/contract"]
SOAK = ["tests/soak"]
UNMARKED = "not browser and not kube and not chaos"
SEARCHING = "hypothesis or sweep or kills"
# The plugin of schemathesis costs each process a second and is not needed.
WORKERS = ["--dist", "worksteal", "-p", "no:schemathesis"]
TWO_WORKERS = ["-n", "2", *WORKERS]
# Waits for programs, clocks and restarts more than it computes.
THREE_WORKERS = ["-n", "3", *WORKERS]
SUITES = {
    "quick": [
        *TWO_WORKERS,
        "-m",
        f"{UNMARKED} and not ({SEARCHING}) and not programs",
        *(f"--ignore={path}" for path in (*PROCESSES, *CONTRACT, *SOAK)),
        "tests",
    ],
    "properties": [
        *TWO_WORKERS,
        "-m",
        f"{UNMARKED} and ({SEARCHING})",
        "--hypothesis-profile=thorough",
        "tests",
    ],
    "processes": [
        *THREE_WORKERS,
        "-m",
        f"{UNMARKED} and programs",
        *(f"--ignore={path}" for path in (*CONTRACT, *SOAK)),
        "tests",
    ],
    "contract": [*TWO_WORKERS, "-m", UNMARKED, *CONTRACT],
    "soak": [*TWO_WORKERS, "-m", UNMARKED, *SOAK],
}
BROWSER = ["-m", "browser", "tests/browser"]
# Against the cluster that KUBECONFIG names; pods start side by side.
KUBE = [*THREE_WORKERS, "-m", "kube", "tests/kube"]
CHAOS = [*THREE_WORKERS, "-m", "chaos", "tests/chaos"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
INSTALL_CHROMIUM = ["apt-get", "install", "-y", "--no-install-recommends", "chromium", "fonts-noto-cjk"]


def test(layout: Layout, arguments: list[str]) -> int:
    """Run pytest with these arguments, or the suite of this name; without any, all that `SUITES` has, and the browsers.

    One after the other: the contract suite's world is one transaction around it, and browsers want the machine.
    """
    StopRequests().listen()
    set_up(layout, Reporter(2))
    with servers(layout) as env:
        if arguments:
            suites = {**SUITES, "chaos": CHAOS, "browser": BROWSER, "kube": KUBE}
            return _pytest(layout, env, suites.get(arguments[0], arguments))
        failed = [_pytest(layout, env, suite) for suite in SUITES.values()]
        return _browser_suite(layout, env) or max(failed)


def check(layout: Layout, names: list[str]) -> int:
    """Run the static checks, or only those named."""
    set_up(layout, Reporter(2))
    env = {**keeping_bytecode(os.environ, layout.home), "DJANGO_SETTINGS_MODULE": "plstack.settings.test"}
    return subprocess.call([layout.python, "-m", "plstack.launch.checks", *names], cwd=layout.root, env=env)


def execute(layout: Layout, command: list[str]) -> int:
    """Run a command with temporary servers in its environment; `python` is the environment's."""
    set_up(layout, Reporter(2))
    with servers(layout) as env:
        return subprocess.call(command, cwd=layout.root, env=env)


def keeping_bytecode(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """The environment in which Python compiles each module once, not once in every process of a suite.

    PYTHONDONTWRITEBYTECODE, which containers often set, keeps the sources clean at the price of compiling thousands of
    modules, and rewriting each test's assertions, at every start. Bytecode goes below `home` then, not beside them.
    """
    env = dict(environ)
    if env.pop("PYTHONDONTWRITEBYTECODE", ""):
        env.setdefault("PYTHONPYCACHEPREFIX", str(home / "pycache"))
    return env


def set_up(layout: Layout, reporter: Reporter) -> None:
    """The environment with its tools, the front end and the compiled translations."""
    preflight.check_python()
    preflight.check_home(layout.home)
    with reporter.step("Python packages") as step:
        environment.ensure(layout, "dev", step)
    with reporter.step("Front end") as step:
        frontend.build(layout.root, lambda step: _node(layout, step), step)
    subprocess.check_call([layout.python, "-m", "plstack.launch.messages", "compile"], cwd=layout.root)


def _node(layout: Layout, step: Step) -> Path:
    found = frontend.system_node()
    if found:
        return found
    environment.ensure(layout, "node", step)
    return layout.venv / "bin"


@contextmanager
def servers(layout: Layout) -> Iterator[dict[str, str]]:
    """Run Postgres and Redis in a temporary folder for the block; yields their addresses as environment variables."""
    home = Path(tempfile.mkdtemp(prefix="plstack-test-"))
    home.chmod(0o755)  # the servers' account must pass through; the contents have their own modes
    copy = replace(layout, home=home)
    copy.logs.mkdir()
    postgres, valkey = Postgres.from_layout(copy, volatile=True), Valkey.from_layout(copy)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, home, ignore_errors=True)
        stack.callback(postgres.stop)
        stack.callback(valkey.stop)
        valkey.start()
        postgres.prepare()
        postgres.start()
        postgres.await_ready()
        valkey.await_ready()
        kept = {"PLSTACK_TEST_TEMPLATES": str(layout.home / "test-templates")}
        yield {**kept, **keeping_bytecode(os.environ, layout.home), **_addresses(copy, postgres, valkey)}


def _addresses(copy: Layout, postgres: Postgres, valkey: Valkey) -> dict[str, str]:
    return {
        "PATH": f"{copy.venv / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}",
        "DJANGO_SETTINGS_MODULE": "plstack.settings.test",
        "PLSTACK_HOME": str(copy.home),
        "PLSTACK_VENV": str(copy.venv),
        "DATABASE_URL": postgres.url(APP),
        "DATABASE_OWNER_URL": postgres.url(OWNER),
        "REDIS_URL": valkey.url,
    }


def _pytest(layout: Layout, env: Mapping[str, str], arguments: list[str]) -> int:
    return subprocess.call([layout.python, "-m", "pytest", *arguments], cwd=layout.root, env=env)


def _browser_suite(layout: Layout, env: Mapping[str, str]) -> int:
    if not any((layout.root / "tests" / "browser").glob("test_*.py")):
        return 0
    if not any(map(shutil.which, BROWSERS)) and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.call(["apt-get", "update", "-q"], stdout=subprocess.DEVNULL)
        subprocess.call(INSTALL_CHROMIUM, stdout=subprocess.DEVNULL, env={**env, "DEBIAN_FRONTEND": "noninteractive"})
    if not any(map(shutil.which, BROWSERS)):
        print(f"Browser suite skipped: there is no Chromium. To enable it: sudo {' '.join(INSTALL_CHROMIUM)}")
        return 0
    return _pytest(layout, env, BROWSER)
