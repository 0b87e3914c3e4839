"""Files of Chakra execution traces: the nodes of one rank, from the binary form or from JSON.

The binary form (``.et``) is a row of protobuf messages, each behind its length as a varint: first the metadata, then
the nodes. The messages are described here with the fields that a translation needs; others are passed over. JSON comes
in two forms: the messages one after the other, as Chakra's own ``chakra_jsonizer`` prints them, and an object with the
list ``workload_graph``, whose nodes have their attributes as plain keys. Errors name the offset in bytes, or the place
in the list.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, BinaryIO

from elanite.base import bounded
from elanite.base.foreign import reading
from elanite.errors import RunError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KINDS: tuple[str, ...] = ("INVALID", "METADATA", "MEM_LOAD", "MEM_STORE", "COMP", "COMM_SEND", "COMM_RECV", "COMM_COLL")
KINDS += ("STORAGE", "BATCH", "CHECKPOINT")
"""Types of nodes by their numbers."""
ATTRIBUTES: tuple[str, ...] = (
    "is_cpu_op",
    "involved_dim",
    "num_ops",
    "tensor_size",
    "comm_type",
    "comm_size",
    "comm_src",
    "comm_dst",
    "comm_tag",
)
ATTRIBUTES += ("pg_name", "comm_group", "ranks")
"""What a translation asks for."""


@dataclass(frozen=True)
class Node:
    """A node of the graph of a rank."""

    id: int
    name: str
    kind: str
    after: tuple[int, ...]
    """The nodes that must have ended: control and data dependencies."""
    micros: float
    """Its duration in microseconds; 0 if there is none."""
    attributes: dict[str, Any] = field(default_factory=dict)
    inputs: str = ""
    """The values of its inputs, as text; those of metadata of PyTorch are the process groups."""

    def __str__(self) -> str:
        return f"node {self.id} ({self.kind}_NODE `{self.name}`)"


# The scalar values of an attribute: the number of the field, and the type of protobuf. A list has the next number.
_SCALARS = {"double": 3, "float": 5, "int32": 7, "int64": 9, "uint32": 11, "uint64": 13, "sint32": 15, "sint64": 17}
_SCALARS |= {"fixed32": 19, "fixed64": 21, "sfixed32": 23, "sfixed64": 25, "bool": 27, "string": 29}
_LISTS = ("int32", "int64", "uint32", "uint64", "sint32", "sint64", "bool")


@cache
def messages() -> tuple[Any, Any, Any]:
    """The classes of the messages: metadata, attribute, node. Raises ``ImportError`` without protobuf."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    fields = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="elanite/chakra.proto", package="elanite.chakra", syntax="proto3")

    def message(name: str, *parts: tuple[str, int, str, bool]) -> None:
        described = file.message_type.add(name=name)
        for part, number, kind, many in parts:
            one = described.field.add(name=part, number=number)
            one.label = fields.LABEL_REPEATED if many else fields.LABEL_OPTIONAL
            if kind[0].isupper():
                one.type, one.type_name = fields.TYPE_MESSAGE, f".elanite.chakra.{kind}"
            else:
                one.type = getattr(fields, f"TYPE_{kind.upper()}")

    for kind in _LISTS:
        message(f"Many_{kind}", ("values", 1, kind, True))
    scalars = [(f"{kind}_val", number, kind, False) for kind, number in _SCALARS.items()]
    lists = [(f"{kind}_list", _SCALARS[kind] + 1, f"Many_{kind}", False) for kind in _LISTS]
    message("Attribute", ("name", 1, "string", False), *scalars, *lists)
    # One value of the many, so that a value of 0 is seen, too.
    attribute = file.message_type[-1]
    attribute.oneof_decl.add(name="value")
    for one in attribute.field[1:]:
        one.oneof_index = 0
    message("Metadata", ("version", 1, "string", False))
    message("Inputs", ("values", 1, "string", False))
    message(
        "Node",
        ("id", 1, "uint64", False),
        ("name", 2, "string", False),
        ("type", 3, "int32", False),
        ("ctrl_deps", 4, "uint64", True),
        ("data_deps", 5, "uint64", True),
        ("duration_micros", 7, "uint64", False),
        ("inputs", 8, "Inputs", False),
        ("attr", 10, "Attribute", True),
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found = (pool.FindMessageTypeByName(f"elanite.chakra.{name}") for name in ("Metadata", "Attribute", "Node"))
    metadata, attribute_class, node = (message_factory.GetMessageClass(one) for one in found)
    return metadata, attribute_class, node


def read(path: Path) -> Iterator[Node]:
    """The nodes of a file, in their order there."""
    yield from _json(path) if path.suffix == ".json" else _binary(path)


def _kind(path: Path, where: str, number: Any) -> str:
    if not isinstance(number, int) or not 0 < number < len(KINDS):
        raise RunError(f"{path}: {where}: there is no type of nodes with the number {number}")
    return KINDS[number]


def _length(path: Path, file: BinaryIO) -> int | None:
    """The length before a message; None at the end of the file."""
    value = shift = 0
    while True:
        byte = file.read(1)
        if not byte and not shift:
            return None
        if not byte or shift > 28:
            raise RunError(f"{path}: byte {file.tell()}: the length of a message is cut short or too large")
        value |= (byte[0] & 0x7F) << shift
        shift += 7
        if byte[0] < 0x80:
            return value


def _binary(path: Path) -> Iterator[Node]:
    try:
        metadata, _, node = messages()
    except ImportError:
        raise UsageError(f"{path}: traces in .et need the package protobuf; install it: pip install protobuf") from None
    with bounded.refused(path), bounded.opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        first = True
        while (length := _length(path, file)) is not None:
            at = file.tell()
            # A damaged length may be more than there is memory: it is compared before anything is read.
            if length > size - at:
                raise RunError(f"{path}: byte {at}: a message of {length} bytes is cut short; {size - at} are there")
            content = file.read(length)
            one = (metadata if first else node)()
            with reading(
                f"{path}: byte {at}", f"this is no {'metadata' if first else 'node'} of Chakra", error=RunError
            ):
                one.ParseFromString(content)
                found = None if first else _of_message(path, one, f"byte {at}")
            if found is not None:
                yield found
            first = False


def _of_message(path: Path, one: Any, where: str) -> Node:
    found = {}
    for each in one.attr:
        if each.name in ATTRIBUTES and (which := each.WhichOneof("value")):
            value = getattr(each, which)
            found[each.name] = list(value.values) if which.endswith("_list") else value
    after, kind = (*one.ctrl_deps, *one.data_deps), _kind(path, where, one.type)
    return Node(one.id, one.name, kind, after, one.duration_micros, found, one.inputs.values)


def objects(path: Path) -> list[Any]:
    """The values of a file in JSON, one after the other."""
    decoder = json.JSONDecoder()
    found: list[Any] = []
    with reading(path, "this is no JSON", error=RunError):
        text = bounded.load(path, bounded.TRACE).decode().strip()
        at = 0
        while at < len(text) or not found:
            value, end = decoder.raw_decode(text, at)
            found.append(value)
            at = end
            while at < len(text) and text[at].isspace():
                at += 1
    return found


def _json(path: Path) -> Iterator[Node]:
    whole = objects(path)
    first = whole[0] if isinstance(whole[0], dict) else {}
    if len(whole) > 1 or "version" in first:
        yield from _printed(path, whole)
        return
    graph = first.get("workload_graph")
    if first and all(isinstance(one, list) for one in first.values()) and graph is None:
        raise UsageError(f"{path}: this is a file of groups and no trace; name it with --groups")
    if not isinstance(graph, list):
        raise RunError(f"{path}: there is no list `workload_graph`, and these are no messages of `chakra_jsonizer`")
    for place, one in enumerate(graph):
        where = f"workload_graph[{place}]"
        needed = "a node has `Id`, `NodeType` and `data_deps`: a number, a number and a list of numbers"
        with reading(f"{path}: {where}", needed, error=RunError):
            after = (*one.get("ctrl_deps", ()), *one["data_deps"])
            if not all(isinstance(each, int) for each in (one["Id"], *after)):
                raise TypeError("a number is no integer")
            micros = float(one.get("runtime", 0))
            found = {name: one[name] for name in ATTRIBUTES if name in one}
            kind = _kind(path, where, one["NodeType"])
            node = Node(one["Id"], str(one.get("Name", "")), kind, after, micros, found)
        yield node


def _printed(path: Path, whole: list[Any]) -> Iterator[Node]:
    """The nodes of messages that were printed as JSON: the first one is the metadata."""
    try:
        from google.protobuf.json_format import ParseDict

        _, _, node = messages()
    except ImportError:
        raise UsageError(
            f"{path}: messages in JSON need the package protobuf; install it: pip install protobuf"
        ) from None
    kinds = {f"{kind}_NODE": number for number, kind in enumerate(KINDS)}
    for place, content in enumerate(whole[1:], 2):
        where = f"object {place}"
        with reading(f"{path}: {where}", "this is no node of Chakra", error=RunError):
            kind = content.get("type", 0)
            message = ParseDict({**content, "type": kinds.get(kind, kind)}, node(), ignore_unknown_fields=True)
            found = _of_message(path, message, where)
        yield found
