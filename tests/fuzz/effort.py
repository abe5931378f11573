"""How many examples a property is given: few in `make test`, many in `make fuzz`.

`make fuzz` sets NUMERATE_FUZZ=1; NUMERATE_FUZZ=0.1 is a tenth of it.
"""

import os
from collections import Counter

from hypothesis import HealthCheck, Phase, settings

SHARE = float(os.environ.get("NUMERATE_FUZZ") or 0)
cases = Counter()
"""The number of cases that each test has checked."""


def fuzz(quick, full):
    """Give a test `quick` examples, always the same, or `full` random ones in `make fuzz`."""
    return settings(
        max_examples=max(1, round(full * SHARE)) if SHARE else quick,
        derandomize=not SHARE,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],  # shrinking would take longer than all the rest
        suppress_health_check=list(HealthCheck),
    )


def count_cases(n=1):
    """Count cases of the test that runs."""
    test = os.environ["PYTEST_CURRENT_TEST"].rpartition("::")[2].split(" ")[0]
    cases[test] += n
