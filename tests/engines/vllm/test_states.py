"""What one rank keeps of one sequence in a recurrent layer, by release."""

from typing import Final

import pytest

from oomph.engines.history import release
from oomph.engines.vllm.states import Asked, kept, page
from oomph.errors import UnknownRelease, UsageError
from oomph.ledger.dtype import Dtype
from oomph.ledger.geometry import Delta, Lightning, Mamba1, Mamba2, Recurrent, ShortConvolution

QWEN36_27B: Final = Delta(key_heads=16, value_heads=48, key_dim=128, value_dim=128, kernel=4, state_dtype=Dtype.F32)
QWEN: Final = Asked(architecture="Qwen3_5ForConditionalGeneration", dtype=Dtype.BF16)
NEMOTRON: Final = Asked(architecture="NemotronHForCausalLM", dtype=Dtype.BF16)
OTHER: Final = Asked(architecture="GraniteMoeHybridForCausalLM", dtype=Dtype.BF16)
ONE_GROUP: Final = Mamba2(inner=8192, groups=1, state=128, heads=128, head_dim=64, kernel=4)
KIMI: Final = Delta(key_heads=32, value_heads=32, key_dim=128, value_dim=128, kernel=4, channelwise=True)


def shapes(layer: Recurrent, asked: Asked, at: str, *, ranks: int = 1, guessed: int = 0) -> list[tuple[int, ...]]:
    return [state.shape for state in kept(layer, asked, release(at), ranks=ranks, guessed=guessed)]


def formats(layer: Recurrent, asked: Asked, at: str) -> list[Dtype]:
    return [state.dtype for state in kept(layer, asked, release(at))]


def test_the_page_of_qwen3_6_27b_grows_by_its_guesses() -> None:
    channels, matrices = 2 * 16 * 128 + 48 * 128, 48 * 128 * 128

    assert page(QWEN36_27B, QWEN, release("0.32.0")) == 3 * channels * 2 + matrices * 4 == 3_207_168
    assert page(QWEN36_27B, QWEN, release("0.32.0"), guessed=2) == 5 * channels * 2 + matrices * 4 == 3_248_128


def test_four_ranks_keep_a_quarter_of_a_delta_layer_each() -> None:
    assert shapes(QWEN36_27B, QWEN, "0.32.0", ranks=4, guessed=3) == [(6, 2560), (12, 128, 128)]


def test_a_single_group_of_mamba_2_is_kept_by_every_rank() -> None:
    assert shapes(ONE_GROUP, OTHER, "0.32.0", ranks=4) == [(3, 2048 + 2 * 128), (32, 64, 128)]


def test_mamba_2_keeps_guesses_since_0_17() -> None:
    assert shapes(ONE_GROUP, OTHER, "0.16.0", guessed=3)[0][0] == 3
    assert shapes(ONE_GROUP, OTHER, "0.17.0", guessed=3)[0][0] == 6


def test_groups_that_cannot_be_divided_are_refused_as_vllm_does() -> None:
    two = Mamba2(inner=4096, groups=2, state=256, heads=32, head_dim=128, kernel=4)

    with pytest.raises(UsageError, match="2 Mamba groups"):
        kept(two, OTHER, release("0.32.0"), ranks=4)


def test_the_state_of_a_delta_layer_has_a_format_of_its_own_since_0_17() -> None:
    flag = Asked(architecture="Qwen3NextForCausalLM", dtype=Dtype.BF16, state=Dtype.F32)

    assert formats(QWEN36_27B, flag, "0.16.0") == [Dtype.BF16, Dtype.BF16]
    assert formats(QWEN36_27B, flag, "0.17.0") == [Dtype.BF16, Dtype.F32]


def test_a_config_is_heard_only_where_the_release_asks_for_its_architecture() -> None:
    elsewhere = Asked(architecture="Qwen3NextForCausalLM", dtype=Dtype.BF16)
    told = Asked(architecture=QWEN.architecture, dtype=Dtype.BF16, state=Dtype.BF16)

    assert formats(QWEN36_27B, QWEN, "0.17.0")[1] is Dtype.F32
    assert formats(QWEN36_27B, elsewhere, "0.32.0")[1] is Dtype.BF16
    assert formats(QWEN36_27B, told, "0.32.0")[1] is Dtype.BF16


def test_a_silent_nemotron_was_kept_in_three_formats() -> None:
    assert formats(ONE_GROUP, NEMOTRON, "0.12.0")[1] is Dtype.BF16
    assert formats(ONE_GROUP, NEMOTRON, "0.13.0")[1] is Dtype.F16
    assert formats(ONE_GROUP, NEMOTRON, "0.20.0")[1] is Dtype.F32


def test_a_format_of_windows_is_also_that_of_states_unless_they_have_one() -> None:
    flag = Asked(architecture="JambaForCausalLM", dtype=Dtype.BF16, window=Dtype.F32)

    assert formats(Mamba1(inner=8192, state=16, kernel=4), flag, "0.32.0") == [Dtype.F32, Dtype.F32]


def test_windows_of_delta_layers_by_channels_were_three() -> None:
    assert shapes(KIMI, OTHER, "0.22.0", guessed=3) == [*[(3, 4096)] * 3, (32, 128, 128)]
    assert shapes(KIMI, OTHER, "0.26.0", guessed=3) == [(3, 3 * 4096), (32, 128, 128)]
    assert shapes(KIMI, OTHER, "0.27.0", guessed=3) == [(6, 3 * 4096), (32, 128, 128)]
    assert formats(KIMI, OTHER, "0.32.0") == [Dtype.BF16, Dtype.F32]


def test_a_short_convolution_keeps_guesses_since_0_29() -> None:
    layer = ShortConvolution(inner=2048, kernel=3)

    assert shapes(layer, OTHER, "0.28.0", ranks=2, guessed=1) == [(2, 1024)]
    assert shapes(layer, OTHER, "0.29.0", ranks=2, guessed=1) == [(3, 1024)]


def test_linear_attention_keeps_one_square_matrix_per_head() -> None:
    layer = Lightning(heads=64, head_dim=128)

    assert page(layer, OTHER, release("0.22.0"), ranks=8) == 8 * 128 * 128 * 2


def test_nothing_is_said_of_a_release_that_kept_no_such_layer_in_pages() -> None:
    with pytest.raises(UnknownRelease):
        kept(QWEN36_27B, QWEN, release("0.10.1"))
