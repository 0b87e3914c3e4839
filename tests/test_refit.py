"""The joint refit: errors in tolerances, closed directions, and a displaced value that is found
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from elanite import campaign
from elanite.errors import UsageError
from elanite.inputs.machine import Machine
from elanite.store import Store
from elanite.study.basis import Study, study
from elanite.study.refit import ClaimSearch, Ends, Residuals, adjustable, fitted, refit
from elanite.validation.claim import fitted_parameters

OPTERON = "opteron-qsnet2"
HANDLE = "tport.handle"


def displaced(factor: float) -> Study:
    """A machine study with another fitted value, and the claim to which it was fitted."""
    chosen = study(OPTERON, ["qsnet2.uni.latency", "qsnet2.bi.bandwidth"])
    file = chosen.machine.file
    own = f"{HANDLE.split('.')[1]} = {{ value = {chosen.machine[HANDLE]},"
    assert own in file.text
    other = own.replace(str(chosen.machine[HANDLE]), str(round(chosen.machine[HANDLE] * factor)))
    return replace(chosen, machine=Machine.of(replace(file, text=file.text.replace(own, other))))


def halving(errors: Residuals, start: list[float], ends: Sequence[Ends]) -> list[float]:
    """The zero of one error over one factor."""
    ((low, high),), _ = ends, start
    for _ in range(8):
        middle = (low + high) / 2
        low, high = (low, middle) if errors([middle])[0] > 0 else (middle, high)
    return [middle]


def search(chosen: Study, folder: Path) -> ClaimSearch:
    parameters, _ = adjustable(chosen)
    store = Store(folder / "store")
    simulate = partial(campaign.run, store=store, jobs=1)
    return ClaimSearch(chosen, parameters, fitted(chosen), store, simulate)


def test_a_displaced_value_is_found_again(tmp_path: Path) -> None:
    chosen = displaced(1.4)
    here = search(chosen, tmp_path)
    assert [each.key for each in here.parameters] == [HANDLE]
    assert [claim.id for claim in here.taken] == ["qsnet2.uni.latency"]
    own = here.texts([1.0])
    (before,) = here.residuals(own)
    assert before > 1, "out of tolerance"
    best = here.texts(here.nearest([1.0], halving))
    (after,) = here.residuals(best)
    assert abs(after) < 0.15
    (text,) = best
    assert int(text) == pytest.approx(study(OPTERON, ["qsnet2.uni"]).machine[HANDLE], rel=0.05)
    verdicts = [here.verdicts(texts) for texts in (own, best)]
    assert [found["qsnet2.uni.latency"].holds for found in verdicts] == [False, True]
    assert "qsnet2.bi.bandwidth" in verdicts[1], "predicted claims are measured, too"


def test_a_search_that_finds_nothing_better_changes_nothing(tmp_path: Path) -> None:
    here = search(study(OPTERON, ["qsnet2.uni.latency"]), tmp_path)
    assert here.nearest([1.0], lambda _errors, _start, _ends: [1.5]) == [1.0]
    assert here.texts([1.0]) == (str(here.parameters[0].value),)


def test_parameters_without_values_nearby_stay() -> None:
    chosen = study("es40-qsnet", ["ping", "permutation"])
    moved, stay = adjustable(chosen)
    assert {each.key for each in moved} | set(stay) == {
        each.key for each in chosen.machine.parameters if each.fitted_to
    }
    assert "adapter.packets_in_flight" in stay
    assert "switch.multiplexing" in stay
    assert all(set(each.fitted_to) & chosen.parts.keys() for each in moved)
    _, stay = adjustable(study(OPTERON, ["qsnet2.noise"]))  # a finding, which has no error
    assert "noise.kernel.duration" in stay


def test_there_must_be_something_to_fit(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"{OPTERON} has no fitted parameter that can change"):
        refit(study(OPTERON, ["qsnet2.bi.bandwidth"]), Store(tmp_path / "store"))


def test_scipy_finds_a_displaced_value_again(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    found = refit(displaced(1.4), Store(tmp_path / "store"), jobs=1)
    assert found.before > 1 > found.after
    (value,) = found.values
    assert (value.key, value.before) == (HANDLE, str(displaced(1.4).machine[HANDLE]))
    assert int(value.after) < int(value.before)
    assert (
        next(before.claim.id for before, _ in found.verdicts)
        == found.taken[0]
        == "qsnet2.uni.latency"
    )


def test_few_parameters_are_fitted() -> None:
    papers = {"es40-qsnet": 13, OPTERON: 4, "smart-multirail": 2}
    today = {"infiniband-ndr": 1, "rail-optimised": 1, "slingshot-dragonfly": 1}
    most = papers | today
    assert fitted_parameters().keys() == most.keys()
    assert {
        name for name, parameters in fitted_parameters().items() if len(parameters) > most[name]
    } == set()
