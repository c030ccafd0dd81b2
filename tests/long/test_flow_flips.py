"""@fileoverview Many more flips of the inputs of every instruction form than tests/test_flow.py has time for."""

import pytest

import differential_driver as driver


@pytest.mark.parametrize("seed", range(100, 110))
def test_flipped_inputs(seed):
    outcome = driver.execute([*driver.FIXED_ADDRESSES, driver.program("flow-flip"), f"--seed={seed}", "--trials=8",
                              "--flips=40"], timeout=1200)
    assert outcome.status == 0, outcome.error
