import pytest

from numerate.errors import InputError
from numerate.models.names import SystemName

NAMES = {
    "my/bert": ("my/bert", "model", "my/bert", False),
    "ours=models/ln": ("ours", "model", "models/ln", False),
    "genbert:models/nd": ("genbert:models/nd", "genbert", "models/nd", False),
    "the paper's=mwp-bert:m": ("the paper's", "mwp-bert", "m", False),
    "w=vectors:glove=6B.txt": ("w", "vectors", "glove=6B.txt", False),
    "vectors:glove=6B.txt": ("vectors:glove=6B.txt", "vectors", "glove=6B.txt", False),
    "control:oracle": ("control:oracle", "control", "oracle", False),
    "a:b=control:oracle": ("a:b", "control", "oracle", False),
    "p=control:primed:digits:my/bert": ("p", "digits", "my/bert", True),
    "control:primed:my/bert": ("control:primed:my/bert", "model", "my/bert", True),
    "package:some_module/m": ("package:some_module/m", "model", "package:some_module/m", False),
    "runs/lr=3/model": ("runs/lr=3/model", "model", "runs/lr=3/model", False),
    "C:\\lr=3": ("C:\\lr=3", "model", "C:\\lr=3", False),
}


@pytest.mark.parametrize(("text", "parts"), NAMES.items())
def test_a_name_is_a_title_a_kind_and_a_path(text, parts):
    assert SystemName.parse(text) == SystemName(*parts)


def test_an_existing_path_has_no_title_however_it_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lr=3").mkdir()
    assert SystemName.parse("lr=3") == SystemName("lr=3", "model", "lr=3")
    assert SystemName.parse("lr=4") == SystemName("lr", "model", "4")
    assert SystemName.parse("x=lr=3") == SystemName("x", "model", "lr=3")


@pytest.mark.parametrize("text", ["=model", "title=", ""])
def test_an_empty_part_is_refused(text):
    with pytest.raises(InputError, match=r"a system must be MODEL or TITLE=MODEL"):
        SystemName.parse(text)


def test_a_system_on_disk_is_located_and_any_other_stays_a_name(tmp_path):
    assert SystemName.parse(f"genbert:{tmp_path}").location == tmp_path
    for name in ("genbert:nowhere", "control:oracle", "my/bert"):
        assert SystemName.parse(name).location == name
    with pytest.raises(InputError, match=r"the package 'nosuch' is not installed"):
        _ = SystemName.parse("package:nosuch/model").location
