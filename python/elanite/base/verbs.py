"""Modules that are also called.

``el.mpirun(...)`` starts a program, and ``elanite.mpirun`` is the package that does this: Python
binds a loaded submodule to its name in the package, whatever other object has this name. So the
module itself is callable, and means the same in both roles.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def callable_module(name: str, verb: Callable[..., object]) -> None:
    """Make a loaded module callable as one of its functions; the module then has the function's
    signature and help.
    """

    def signature(module: ModuleType) -> object:
        del module
        import inspect

        return inspect.signature(verb)

    members = {
        "__call__": staticmethod(verb),
        "__signature__": property(signature),
        "__slots__": (),
    }
    sys.modules[name].__class__ = type("Verb", (ModuleType,), members)
