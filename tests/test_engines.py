"""Engines where Ray is not needed, or is not there; `test_ray.py` runs real ones."""

import sys
from types import SimpleNamespace

import pytest

from numerate.engines import RayEngine
from numerate.errors import InputError


def test_a_ray_that_cannot_start_is_told_in_one_line(monkeypatch):
    def init(*_, **__):
        # What Ray raises after a time: no class of its own, and several lines.
        raise Exception("The current node timed out during startup.\nSee the logs of ...")

    fake = SimpleNamespace(init=init, is_initialized=lambda: False)
    monkeypatch.setitem(sys.modules, "ray", fake)
    wanted = r"ray: cannot start at 'local' \(The current node timed out during startup\.\)"
    with pytest.raises(InputError, match=wanted):
        next(RayEngine().map(str, [1]))
