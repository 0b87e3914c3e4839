"""Public names in their old places: they work, with a warning that names the new place."""

from __future__ import annotations

import importlib
import warnings

import pytest

import elanite as el
from elanite.migration import CALLED, MODULES, MOVED, RENAMED

NAMES = [(old, name) for old, names in MOVED.items() for name in names]


@pytest.mark.parametrize(("old", "name"), NAMES)
def test_a_moved_name_is_the_new_one_with_a_warning(old: str, name: str) -> None:
    module = importlib.import_module(old)
    place = MOVED[old][name]
    with pytest.warns(DeprecationWarning, match=rf"^{old}\.{name} is {place}\.{name} now") as told:
        found = getattr(module, name)
    assert found is getattr(importlib.import_module(place), name)
    assert told[0].filename == __file__


@pytest.mark.parametrize(
    ("place", "name"), [(place, name) for place, names in RENAMED.items() for name in names]
)
def test_a_former_name_is_the_new_one_with_a_warning(place: str, name: str) -> None:
    module = importlib.import_module(place)
    with pytest.warns(
        DeprecationWarning, match=rf"^{place}\.{name} is {place}\.{RENAMED[place][name]} now"
    ) as told:
        found = getattr(module, name)
    assert found is getattr(module, RENAMED[place][name])
    assert told[0].filename == __file__
    with pytest.raises(AttributeError, match="no attribute 'Anything'"):
        _ = module.Anything


@pytest.mark.parametrize("old", MODULES)
def test_a_renamed_module_is_found_under_its_former_name_with_a_warning(old: str) -> None:
    new = importlib.import_module(MODULES[old])
    name = next(one for one in vars(new) if not one.startswith("__"))
    with pytest.warns(
        DeprecationWarning, match=rf"^{old} is {MODULES[old]} now; the old name works"
    ) as told:
        found = getattr(importlib.import_module(old), name)
    assert found is getattr(new, name)
    assert told[0].filename == __file__
    with pytest.raises(AttributeError, match="no attribute 'Anything'"):
        _ = importlib.import_module(old).Anything


def test_all_forms_of_import_find_a_moved_name() -> None:
    for line in (
        "from elanite.plan import Point",
        "from elanite import plan; plan.Point",
        "import elanite.plan; elanite.plan.Point",
    ):
        with pytest.warns(DeprecationWarning, match=r"elanite\.inputs\.plan\.Point"):
            exec(line, {})  # noqa: S102


def test_other_names_of_an_old_module_are_errors() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'Machin'"):
        _ = importlib.import_module("elanite.api").Machin
    with pytest.raises(ModuleNotFoundError, match=r"elanite\.apis"):
        importlib.import_module("elanite.apis")


@pytest.mark.parametrize("old", CALLED)
def test_a_name_that_stands_for_a_function_can_be_called_after_its_old_module_is_imported(
    old: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    verb = CALLED[old]
    new = importlib.import_module(MOVED[old][verb])
    monkeypatch.setattr(new, verb, lambda *values, **named: (values, named))
    assert importlib.import_module(old)("a", b=1) == (("a",), {"b": 1})


def test_names_of_the_library_have_not_moved() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(callable(getattr(el, name)) for name in el.__all__)
