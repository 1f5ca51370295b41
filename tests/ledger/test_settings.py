import pytest

from oomph.ledger.settings import Flags, Origin, Setting, Settings, Value


def test_a_changed_copy_leaves_the_flags_as_they_were() -> None:
    given = Flags({"max_num_seqs": 256, "enforce_eager": True})
    changed = given.but(max_num_seqs=16)

    assert (given["max_num_seqs"], changed["max_num_seqs"]) == (256, 16)
    assert dict(changed) == {"max_num_seqs": 16, "enforce_eager": True}


def test_flags_do_not_follow_the_dictionary_they_were_made_of() -> None:
    written = {"max_num_seqs": 256}
    given = Flags(written)
    written["max_num_seqs"] = 1

    assert given["max_num_seqs"] == 256


@pytest.mark.parametrize("value", [None, "auto", True, (1, 2)])
def test_a_formula_that_needs_a_number_says_which_one_it_lacks(value: Value) -> None:
    settings = Settings({"max_model_len": Setting(value=value, origin=Origin.GIVEN)})

    with pytest.raises(TypeError, match="setting max_model_len is"):
        settings.number("max_model_len")


def test_a_fraction_is_a_number_but_no_whole_one() -> None:
    settings = Settings({"gpu_memory_utilization": Setting(value=0.9, origin=Origin.DEFAULT)})

    assert settings.number("gpu_memory_utilization") == 0.9
    with pytest.raises(TypeError, match="not a whole number"):
        settings.whole("gpu_memory_utilization")


def test_what_was_given_is_read_as_what_it_is_or_not_at_all() -> None:
    given = Flags({"max_model_len": -1, "block_size": 0, "max_num_seqs": 16, "enforce_eager": True, "dtype": "auto"})

    assert [given.whole(name) for name in given] == [-1, 0, 16, None, None]
    assert [given.positive(name) for name in given] == [None, None, 16, None, None]
    assert (given.count("max_num_seqs"), given.count("block_size"), given.count("tensor_parallel_size")) == (16, 1, 1)
    assert given.switch("enforce_eager", default=False)
    assert given.switch("dtype", default=True)
