"""Recognises addresses of this machine."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether ``host``, a name or an IP address, is this machine itself."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
