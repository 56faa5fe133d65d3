"""docker-compose.yml is valid, and what it names exists here."""

import importlib
import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from compose_spec.models import ComposeSpecification

from plstack.agent import cli
from plstack.launch.install import PARTS
from plstack.launch.layout import ROOT
from plstack.launch.liveness import MOST_LOOKS, POLL_SECONDS

FILE = ROOT / "docker-compose.yml"
PROCESSES = {"web", "gateway", "ssh", "worker", "scheduler", "files", "beat", "migrate"}
SERVERS = {"postgres", "redis"}


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load(FILE.read_text())
    return dict(parsed["services"])


def test_it_follows_the_compose_specification() -> None:
    parsed = yaml.safe_load(FILE.read_text())
    ComposeSpecification.model_validate({key: value for key, value in parsed.items() if not key.startswith("x-")})


def test_the_specification_is_really_checked() -> None:
    with pytest.raises(ValueError, match="restart"):
        ComposeSpecification.model_validate({"services": {"web": {"restart": ["always"]}}})


def test_there_is_a_service_for_each_process_and_server(services: dict[str, Any]) -> None:
    assert set(services) == PROCESSES | SERVERS | {"node"}


@pytest.mark.parametrize("name", sorted(PROCESSES))
def test_its_settings_exist(services: dict[str, Any], name: str) -> None:
    assert importlib.util.find_spec(services[name]["environment"]["DJANGO_SETTINGS_MODULE"])


def test_only_migrations_know_the_owner_of_the_database(services: dict[str, Any]) -> None:
    told = {name for name in services if "OWNER" in str(services[name].get("environment"))}
    assert told == {"migrate", "postgres"}


@pytest.mark.parametrize("name", ["worker", "scheduler", "beat"])
def test_celery_finds_its_application(services: dict[str, Any], name: str) -> None:
    program, flag, address, *_ = services[name]["command"]
    module, attribute = address.split(":")
    assert (program, flag) == ("celery", "-A")
    assert hasattr(importlib.import_module(module), attribute)


@pytest.mark.parametrize("name", ["web", "gateway"])
def test_each_web_server_finds_its_application(services: dict[str, Any], name: str) -> None:
    program, address, *_ = services[name]["command"]
    module, attribute = address.split(":")
    assert program == "uvicorn"
    assert hasattr(importlib.import_module(module), attribute)


def test_every_queue_that_is_used_has_a_worker(services: dict[str, Any]) -> None:
    served = {
        queue
        for service in services.values()
        for flag, queue_list in zip(service.get("command", []), service.get("command", [])[1:], strict=False)
        if flag == "-Q"
        for queue in queue_list.split(",")
    }
    app = importlib.import_module("plstack.celery").app
    used = {entry["options"]["queue"] for entry in app.conf.beat_schedule.values()} | {app.conf.task_default_queue}
    assert used <= served


def test_migrations_prepare_parts_that_exist(services: dict[str, Any]) -> None:
    _shell, _flag, line = services["migrate"]["command"]
    first, second = line.split(" && ")
    assert second.split()[:3] == ["python", "manage.py", "join_token"]
    python, flag, module, *parts = first.split()
    assert (python, flag, module) == ("python", "-m", "plstack.launch.install")
    assert set(parts) <= set(PARTS)


def test_files_that_it_and_the_image_name_are_in_the_checkout(services: dict[str, Any]) -> None:
    mounted = [volume.split(":")[0] for volume in services["postgres"]["volumes"] if volume.startswith("./")]
    image = ROOT / services["web"]["build"]["dockerfile"]
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", image.read_text(), re.MULTILINE)
    assert mounted
    assert copied
    for name in [*mounted, *" ".join(copied).split()]:
        assert (ROOT / name).exists(), name


def _named_in_readme(first: str) -> list[str]:
    """The variables of the table's row that begins with `first`, short ones (`_PORT`) written out."""
    row = next(line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith(f"| `{first}`"))
    stem = first.rpartition("_")[0]
    return [stem + name if name.startswith("_") else name for name in re.findall(r"`([A-Z_]+)`", row.split("|")[1])]


@pytest.mark.parametrize("name", sorted(PROCESSES))
def test_the_mail_server_and_allowed_receivers_of_the_readme_reach_every_process(
    services: dict[str, Any], name: str
) -> None:
    told = services[name]["environment"]
    variables = _named_in_readme("PLSTACK_SMTP_HOST") + _named_in_readme("PLSTACK_WEBHOOK_ALLOW")
    assert len(variables) == 6
    for variable in variables:
        assert told[variable].startswith(f"${{{variable}:-"), variable


def test_nothing_listens_beyond_the_machine_by_itself(services: dict[str, Any]) -> None:
    published = [port for service in services.values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)


@pytest.mark.parametrize("name", sorted(PROCESSES - {"migrate"}))
def test_the_health_of_each_process_is_what_it_has_proved(services: dict[str, Any], name: str) -> None:
    """A container that is only marked as unhealthy would stay so: the check itself ends what does nothing."""
    check = services[name]["healthcheck"]
    assert check["test"] == ["CMD", "python", "-m", "plstack.launch.watch", "healthy", name]
    assert importlib.util.find_spec("plstack.launch.watch")
    assert services[name]["restart"] == "unless-stopped"
    assert int(check["timeout"].rstrip("s")) > (MOST_LOOKS + 2) * POLL_SECONDS


def test_nobody_but_the_processes_can_use_redis(services: dict[str, Any]) -> None:
    assert "requirepass" in str(services["redis"]["command"])
    for name in PROCESSES:
        assert services[name]["environment"]["REDIS_URL"].startswith("redis://:${REDIS_PASSWORD")


def test_people_s_runs_outlive_an_upgrade_of_the_platform(services: dict[str, Any]) -> None:
    """They belong to `node`: an image of its own, no wait for what is recreated, no other place to run."""
    node = services["node"]
    assert node["image"] not in {services[name]["image"] for name in PROCESSES}
    assert {services[name]["environment"]["PLSTACK_LOCAL_NODE"] for name in PROCESSES} == {"off"}
    assert set(node["depends_on"]) == set(services["worker"]["depends_on"])
    assert all(what["condition"] != "service_healthy" or name == "redis" for name, what in node["depends_on"].items())
    assert node["volumes"] == services["worker"]["volumes"]


def test_the_node_knows_nothing_of_the_platform_but_its_token(services: dict[str, Any]) -> None:
    assert set(services["node"]["environment"]) == {"PLSTACK_HOME"}


def test_the_node_s_command_is_one_that_the_agent_takes(services: dict[str, Any]) -> None:
    python, flag, module, *words = services["node"]["command"]
    assert (python, flag, module) == ("python", "-m", "plstack.agent")
    asked = cli.parser().parse_args(words)
    home = Path(services["web"]["environment"]["PLSTACK_HOME"])
    assert asked.once
    assert asked.data == home / "data"
    assert str(asked.token_file) in services["migrate"]["command"][-1]
    assert asked.home == asked.token_file.parent == home / "node"
    assert asked.via == "http://web:8000"
    assert asked.address == f"http://node:{cli.PORT}"
