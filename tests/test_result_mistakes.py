"""Errors for range claims, point identities, and mistakes planted in the code for both."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from elanite import _core
from elanite.inputs import plan, sources
from elanite.results.numbers import number
from elanite.validation import verdict as verdicts
from elanite.validation.claim import Claim

if TYPE_CHECKING:
    import types
    from collections.abc import Callable

Module = Any
"""``elanite.validation.verdict`` or ``elanite.inputs.plan``, as it is or with a mistake."""


def check_errors(module: Module) -> None:
    """A range's error is the distance from its nearest end, as a fraction of this end."""
    claim = Claim("a", "petrini2003", "range", "a latency", low=8.0, high=10.0)
    cases = [
        (4.0, -0.5),
        (7.6, -0.05),
        (8.0, 0.0),
        (9.0, 0.0),
        (10.0, 0.0),
        (10.5, 0.05),
        (20.0, 1.0),
    ]
    for simulated, error in cases:
        verdict = module.judge(claim, number([simulated]))
        assert verdict.error == pytest.approx(error, abs=1e-12), simulated
        assert verdict.holds is (error == 0), simulated


def check_identities(module: Module) -> None:
    """Points have other identities with another model revision, and the same ones with the same
    revision.
    """

    def identities() -> set[str]:
        return {point.id for point in module.plan(sources.read("experiment", "qsnet/ping")).points}

    before = identities()
    assert identities() == before
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_core, "MODEL_REVISION", _core.MODEL_REVISION + 1)
        assert before.isdisjoint(identities())


def with_mistake(module: types.ModuleType, old: str, new: str, folder: Path) -> Module:
    """The module with one source part replaced."""
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    assert source.count(old) == 1, old
    path = folder / "wrong.py"
    path.write_text(source.replace(old, new), encoding="utf-8")
    spec = spec_from_file_location(module.__name__, path)
    assert spec
    assert spec.loader
    wrong = module_from_spec(spec)
    spec.loader.exec_module(wrong)
    return wrong


def test_the_error_of_a_range_is_that_of_its_nearest_end() -> None:
    check_errors(verdicts)


def test_identities_have_the_revision_of_the_model() -> None:
    check_identities(plan)


@pytest.mark.parametrize(
    ("module", "old", "new", "check"),
    [
        pytest.param(
            verdicts,
            "simulated / low - 1 if simulated < low else simulated / high - 1",
            "simulated / high - 1 if simulated < low else simulated / low - 1",
            check_errors,
            id="error of a range from its far end",
        ),
        pytest.param(
            verdicts,
            "return simulated / low - 1 if simulated < low else",
            "return simulated / low - 1 if simulated < high else",
            check_errors,
            id="error within a range",
        ),
        pytest.param(
            plan,
            "{key}{_core.MODEL_REVISION}",
            "{key}",
            check_identities,
            id="identity without revision",
        ),
    ],
)
def test_a_planted_mistake_is_found(
    module: types.ModuleType, old: str, new: str, check: Callable[[Module], None], tmp_path: Path
) -> None:
    with pytest.raises(AssertionError):
        check(with_mistake(module, old, new, tmp_path))
