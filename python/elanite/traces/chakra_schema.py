"""The protobuf messages in Chakra execution traces, in both schema versions.

Version 0.0.4 (https://github.com/mlcommons/chakra, ``schema/protobuf/et_def.proto``) has attributes
by name. Version 0.0.1, which symbolic tensor graphs still write, has a field for each. The messages
are described here with the fields that a translation needs; others are passed over.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Add = Callable[..., None]

KINDS: tuple[str, ...] = (
    "INVALID",
    "METADATA",
    "MEM_LOAD",
    "MEM_STORE",
    "COMP",
    "COMM_SEND",
    "COMM_RECV",
    "COMM_COLL",
)
KINDS += ("STORAGE", "BATCH", "CHECKPOINT")
"""Node types by number."""
COLLECTIVES: tuple[str, ...] = (
    "ALL_REDUCE",
    "REDUCE",
    "ALL_GATHER",
    "GATHER",
    "SCATTER",
    "BROADCAST",
    "ALL_TO_ALL",
)
COLLECTIVES += ("REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER")
"""Collective operations by ``comm_type`` number."""
FORMER_KINDS: tuple[str, ...] = (
    "INVALID",
    "MEM_LOAD",
    "MEM_STORE",
    "COMP",
    "COMM_SEND",
    "COMM_RECV",
    "COMM_COLL",
)
"""Node types by number in version 0.0.1."""
FORMER_COLLECTIVES: tuple[str, ...] = (
    "",
    "ALL_REDUCE",
    "ALL_TO_ALL",
    "ALL_GATHER",
    "REDUCE_SCATTER",
)
"""Collective operations by number in version 0.0.1; 0 is unused."""
FORMER_FIELDS = {
    "tensor_size": 6,
    "num_ops": 12,
    "comm_type": 13,
    "communicator_id": 15,
    "comm_src": 16,
    "comm_dst": 17,
    "comm_size": 18,
    "comm_tag": 19,
}
"""Attributes that are node fields in version 0.0.1."""

# An attribute's scalar values: the field number, and the protobuf type. A list has the next number.
_SCALARS = {
    "double": 3,
    "float": 5,
    "int32": 7,
    "int64": 9,
    "uint32": 11,
    "uint64": 13,
    "sint32": 15,
    "sint64": 17,
}
_SCALARS |= {"fixed32": 19, "fixed64": 21, "sfixed32": 23, "sfixed64": 25, "bool": 27, "string": 29}
_LISTS = ("int32", "int64", "uint32", "uint64", "sint32", "sint64", "bool")


def _classes(
    package: str, syntax: str, describe: Callable[[Any, Add], tuple[str, ...]]
) -> tuple[Any, ...]:
    """The classes for the messages that ``describe`` adds to a file, in the order of its returned
    names.
    """
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    fields = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{package}.proto", package=package, syntax=syntax
    )

    def message(name: str, *parts: tuple[str, int, str, bool]) -> None:
        described = file.message_type.add(name=name)
        for part, number, kind, many in parts:
            one = described.field.add(name=part, number=number)
            one.label = fields.LABEL_REPEATED if many else fields.LABEL_OPTIONAL
            if kind[0].isupper():
                one.type, one.type_name = fields.TYPE_MESSAGE, f".{package}.{kind}"
            else:
                one.type = getattr(fields, f"TYPE_{kind.upper()}")

    names = describe(file, message)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found = (pool.FindMessageTypeByName(f"{package}.{name}") for name in names)
    return tuple(message_factory.GetMessageClass(one) for one in found)


@cache
def messages() -> tuple[Any, Any, Any]:
    """The message classes: metadata, attribute, node. Raises ``ImportError`` without protobuf."""

    def describe(file: Any, message: Add) -> tuple[str, ...]:
        for kind in _LISTS:
            message(f"Many_{kind}", ("values", 1, kind, True))
        scalars = [(f"{kind}_val", number, kind, False) for kind, number in _SCALARS.items()]
        lists = [(f"{kind}_list", _SCALARS[kind] + 1, f"Many_{kind}", False) for kind in _LISTS]
        message("Attribute", ("name", 1, "string", False), *scalars, *lists)
        # A oneof, so that a value 0 is seen, too.
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
        return "Metadata", "Attribute", "Node"

    metadata, attribute, node = _classes("elanite.chakra", "proto3", describe)
    return metadata, attribute, node


@cache
def former() -> Any:
    """The node class for version 0.0.1, in which files have no metadata.

    Raises ``ImportError`` without protobuf.
    """

    def describe(_: Any, message: Add) -> tuple[str, ...]:
        message(
            "Node",
            ("id", 1, "uint64", False),
            ("name", 2, "string", False),
            ("node_type", 3, "int32", False),
            ("parent", 4, "uint64", True),
            ("simulated_run_time", 7, "uint64", False),
            ("involved_dim", 14, "bool", True),
            *((name, number, "uint64", False) for name, number in FORMER_FIELDS.items()),
        )
        return ("Node",)

    # In proto2, a field that is not given differs from one with the value 0.
    return _classes("elanite.chakra.former", "proto2", describe)[0]
