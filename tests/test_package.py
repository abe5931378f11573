import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import numerate
from tools.render_docs import README


def test_every_public_name_is_what_the_stub_says():
    stub = Path(numerate.__file__).with_suffix(".pyi").read_text()
    lines = [line.split() for line in stub.splitlines() if line.startswith("from ")]
    assert [line[3] for line in lines] == [line[5] for line in lines]
    assert sorted(line[3] for line in lines) == numerate.__all__
    for _, module, _, name, *_ in lines:
        found = getattr(numerate, name)
        assert inspect.getmodule(found).__name__ == module
    assert "__version__" in dir(numerate)


def test_names_that_do_not_exist_are_attribute_errors():
    assert not hasattr(numerate, "nosuch")


def test_a_missing_library_is_named_with_the_extra_that_brings_it():
    code = "import sys; sys.modules['torch'] = None; import numerate; numerate.load"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    named = "numerate.load needs torch: pip install 'numerate[embed]'"
    assert last == f"numerate.errors.MissingExtraError: {named}"
    project = tomllib.loads((README.parent / "pyproject.toml").read_text())["project"]
    assert set(numerate._EXTRAS.values()) <= project["optional-dependencies"].keys()
