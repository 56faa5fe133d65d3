"""The address check against server-side request forgery."""

import inspect
import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from apps.common import networks, outgoing
from apps.common.errors import Invalid
from apps.common.networks import is_special
from apps.common.outgoing import PinnedTarget, resolve_public
from tests.searching import examples


def answers(*addresses: str):
    def resolver(host: str, port: int) -> Sequence[str]:
        return addresses

    return resolver


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost/",
        "http://localhost./",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.0x0.0x0.0x1/",
        "http://0177.0.0.1/",
        "http://0/",
        "http://0.0.0.0/",
        "http://10.1.2.3/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://100.64.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://169.254.169.254./",
        "http://224.0.0.1/",
        "http://240.0.0.1/",
        "http://255.255.255.255/",
        "http://198.18.0.1/",
        "http://[::]/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[::127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[2002:7f00:1::]/",
        "http://[fd00::1]/",
        "http://[fd00:ec2::254]/",
        "http://[fe80::1]/",
        "http://[fe80::1%25eth0]/",
        "http://[fec0::1]/",
        "http://[ff02::1]/",
        "http://[2001:db8::1]/",
        "http://100.100.100.200/latest/meta-data/",
        "http://168.63.129.16/machine?comp=goalstate",
        "http://192.0.0.192/latest/",
        "http://192.0.0.9/",
        "http://192.0.0.10/",
        "http://192.88.99.1/",
        "http://192.31.196.1/",
        "http://192.52.193.1/",
        "http://192.175.48.1/",
        "http://[::ffff:168.63.129.16]/",
        "http://[64:ff9b::a83f:8110]/",
        "http://[64:ff9b:1::7f00:1]/",
        "http://[2002:808:808::1]/",
        "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
        "http://[2001:20::1]/",
        "http://[3fff::1]/",
        "http://[5f00::1]/",
        "http://[100::1]/",
        "http://[4000::1]/",
        "http://[2620:4f:8000::1]/",
    ],
)
def test_an_address_that_is_not_public_is_refused(url: str) -> None:
    with pytest.raises(Invalid):
        resolve_public(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "//example.com/",
        "http://",
        "http:///path",
        "http://user:secret@example.com/",
        "http://example.com@127.0.0.1/",
        "http://example.com\\@127.0.0.1/",
        "http://exa mple.com/",
        "http://example.com\r\nX-Evil: 1/",
        "http://example.com:0/",
        "http://example.com:99999/",
        "http://example.com:22/",
        "http://example.com:6379/",
        "http://[::1/",
        "http://" + "a" * 300 + ".com/",
        "http://..",
    ],
)
def test_what_is_no_plain_web_address_is_refused(url: str) -> None:
    with pytest.raises(Invalid):
        resolve_public(url, resolver=answers("93.184.215.14"))


def test_a_public_name_is_pinned_to_the_address_that_was_checked() -> None:
    asked: list[str] = []

    def changing(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["93.184.215.14"] if len(asked) == 1 else ["127.0.0.1"]

    pinned = resolve_public("https://Example.COM./hook?x=1", resolver=changing)

    assert pinned == PinnedTarget("93.184.215.14", 443, "example.com")
    assert asked == ["example.com"]


def test_one_private_answer_among_public_ones_is_enough_to_refuse() -> None:
    with pytest.raises(Invalid):
        resolve_public("https://example.com/", resolver=answers("93.184.215.14", "10.0.0.1"))


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::6810:84e5", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses_pass(address: str) -> None:
    assert resolve_public("http://example.com/", resolver=answers(address)).port == 80


@given(st.ip_addresses())
@settings(max_examples=examples(2000))
@example(IPv4Address("192.0.0.192"))
@example(IPv6Address("fd00:ec2::254"))
def test_nothing_passes_that_any_python_calls_special(address: IPv4Address | IPv6Address) -> None:
    """The list is ours and reaches further than the library's, whose versions differ; none knows more than it."""
    if address in networks.MAPPED or address in networks.NAT64:
        assert is_special(address) == is_special(IPv4Address(int(address) & 0xFFFFFFFF))
    elif address.is_private or address.is_reserved or address.is_multicast or address.is_loopback:
        assert is_special(address)


def test_the_check_asks_the_library_for_no_opinion() -> None:
    """What `is_global` and its kin mean changes with the version of Python."""
    for module in (networks, outgoing):
        assert re.findall(r"\.is_[a-z_]+", inspect.getsource(module)) == []


def test_the_operator_lets_single_hosts_through() -> None:
    resolver = answers("10.0.0.7")
    assert resolve_public("http://mirror.lab:3141/x", ["mirror.lab:3141"], resolver=resolver).port == 3141
    assert resolve_public("http://mirror.lab/x", ["Mirror.lab"], resolver=resolver).address == "10.0.0.7"
    assert resolve_public("http://mirror.lab/x", ["10.0.0.0/24"], resolver=resolver).address == "10.0.0.7"
    for url, allow in [("http://mirror.lab:22/x", "mirror.lab"), ("http://other.lab/", "mirror.lab")]:
        with pytest.raises(Invalid):
            resolve_public(url, [allow], resolver=resolver)


def test_more_ports_can_be_opened_without_opening_private_addresses() -> None:
    assert resolve_public("https://example.com:8443/", ports=[8443], resolver=answers("8.8.8.8")).port == 8443
    with pytest.raises(Invalid):
        resolve_public("https://example.com:8443/", ports=[8443], resolver=answers("127.0.0.1"))


def test_a_name_that_nobody_knows_is_told_in_words() -> None:
    with pytest.raises(Invalid, match="cannot be found"):
        resolve_public("https://example.com/", resolver=answers())
