"""The pages' Vega libraries, and the place where they are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from elanite.figures import vega


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which versions were made; the script is a short one."""
    versions: list[str] = []
    monkeypatch.setattr(
        vega, "_made", lambda wanted: versions.append(wanted) or f"/* µ {len(versions)} */"
    )
    monkeypatch.setattr(vega, "libraries", vega.libraries.__wrapped__)
    return versions


def test_they_are_made_once(
    made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert [vega.libraries() for _ in range(3)] == ["/* µ 1 */"] * 3
    assert len(made) == 1
    (kept,) = (tmp_path / "elanite").iterdir()
    assert made[0] in kept.name
    kept.write_bytes(b"\xff")
    assert vega.libraries() == "/* µ 2 */"
    assert kept.read_text(encoding="utf-8") == "/* µ 2 */"


@pytest.mark.usefixtures("made")
def test_no_place_to_keep_them_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert [vega.libraries() for _ in range(2)] == ["/* µ 1 */", "/* µ 2 */"]


def test_they_may_stand_inside_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    script = vega.libraries.__wrapped__()
    assert "vegaEmbed" in script
    assert len(script) > 500_000
    assert "</script" not in script
    assert "<!--" not in script
