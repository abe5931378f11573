import pytest

from numerate.errors import InputError
from numerate.extract.counts import Counts
from numerate.fit.fitting import fit_anchors, sweep_components
from numerate.report.figures import draw_number_line, draw_sweep

COUNTS = Counts({n: 1 + 1000 // n for n in range(1, 3000)})


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_the_same_figure_is_the_same_bytes(tmp_path, suffix):
    anchors = fit_anchors(COUNTS, n_components=20, scale="ln")
    sweep = sweep_components(COUNTS, [5, 10])
    for name in ("a", "b"):
        draw_number_line(COUNTS, anchors, tmp_path / f"line-{name}{suffix}")
        draw_sweep(sweep, tmp_path / f"sweep-{name}{suffix}")
    for kind in ("line", "sweep"):
        first, second = ((tmp_path / f"{kind}-{name}{suffix}").read_bytes() for name in "ab")
        assert first == second
        assert first[:4] == {".png": b"\x89PNG", ".svg": b"<?xm"}[suffix]


def test_a_figure_of_another_kind_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"plot must end in \.png or \.svg, got a\.doc"):
        draw_sweep(sweep_components(COUNTS, [5]), type(tmp_path)("a.doc"))
