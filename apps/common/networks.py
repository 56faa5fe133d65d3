"""Networks that addresses given by tenants must not reach.

From IANA's special-purpose registries (RFC 6890) and the metadata services of clouds, kept here rather than read from
`ipaddress`: what Python calls global changes with its version, and public-looking metadata addresses are global to it.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

IPV4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this host, RFC 791
        "10.0.0.0/8",  # private, RFC 1918
        "100.64.0.0/10",  # behind a carrier's NAT, RFC 6598; 100.100.100.200 is Alibaba Cloud's metadata
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's WireServer: metadata and certificates, on a public address
        "169.254.0.0/16",  # link-local, RFC 3927; 169.254.169.254 is the metadata of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # IETF protocols, RFC 6890; 192.0.0.192 is Oracle Cloud Classic's metadata
        "192.0.2.0/24",  # documentation, RFC 5737
        "192.31.196.0/24",  # AS112, RFC 7535
        "192.52.193.0/24",  # automatic multicast tunnels, RFC 7450
        "192.88.99.0/24",  # 6to4 relays, deprecated by RFC 7526
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112, RFC 7534
        "198.18.0.0/15",  # benchmarks, RFC 2544
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, 255.255.255.255 among them
    )
)
# What is allotted to the open internet (RFC 4291): everything else of IPv6 is refused without being listed.
IPV6_UNICAST = IPv6Network("2000::/3")
IPV6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # IETF protocols, RFC 2928: Teredo, ORCHID, benchmarks and others
        "2001:db8::/32",  # documentation, RFC 3849
        "2002::/16",  # 6to4, RFC 3056
        "2620:4f:8000::/48",  # AS112, RFC 7534
        "3fff::/20",  # documentation, RFC 9637
    )
)
# RFC 4291 and 6052: these carry an IPv4 address in their last 32 bits, to which the kernel or a gateway leads them.
MAPPED = IPv6Network("::ffff:0:0/96")
NAT64 = IPv6Network("64:ff9b::/96")

Address = IPv4Address | IPv6Address


def is_special(address: Address) -> bool:
    """Whether `address` is anything but an ordinary host of the open internet, also if a gateway translates it."""
    if isinstance(address, IPv4Address):
        return any(address in network for network in IPV4)
    if address.scope_id is not None:
        return True
    if address in MAPPED or address in NAT64:
        return is_special(IPv4Address(int(address) & 0xFFFFFFFF))
    return address not in IPV6_UNICAST or any(address in network for network in IPV6)
