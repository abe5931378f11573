import pytest
from transformers.utils import logging

from numerate.progress import show_training


@pytest.mark.parametrize("raises", [False, True])
def test_transformers_is_as_talkative_after_a_training_as_before(raises):
    logging.enable_progress_bar()
    logging.set_verbosity_info()
    try:
        with show_training(quiet=True):
            assert logging.get_verbosity() == logging.ERROR
            assert not logging.is_progress_bar_enabled()
            if raises:
                raise KeyError
    except KeyError:
        pass
    assert logging.get_verbosity() == logging.INFO
    assert logging.is_progress_bar_enabled()
    logging.set_verbosity_warning()
    logging.disable_progress_bar()
