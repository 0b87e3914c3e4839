"""Compressed files and byte order marks: networks and traces as people publish them."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest

from elanite import formats
from elanite.base import packed
from elanite.errors import ElaniteError, UsageError
from elanite.traces import translate
from elanite.traces.chakra_reading import ReadingOptions, Roofline
from formats_files import ALL
from test_chakra_forms import binary, graphs, of_stage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("name", sorted(ALL))
def test_networks(tmp_path: Path, name: str, ending: str) -> None:
    plain, file = tmp_path / "plain", tmp_path / f"file{ending}"
    plain.write_text(ALL[name])
    file.write_bytes(PACKERS[ending](ALL[name].encode()))
    (format_, network), (other, found) = formats.read(plain), formats.read(file)
    assert (other, found) == (format_, network)


@pytest.mark.parametrize("ending", PACKERS)
def test_chakra(tmp_path: Path, ending: str) -> None:
    for writer, suffix in ((binary, ".et"), (of_stage, ".json")):
        plain, files = [], []
        for rank, graph in enumerate(graphs()):
            plain.append(tmp_path / f"job.{rank}{suffix}")
            writer(plain[-1], graph)
            files.append(tmp_path / f"job.{rank}{suffix}{ending}")
            files[-1].write_bytes(PACKERS[ending](plain[-1].read_bytes()))
        how = ReadingOptions(roofline=Roofline(1e12, 1e11))
        wanted = translate(plain, tmp_path / "plain.goal", how).path.read_bytes()
        assert translate(files, tmp_path / "file.goal", how).path.read_bytes() == wanted


def test_archives_and_other_compressors_are_named(tmp_path: Path) -> None:
    tar, archive = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:gz") as into:
        into.addfile(tarfile.TarInfo("job.0.et"), io.BytesIO())
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("job.0.et", "a")
    for content, said in (
        (tar.getvalue(), r"this is an archive \(tar\); unpack it: tar -xf FILE"),
        (gzip.decompress(tar.getvalue()), r"this is an archive \(tar\); unpack it"),
        (archive.getvalue(), r"this is an archive \(zip\); unpack it: unzip FILE"),
        (b"\x28\xb5\x2f\xfd\x04", r"this is compressed by zstd; decompress it: unzstd FILE"),
    ):
        for name, read in (
            ("net.txt", formats.read),
            ("job.0.et", lambda file: translate([file], tmp_path / "out.goal")),
        ):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(ElaniteError, match=rf"^{tmp_path / name}: {said}"):
                read(tmp_path / name)  # type: ignore[operator]


def test_broken_and_endless_files(tmp_path: Path) -> None:
    file = tmp_path / "net.gz"
    whole = gzip.compress(b"a b\n" * 10_000)
    with pytest.raises(UsageError, match=r"net\.gz: it has more than the 4,000 bytes that are"):
        packed.unpacked(whole, file, 4_000)
    assert len(packed.unpacked(whole, file, 40_000)) == 40_000
    for broken in (whole[:-20], whole[:40] + b"\0\0\0\0" + whole[44:]):
        with pytest.raises(UsageError, match=r"net\.gz: it is compressed by gzip, and broken"):
            packed.unpacked(broken, file, 40_000)
