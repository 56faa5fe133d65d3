"""What is an address of an image, and from which hosts one may pull."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.errors import Invalid
from apps.registry.transfers import sources
from apps.registry.transfers.addresses import Address

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ghcr.io/team/torch:2.9", Address("ghcr.io", "team/torch", "2.9")),
        ("ghcr.io/team/torch", Address("ghcr.io", "team/torch", "latest")),
        (f"GHCR.io/team/torch@{DIGEST}", Address("ghcr.io", "team/torch", "", DIGEST)),
        (f" docker://ghcr.io/a/b:1@{DIGEST} ", Address("ghcr.io", "a/b", "1", DIGEST)),
        ("docker.io/python:3.12", Address("docker.io", "library/python", "3.12")),
        ("index.docker.io/team/a:1", Address("docker.io", "team/a", "1")),
        ("localhost:5000/a:1", Address("localhost:5000", "a", "1")),
        ("registry.lab:5000/a/b/c:v1.0_x-y", Address("registry.lab:5000", "a/b/c", "v1.0_x-y")),
    ],
)
def test_addresses_are_read_as_docker_reads_them(text: str, expected: Address) -> None:
    assert Address.parse(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "python:3.12", "team/torch:1", "https://ghcr.io/a/b", "ghcr.io/", "ghcr.io/A/b", "ghcr.io/a/../b",
        "ghcr.io/a:", "ghcr.io/a@sha256:abc", "user@ghcr.io/a", "ghcr.io/a b", "ghcr.io/a\n", "ghcr.io:port/a",
        "ghcr.io/" + "a" * 400,
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused_beside_the_field(text: str) -> None:
    if text == "ghcr.io/a\n":
        assert Address.parse(text).repository == "a"
        return
    with pytest.raises(Invalid) as refused:
        Address.parse(text)
    assert "address" in refused.value.fields


_PART = st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True)


@given(
    host=st.sampled_from(["ghcr.io", "docker.io", "registry.lab:5000", "localhost"]),
    parts=st.lists(_PART, min_size=1, max_size=4),
    tag=st.one_of(st.just(""), st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,20}", fullmatch=True)),
    digest=st.sampled_from(["", DIGEST]),
)
def test_what_an_address_says_reads_as_the_same_address(host: str, parts: list[str], tag: str, digest: str) -> None:
    text = f"{host}/{'/'.join(parts)}{f':{tag}' if tag else ''}{f'@{digest}' if digest else ''}"
    found = Address.parse(text)
    assert Address.parse(found.text) == found
    assert found.reference == (digest or tag or "latest")


def test_docker_hub_is_asked_where_it_answers() -> None:
    assert Address.parse("docker.io/python").api_host == "registry-1.docker.io"
    assert Address.parse("ghcr.io/a/b").api_host == "ghcr.io"


@pytest.mark.parametrize(
    ("host", "hosts", "allowed"),
    [
        ("ghcr.io", ["*"], True),
        ("ghcr.io", [], False),
        ("ghcr.io", ["ghcr.io"], True),
        ("ghcr.io:443", ["ghcr.io"], True),
        ("ghcr.io:5000", ["ghcr.io"], False),
        ("ghcr.io:5000", ["ghcr.io:5000"], True),
        ("ghcr.io", ["ghcr.io:5000"], False),
        ("a.example.edu", ["*.example.edu"], True),
        ("example.edu", ["*.example.edu"], False),
        ("badexample.edu", ["*.example.edu"], False),
        ("a.example.edu:5000", ["*.example.edu"], False),
        ("a.example.edu:5000", ["*.example.edu:5000"], True),
        ("evil.io", ["ghcr.io", "*.example.edu"], False),
    ],
)
def test_an_entry_allows_its_host_and_the_usual_ports(host: str, hosts: list[str], allowed: bool) -> None:
    assert sources.is_allowed(host, hosts) is allowed


def test_hosts_are_typed_with_blanks_or_commas() -> None:
    assert sources.read_hosts(" GHCR.io, *.example.edu\nquay.io:5000，* ghcr.io ") == [
        "ghcr.io", "*.example.edu", "quay.io:5000", "*",
    ]  # fmt: skip
    assert sources.read_hosts("  ") == []


@pytest.mark.parametrize("text", ["https://ghcr.io", "ghcr.io/team", "a*b.io", "*.", " ".join(map(str, range(101)))])
def test_what_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        sources.read_hosts(text)
    assert "hosts" in refused.value.fields


def test_an_unusual_port_needs_an_operator_who_names_it() -> None:
    address = Address("registry.example.edu:5000", "a", "1")
    assert 5000 not in sources.ports_of(address, ["*"])
    assert 5000 in sources.ports_of(address, ["registry.example.edu:5000"])
    assert 5000 in sources.ports_of(address, ["*.example.edu:5000"])
    assert 5000 not in sources.ports_of(replace(address, host="evil.io:5000"), ["registry.example.edu:5000"])
