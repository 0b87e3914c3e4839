"""GOAL files as people publish them: compressed, or with a byte order mark."""

from __future__ import annotations

import io
import json
import tarfile
from typing import TYPE_CHECKING

import pytest

from elanite.errors import ElaniteError
from elanite.traces import goal_file
from elanite.traces.replay import replay
from test_packed import PACKERS

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Elanite

GOAL = """\
num_ranks 2
rank 0 {
l1: send 8b to 1 tag 3
}
rank 1 {
l1: recv 8b from 0 tag 3
}
"""


@pytest.mark.parametrize("ending", PACKERS)
def test_goal(tmp_path: Path, ending: str) -> None:
    plain, file = tmp_path / "plain.goal", tmp_path / f"file.goal{ending}"
    plain.write_text(GOAL)
    file.write_bytes(PACKERS[ending](GOAL.encode()))
    found, wanted = replay(file).summary, replay(plain).summary
    assert (found, found["messages"], found["bytes"]) == (wanted, 1, 8)
    file.write_bytes(PACKERS[ending](GOAL.replace("to 1", "to 7").encode()))
    with pytest.raises(ElaniteError, match=rf"^{file}:3: "):
        goal_file.read(file)


def test_goal_with_a_byte_order_mark(tmp_path: Path, elanite: Elanite) -> None:
    (tmp_path / "marked.goal").write_bytes(GOAL.encode("utf-8-sig"))
    assert replay(tmp_path / "marked.goal").summary["messages"] == 1
    (tmp_path / "wide.goal").write_bytes(GOAL.encode("utf-16"))
    ended = elanite("replay", "wide.goal", "--format", "json")
    assert (ended.code, json.loads(ended.out)["messages"]) == (0, 1), ended
    (tmp_path / "wide.goal").write_bytes(GOAL.encode("utf-16")[:-1])
    ended = elanite("replay", "wide.goal")
    assert ended.code == 2
    assert "wide.goal: it begins as a text in UTF-16, and is none" in ended.err


def test_files_of_the_product_may_have_a_byte_order_mark(tmp_path: Path, elanite: Elanite) -> None:
    (tmp_path / "net.txt").write_bytes(b"\xef\xbb\xbfswitch s\nnode a\nnode b\na s\nb s\n")
    assert elanite("import", "net.txt", "--output", "net.toml").code == 0
    for name in ("net.toml", "net.graph.txt", "net.placement.txt"):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + (tmp_path / name).read_bytes())
    (tmp_path / "job.goal").write_text(GOAL)
    given = ("--machine", "net.toml", "--placement", "net.placement.txt")
    ended = elanite("replay", "job.goal", *given)
    assert ended.code == 0, ended


def test_archives_are_named(tmp_path: Path) -> None:
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:gz") as into:
        into.addfile(tarfile.TarInfo("job.goal"), io.BytesIO())
    (tmp_path / "job.goal").write_bytes(tar.getvalue())
    with pytest.raises(ElaniteError, match=r"job\.goal: this is an archive \(tar\); unpack it"):
        goal_file.read(tmp_path / "job.goal")


def test_files_of_an_experiment(tmp_path: Path, elanite: Elanite) -> None:
    """A byte order mark is skipped; compressed files are named, as their bytes are the point's."""
    flows = "start,source,destination,size\n0 us,0,1,64 B\n"
    kinds = {"traces": (GOAL, 'nodes = "0-1"\n'), "flows": (flows, "")}
    for kind, (text, more) in kinds.items():
        (tmp_path / "own.toml").write_text(
            'title = "Own"\nmachine = "infiniband-ndr"\n[[series]]\nname = "own"\n'
            f'[series.{kind}.one]\nfile = "data"\n{more}'
        )
        (tmp_path / "data").write_bytes(text.encode("utf-8-sig"))
        ended = elanite("check", "own.toml")
        assert ended.code == 0, ended
        (tmp_path / "data").write_bytes(PACKERS[".gz"](text.encode()))
        ended = elanite("check", "own.toml")
        assert ended.code != 0
        assert "is compressed by gzip; decompress it: gunzip FILE" in ended.err
        assert "own.toml:6:8" in ended.err
