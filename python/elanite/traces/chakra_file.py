"""Chakra execution trace files: one rank's nodes, from the binary form or from JSON.

A file's contents decide its form, since names do not: JSON begins with a brace
(``elanite.traces.chakra_json``). The binary form is a sequence of protobuf messages, each behind
its length as a varint. Schema version 0.0.4 begins with metadata, whose first field is a text;
version 0.0.1 has nodes alone, whose first field is a number. Nodes in version 0.0.1 get the names
and numbers from 0.0.4; their durations are in nanoseconds, as ASTRA-sim took them, which counted
them in 1 GHz ticks. Errors name the offset in bytes.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, BinaryIO

from elanite.base import packed
from elanite.base.foreign import optional, reading
from elanite.errors import RunError
from elanite.traces import chakra_json, chakra_schema
from elanite.traces.chakra_node import Node, kind_of, of_message
from elanite.traces.chakra_schema import FORMER_COLLECTIVES, FORMER_FIELDS, FORMER_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from google.protobuf.message import Message

_FORMER = 0x08
"""The first byte of a node in version 0.0.1: field 1, a number."""
_SPACE = b" \t\r\n"


def is_json(path: Path) -> bool:
    """Whether a file is text in JSON: a brace or bracket, and behind spaces no binary character.

    The brace alone is also the length of a binary message with 123 bytes, in which the first field
    has a new line's byte; the length of a text under 32 bytes comes next, and JSON text never has
    such a character.
    """
    with packed.opened(path) as (file, _):
        begin = file.read(4096).removeprefix(codecs.BOM_UTF8).lstrip(_SPACE)
    if not begin:
        raise RunError(f"{path}: the file is empty")
    behind = begin[1:].lstrip(_SPACE)[:1]
    return begin[:1] in (b"{", b"[") and (not behind or behind[0] >= 32)


def read(path: Path) -> Iterator[Node]:
    """A file's nodes, in their order there."""
    yield from chakra_json.nodes(path) if is_json(path) else _binary(path)


def _length(path: Path, file: BinaryIO) -> int | None:
    """The length before a message; `None` at the file's end."""
    value = shift = 0
    while True:
        byte = file.read(1)
        if not byte and not shift:
            return None
        if not byte or shift > 28:
            raise RunError(
                f"{path}: byte {file.tell()}: the length of a message is cut short or too large"
            )
        value |= (byte[0] & 0x7F) << shift
        shift += 7
        if byte[0] < 0x80:
            return value


def _binary(path: Path) -> Iterator[Node]:
    with optional(
        f"{path}: traces in .et need the package protobuf; install it: pip install protobuf"
    ):
        metadata, _, made = chakra_schema.messages()
        former = chakra_schema.former()
    with packed.opened(path) as (file, size):
        first, node = True, of_message
        while (length := _length(path, file)) is not None:
            at = file.tell()
            # A damaged length may be more than there is memory: it is compared before anything is
            # read.
            if length > size - at:
                raise RunError(
                    f"{path}: byte {at}: a message of {length} bytes is cut short; {size - at} are"
                    " there"
                )
            content = file.read(length)
            if first and content[:1] == bytes([_FORMER]):
                first, made, node = False, former, _of_former
            one = (metadata if first else made)()
            with reading(
                f"{path}: byte {at}",
                f"this is not {'metadata' if first else 'a node'} of Chakra",
                error=RunError,
            ):
                one.ParseFromString(content)
                found = None if first else node(path, one, f"byte {at}")
            if found is not None:
                yield found
            first = False


def _of_former(path: Path, one: Message, where: str) -> Node:
    """The node from a version 0.0.1 message; this version has no host nodes."""
    found: dict[str, object] = {
        name: getattr(one, name) for name in FORMER_FIELDS if one.HasField(name)
    }
    if one.involved_dim:
        found["involved_dim"] = list(one.involved_dim)
    if "communicator_id" in found:
        found["comm_group"] = str(found.pop("communicator_id"))
    if found.pop("comm_type", 0):
        if one.comm_type >= len(FORMER_COLLECTIVES):
            raise RunError(
                f"{path}: {where}: there is no collective operation with the number {one.comm_type}"
            )
        found["comm_type"] = chakra_schema.COLLECTIVES.index(FORMER_COLLECTIVES[one.comm_type])
    kind = kind_of(path, where, one.node_type, FORMER_KINDS)
    return Node(one.id, one.name, kind, tuple(one.parent), one.simulated_run_time / 1000, found)
