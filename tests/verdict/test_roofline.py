"""What memory and tensor cores allow, and what they cannot do."""

from __future__ import annotations

import pytest

from tlpuzzles.verdict.measured import Limits
from tlpuzzles.verdict.roofline import beyond_physics, fraction, peak_gbps, peak_tflops, place

H200 = Limits(copy_gbps=4230, matrix_tflops=704, peak_gbps=4917, peak_tflops=1070)
UNKNOWN = Limits(copy_gbps=4230, matrix_tflops=704)
ADD = (1 << 26, 3 * 4 << 26)
"""Operations and bytes of 2^26 float32 additions."""
GEMM = (2 * 4096**3, 3 * 2 * 4096**2)


@pytest.mark.parametrize(
    ("arch", "sms", "mhz", "data_sheet"),
    [
        ("sm_75", 40, 1590, 65),  # T4
        ("sm_80", 108, 1410, 312),  # A100
        ("sm_86", 72, 1695, 125),  # A10
        ("sm_89", 58, 2040, 121),  # L4
        ("sm_90a", 132, 1830, 989),  # H100 SXM
    ],
)
def test_peak_rates_are_those_of_the_data_sheets(arch: str, sms: int, mhz: int, data_sheet: float) -> None:
    assert peak_tflops(arch, sms, mhz) == pytest.approx(data_sheet, rel=0.005)


def test_the_peak_of_an_unknown_architecture_is_unknown() -> None:
    assert peak_tflops("sm_100a", 148, 1965) is None


@pytest.mark.parametrize(
    ("mhz", "bits", "data_sheet"),
    [(5001, 256, 320), (1215, 5120, 1555), (6251, 192, 300), (2619, 5120, 3350), (3201, 6144, 4900)],
    ids=["T4", "A100", "L4", "H100", "H200"],
)
def test_peak_bandwidths_are_those_of_the_data_sheets(mhz: int, bits: int, data_sheet: float) -> None:
    assert peak_gbps(mhz, bits) == pytest.approx(data_sheet, rel=0.005)


def test_a_vector_add_is_bound_by_memory() -> None:
    placed = place(*ADD, H200)
    assert placed.bound == "memory"
    assert placed.limit_milliseconds == pytest.approx(805.3 / 4230, rel=1e-4)
    assert fraction(placed, 0.1890) == pytest.approx(1.007, abs=1e-3)
    assert placed.baseline_fraction is None


def test_a_large_product_is_bound_by_arithmetic() -> None:
    placed = place(*GEMM, H200, baseline_milliseconds=0.1801)
    assert placed.bound == "arithmetic"
    assert placed.limit_milliseconds == pytest.approx(137.4 / 704, rel=1e-3)
    assert fraction(placed, 2 * placed.limit_milliseconds) == 0.5
    assert placed.baseline_fraction == pytest.approx(placed.limit_milliseconds / 0.1801)


@pytest.mark.parametrize("limits", [H200, UNKNOWN])
@pytest.mark.parametrize(("problem", "milliseconds"), [(ADD, 0.1890), (GEMM, 0.1801)])
def test_what_an_h200_reached_is_possible(problem: tuple[int, int], milliseconds: float, limits: Limits) -> None:
    assert beyond_physics(*problem, milliseconds, limits) is None


@pytest.mark.parametrize(
    ("problem", "milliseconds", "limits", "says"),
    [
        (ADD, 0.1890 / 2, H200, "0.0945 ms to move 805 MB is less than the 0.1638 ms that 4,917 GB/s, the GPU's peak"),
        (
            GEMM,
            0.1860 / 2,
            H200,
            "0.093 ms for 137 GFLOP is less than the 0.1284 ms that 1,070 TFLOP/s, the GPU's peak",
        ),
        (ADD, 0.1890 / 2, UNKNOWN, "that 5,499 GB/s, 1.3 times what was measured here, would take"),
        (GEMM, 0.1860 / 2, UNKNOWN, "that 915 TFLOP/s, 1.3 times what was measured here, would take"),
    ],
)
def test_half_of_the_work_is_too_fast(problem: tuple[int, int], milliseconds: float, limits: Limits, says: str) -> None:
    assert says in (beyond_physics(*problem, milliseconds, limits) or "")


def test_a_short_time_has_the_slack_of_its_events() -> None:
    """2 us at the peak, timed as 1.2: the events are that coarse. 0.2 ms that seem 40 % less are another matter."""
    two_us = (0, int(2e-3 * 4917 * 1e6))
    assert beyond_physics(*two_us, 0.0012, H200) is None
    assert beyond_physics(0, 100 * two_us[1], 0.12, H200) is not None


def test_clocks_may_be_a_little_higher_than_they_say() -> None:
    at_peak = 2 * 4096**3 / 1070 / 1e9
    assert beyond_physics(*GEMM, 0.96 * at_peak, H200) is None
    assert beyond_physics(*GEMM, 0.93 * at_peak, H200) is not None
