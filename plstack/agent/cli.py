"""Add this machine to the platform with a token from its console, and serve it from then on."""

import argparse
import hashlib
import logging
import ssl
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from apps.workloads.drivers.base import Handle
from apps.workloads.drivers.local import gang_network
from apps.workloads.drivers.local.dataset_cache import DatasetCache
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.gang_ability import address_towards
from apps.workloads.drivers.overlay import usable_address
from plstack.agent import platform
from plstack.agent.calls import Calls
from plstack.agent.identity import AgentError, Identity, has_joined, load, machine_id, read_marker, save
from plstack.agent.server import Server
from plstack.agent.storage import Prober

log = logging.getLogger("plstack.agent")
BEAT_S = 10.0
PORT = 8765


def main(words: list[str] | None = None) -> int:
    arguments = parser().parse_args(words)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    try:
        if arguments.command == "join":
            _join_again(arguments) if arguments.once and has_joined(arguments.home.resolve()) else _join(arguments)
        if arguments.command == "run" or arguments.run:
            _run(arguments.home.resolve())
    except AgentError as error:
        log.error("%s", error)
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


def parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser(prog="plstack.agent", description=__doc__)
    commands = whole.add_subparsers(dest="command", required=True)
    join = commands.add_parser("join", help="add this machine with a token from the console, then serve")
    join.add_argument("--server", required=True, help="the platform's address, as a browser opens it")
    join.add_argument(
        "--via", default="", help="reach the platform at this address instead, past the proxy in front of --server"
    )
    token = join.add_mutually_exclusive_group(required=True)
    token.add_argument("--token")
    token.add_argument("--token-file", type=Path, help="a file with nothing but the token in it")
    join.add_argument("--once", action="store_true", help="spend no token where this machine has joined already")
    join.add_argument("--data", type=Path, help="where the platform's data folder is mounted (default: HOME/data)")
    join.add_argument("--name", default="", help="the node's name (default: the host's)")
    join.add_argument("--host", default="0.0.0.0", help="the address to listen on")  # noqa: S104 - requests are signed
    join.add_argument("--port", type=int, default=PORT)
    join.add_argument(
        "--address", default="", help="where the platform reaches this agent, if not at this machine's own address"
    )
    join.add_argument(
        "--network-address",
        default="",
        help="this machine's IP address on the network between the nodes, by which gangs over several machines are "
        "joined (default: the one from which it reaches the platform)",
    )
    join.add_argument("--certificate", type=Path, help="a TLS certificate (PEM): the platform pins it")
    join.add_argument("--key", type=Path, help="its private key (PEM)")
    join.add_argument("--no-run", dest="run", action="store_false", help="only join")
    run = commands.add_parser("run", help="serve, after a join")
    for command in (join, run):
        command.add_argument("--home", type=Path, default=Path("/var/lib/plstack-agent"))
    return whole


def _join(arguments: argparse.Namespace) -> None:
    home: Path = arguments.home.resolve()
    data: Path = (arguments.data or home / "data").resolve()
    driver = LocalDriver(home)
    network_address = _network_address(arguments.network_address)
    towards = network_address or address_towards(arguments.via or arguments.server)
    answer = platform.join(
        arguments.server,
        arguments.via,
        {
            "token": arguments.token or _token_in(arguments.token_file),
            "name": arguments.name,
            "machine_id": machine_id(home),
            "marker": read_marker(data),
            "port": arguments.port,
            "address": arguments.address,
            "certificate": _fingerprint(arguments.certificate),
            **platform.machine_report(data, driver, towards, Prober(data).report()),
        },
    )
    identity = Identity(
        server=arguments.server,
        node_id=answer["node_id"],
        name=answer["name"],
        secret=answer["secret"],
        data=str(data),
        platform_data=answer["data_root"],
        host=arguments.host,
        port=arguments.port,
        certificate=str(arguments.certificate or ""),
        key=str(arguments.key or ""),
        via=arguments.via,
        network_address=network_address,
    )
    save(home, identity)
    log.info("joined %s as %s", arguments.server, identity.name)


def _join_again(arguments: argparse.Namespace) -> None:
    """Keep the identity of a joined machine; only update the platform's address."""
    home: Path = arguments.home.resolve()
    save(home, replace(load(home), server=arguments.server, via=arguments.via))


def _token_in(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError as error:
        raise AgentError(f"{file} holds no token: {error.strerror}") from error


def _network_address(text: str) -> str:
    try:
        return str(usable_address(text)) if text else ""
    except ValueError as error:
        raise AgentError(f"--network-address: {error}") from error


def _fingerprint(certificate: Path | None) -> str:
    if certificate is None:
        return ""
    try:
        shown = ssl.PEM_cert_to_DER_cert(certificate.read_text())
    except (OSError, ValueError) as error:
        raise AgentError(f"{certificate} is not a certificate: {error}") from error
    return hashlib.sha256(shown).hexdigest()


def _run(home: Path) -> None:
    """Serve until killed. Workloads belong to their shims and survive this process."""
    identity = load(home)
    read_marker(Path(identity.data))
    driver = LocalDriver(home, data=Path(identity.data).resolve())
    calls = Calls(home, driver, Path(identity.data), Path(identity.platform_data), bytes.fromhex(identity.secret))
    try:
        server = Server(identity, driver, calls)
    except OSError as error:
        raise AgentError(f"Cannot listen on {identity.host}:{identity.port}: {error.strerror or error}") from error
    _sweep_networks(home, driver)
    prober = Prober(Path(identity.data))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    log.info("serving %s on port %s", identity.name, identity.port)
    while True:
        _heartbeat(identity, home, driver, prober)
        _sweep_networks(home, driver)
        time.sleep(BEAT_S)


def end_given_up(driver: LocalDriver, answer: dict[str, Any]) -> None:
    """Stop attempts at once that the platform has given up: they may run elsewhere already."""
    for ref in answer.get("stop", ()):
        log.warning("the platform has given up %s: it is ended", ref)
        driver.stop(Handle(driver.name, "", str(ref)), 0.0)


def trim_datasets(home: Path, answer: dict[str, Any]) -> None:
    """Keep no more copies of datasets than the platform says; a platform of before says nothing."""
    limit_mib = answer.get("dataset_cache_mib")
    if isinstance(limit_mib, int):
        DatasetCache(home).trim(limit_mib)


def _sweep_networks(home: Path, driver: LocalDriver) -> None:
    """Remove networks of gangs that have ended while no agent looked; those of living members stay as they are."""
    try:
        gang_network.sweep(home, driver.is_over)
    except OSError as error:
        log.warning("a gang's network could not be removed: %s", error)


def _heartbeat(identity: Identity, home: Path, driver: LocalDriver, prober: Prober) -> None:
    """Send one heartbeat. If the platform is unreachable or refuses, workloads here continue."""
    try:
        answer = platform.send_heartbeat(identity, home, driver, prober)
        end_given_up(driver, answer)
        driver.sweep_partitions()
        trim_datasets(home, answer)
    except platform.Refused as error:
        log.error("the platform refuses this machine: %s", error)
    except AgentError as error:
        log.warning("%s", error)
    except Exception:
        log.exception("a heartbeat failed")
