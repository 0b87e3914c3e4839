"""Ping series for test experiments."""

from __future__ import annotations


def ping(message: str, to: int = 1, repeats: int = 1) -> str:
    """The section of a series: pings in one direction, from node 0's main memory to another
    one's.
    """
    return f"""[series.ping]
from = 0
to = {to}
directions = "one"
source = "main"
destination = "main"
message = {message}
repeats = {repeats}
"""
