"""Chakra execution traces in JSON, in three forms.

| form | writer | a node |
|---|---|---|
| messages one after the other | ``chakra_jsonizer`` | a protobuf message, as protobuf prints it |
| an object with the list ``workload_graph`` | for MLCommons' feeder | ``Id``, ``NodeType``, ... |
| an object with the list ``nodes`` | symbolic tensor graphs (STAGE) | ``id``, ``node_type``, ... |

The two objects have a node's attributes as keys. The last form names types (``comm_send_node``) and
operations (``ALL_REDUCE``). Errors name the place in the list. PyTorch's own traces, which have a
list ``nodes``, too, and a ``schema``, are refused: they lack the accelerator's messages, which
``chakra_trace_link`` and ``chakra_converter`` add.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

from elanite.base import bounded, packed
from elanite.base.foreign import optional, reading
from elanite.errors import RunError, UsageError
from elanite.traces import chakra_schema
from elanite.traces.chakra_node import ATTRIBUTES, Node, kind_of, of_message
from elanite.traces.chakra_schema import COLLECTIVES, KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NAMED = {f"{kind}_node".lower(): number for number, kind in enumerate(KINDS)}
_NAMED["coll_comm_node"] = KINDS.index("COMM_COLL")
"""Node types by STAGE name."""


def objects(path: Path) -> list[object]:
    """A JSON file's values, one after the other."""
    decoder = json.JSONDecoder()
    found: list[object] = []
    with reading(path, "this is not JSON", error=RunError):
        content = packed.unpacked(bounded.load(path, bounded.TRACE), path, bounded.TRACE)
        text = content.decode("utf-8-sig").strip()
        at = 0
        while at < len(text) or not found:
            value, end = decoder.raw_decode(text, at)
            found.append(value)
            at = end
            while at < len(text) and text[at].isspace():
                at += 1
    return found


def nodes(path: Path) -> Iterator[Node]:
    """A file's nodes, in their order there."""
    whole = objects(path)
    first = whole[0] if isinstance(whole[0], dict) else {}
    if len(whole) > 1 or "version" in first:
        yield from _printed(path, whole)
        return
    key = "workload_graph" if "workload_graph" in first else "nodes"
    graph = first.get(key)
    if "traceEvents" in first:
        raise UsageError(
            f"{path}: this is a trace of PyTorch's profiler (Kineto); merge it with PyTorch's"
            " execution trace (`chakra_trace_link`), and convert it (`chakra_converter PyTorch`)"
        )
    if first and graph is None and all(isinstance(one, list) for one in first.values()):
        raise UsageError(f"{path}: this is a file of groups and no trace; name it with --groups")
    if not isinstance(graph, list):
        raise RunError(
            f"{path}: there is no list `workload_graph`, and these are no messages of"
            " `chakra_jsonizer`"
        )
    if "schema" in first:
        _refuse_pytorch(path, str(first["schema"]))
    for place, one in enumerate(graph):
        where = f"{key}[{place}]"
        with reading(f"{path}: {where}", _NEEDED[key], error=RunError):
            node = (_plain if key == "workload_graph" else _named)(path, where, one)
        yield node


_NEEDED = {
    "workload_graph": "a node has `Id` and `NodeType`, and `data_deps` is a list of numbers",
    "nodes": "a node has `id` and `node_type`, and `data_deps` is a list of numbers",
}


def _refuse_pytorch(path: Path, schema: str) -> NoReturn:
    raise UsageError(
        f"{path}: this is an execution trace of PyTorch (schema {schema}), of the host alone; merge"
        " it with the trace of its profiler (`chakra_trace_link`), and convert it"
        " (`chakra_converter PyTorch`)"
    )


def _whole(*numbers: object) -> None:
    if not all(type(each) is int for each in numbers):
        raise TypeError("a number is no integer")


def _micros(one: Any) -> float:
    """A node's duration, by the feeder's key or by that of the messages."""
    return float(one.get("runtime", one.get("duration_micros", 0)))


def _plain(path: Path, where: str, one: Any) -> Node:
    """A node from a ``workload_graph``. Raises any exception for a wrong one."""
    after, control = tuple(one.get("data_deps", ())), tuple(one.get("ctrl_deps", ()))
    _whole(one["Id"], *after, *control)
    found = {name: one[name] for name in ATTRIBUTES if name in one}
    kind = kind_of(path, where, one["NodeType"])
    return Node(
        one["Id"],
        str(one.get("Name", "")),
        kind,
        after,
        _micros(one),
        found,
        "",
        control,
    )


def _named(path: Path, where: str, one: Any) -> Node:
    """A node from ``nodes``. Raises any exception for a wrong one."""
    after, control = tuple(one.get("data_deps", ())), tuple(one.get("ctrl_deps", ()))
    _whole(one["id"], *after, *control)
    found = {name: one[name] for name in ATTRIBUTES if name in one}
    if "comm_type" in found:
        named = str(found["comm_type"]).upper()
        if named not in COLLECTIVES:
            raise RunError(
                f"{path}: {where}: there is no collective operation with the name"
                f" {found['comm_type']}"
            )
        found["comm_type"] = COLLECTIVES.index(named)
    if one["node_type"] not in _NAMED:
        raise RunError(
            f"{path}: {where}: there is no type of nodes with the name {one['node_type']}"
        )
    kind = KINDS[_NAMED[one["node_type"]]]
    return Node(one["id"], str(one.get("name", "")), kind, after, _micros(one), found, "", control)


def _printed(path: Path, whole: list[object]) -> Iterator[Node]:
    """The nodes from messages that were printed as JSON: the first one is the metadata."""
    with optional(
        f"{path}: messages in JSON need the package protobuf; install it: pip install protobuf"
    ):
        from google.protobuf.json_format import ParseDict

        _, _, node = chakra_schema.messages()
    kinds = {f"{kind}_NODE": number for number, kind in enumerate(KINDS)}
    for place, content in enumerate(whole[1:], 2):
        where = f"object {place}"
        with reading(f"{path}: {where}", "this is not a node of Chakra", error=RunError):
            if not isinstance(content, dict):
                raise TypeError("a message is no object")
            kind = content.get("type", 0)
            message = ParseDict(
                {**content, "type": kinds.get(kind, kind)}, node(), ignore_unknown_fields=True
            )
            found = of_message(path, message, where)
        yield found
