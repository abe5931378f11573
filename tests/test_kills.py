import pytest

from benchmarks.kills import COMMANDS, is_good, kill_stages


@pytest.mark.slow
@pytest.mark.parametrize("stage", COMMANDS)
def test_a_stage_that_was_killed_ends_with_the_same_bytes(stage):
    assert is_good(dict(kill_stages([stage], n_kills=2)))
