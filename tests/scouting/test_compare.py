from scouting.compare import compare
from scouting.defaults import Default
from scouting.extract import Said
from scouting.functions import Function
from scouting.metrics import Metric
from scouting.options import Flag
from scouting.report import difference, listing
from scouting.sentences import Sentence


def said(  # one argument for each part
    release: str = "0.1.0",
    defaults: tuple[Default, ...] = (),
    functions: tuple[Function, ...] = (),
    flags: tuple[Flag, ...] = (),
    sentences: tuple[Sentence, ...] = (),
    metrics: tuple[Metric, ...] = (),
) -> Said:
    return Said(
        release=release, defaults=defaults, functions=functions, flags=flags, sentences=sentences, metrics=metrics
    )


def sentence(text: str, said: str = "info", file: str = "a.py") -> Sentence:
    return Sentence(text=text, said=said, file=file)


def function(digest: str, file: str = "a.py") -> Function:
    return Function(name="page", digest=digest, file=file, line=1)


def metric(kind: str = "gauge", file: str = "a.py") -> Metric:
    return Metric(name="vllm:it", kind=kind, labels=None, hidden=False, file=file)


def test_two_that_say_the_same_do_not_differ() -> None:
    one = said(defaults=(Default(name="u", value="0.9", file="a.py"),), sentences=(sentence("free memory"),))

    assert list(difference(compare(one, one), every=True)) == ["0.1.0 -> 0.1.0: nothing watched moved"]


def test_a_default_changes_by_value_and_not_by_file() -> None:
    old = said(defaults=(Default(name="u", value="0.9", file="a.py"), Default(name="b", value="16", file="a.py")))
    new = said(defaults=(Default(name="u", value="0.92", file="a.py"), Default(name="b", value="16", file="b.py")))

    assert [(one.value, other.value) for one, other in compare(old, new).defaults.changed] == [("0.9", "0.92")]


def test_a_function_moves_changes_comes_and_goes() -> None:
    found = compare(said(functions=(function("x"),)), said(functions=(function("x", "b.py"),)))

    assert "page moved unchanged  (a.py -> b.py:1)" in "\n".join(difference(found, every=False))
    assert len(compare(said(functions=(function("x"),)), said(functions=(function("y"),))).functions.changed) == 1
    assert len(compare(said(), said(functions=(function("x"),))).functions.added) == 1
    assert len(compare(said(functions=(function("x"),)), said()).functions.removed) == 1


def test_an_option_that_looks_like_a_removed_one_is_guessed_renamed() -> None:
    old = said(flags=(Flag(names=("--cuda-graph-sizes",), kind="int"), Flag(names=("--swap-space",), kind="float")))
    new = said(flags=(Flag(names=("--cudagraph-sizes",), kind="int"), Flag(names=("--watermark",), kind="float")))
    found = compare(old, new)

    assert [(one.names[0], other.names[0]) for one, other in found.renamed] == [
        ("--cuda-graph-sizes", "--cudagraph-sizes")
    ]
    assert [flag.names[0] for flag in found.flags.removed] == ["--swap-space"]
    assert [flag.names[0] for flag in found.flags.added] == ["--watermark"]


def test_an_option_of_another_kind_is_not_a_renamed_one() -> None:
    old, new = Flag(names=("--cuda-graph-sizes",), kind="int"), Flag(names=("--cudagraph-sizes",), kind="str")

    assert compare(said(flags=(old,)), said(flags=(new,))).renamed == ()


def test_an_option_is_changed_by_what_it_accepts() -> None:
    old = Flag(names=("--kv-cache-dtype",), kind="choice", choices=("auto", "fp8"), default="'auto'")
    new = Flag(names=("--kv-cache-dtype", "-k"), kind="choice", choices=("auto", "nvfp4"), default="'fp8'")
    report = "\n".join(difference(compare(said(flags=(old,)), said(flags=(new,))), every=False))

    assert "names --kv-cache-dtype -> --kv-cache-dtype -k" in report
    assert "choices + nvfp4; choices - fp8" in report
    assert "default 'auto' -> 'fp8'" in report


def test_a_changed_wording_is_paired_and_a_new_sentence_is_not() -> None:
    old = said(sentences=(sentence("Available KV cache memory: %.2f GiB"), sentence("Using swap space on the host")))
    new = said(sentences=(sentence("Available KV cache memory: %s GiB"), sentence("Something of the third kind")))
    found = compare(old, new).sentences

    assert [(one.text, other.text) for one, other in found.changed] == [
        ("Available KV cache memory: %.2f GiB", "Available KV cache memory: %s GiB")
    ]
    assert len(found.added) == len(found.removed) == 1


def test_the_same_words_at_another_level_are_a_change_and_in_another_file_are_not() -> None:
    old = said(sentences=(sentence("free memory", "debug"), sentence("kv cache")))
    new = said(sentences=(sentence("free memory", "info"), sentence("kv cache", file="b.py")))

    assert [(one.said, other.said) for one, other in compare(old, new).sentences.changed] == [("debug", "info")]


def test_a_metric_that_loses_its_old_engine_has_not_changed() -> None:
    old = said(metrics=(metric(file="engine/metrics.py"), metric(file="v1/loggers.py")))

    assert len(compare(old, said(metrics=(metric(file="v1/loggers.py"),))).metrics) == 0
    assert len(compare(old, said(metrics=(metric("counter"),))).metrics) == 1


def test_what_has_no_word_about_memory_is_counted_and_shown_on_request() -> None:
    found = compare(said(), said("0.2.0", sentences=(sentence("hello world"), sentence("out of memory"))))
    short, full = list(difference(found, every=False)), list(difference(found, every=True))

    assert short[0] == "0.1.0 -> 0.2.0: 1 sentence moved"
    assert short[-1].strip() == "1 more changes without a word about memory: --all"
    assert not any("hello world" in line for line in short)
    assert any("hello world" in line for line in full)


def test_a_long_default_is_shown_by_what_came_and_went() -> None:
    old = Default(name="choices", value="('auto', 'fp8')", file="a.py")
    new = Default(name="choices", value="('auto', 'nvfp4')", file="a.py")
    report = "\n".join(difference(compare(said(defaults=(old,)), said(defaults=(new,))), every=False))

    assert "- 'fp8'\n      + 'nvfp4'" in report
    assert "'auto'" not in report


def test_one_release_is_listed_with_its_counts_first() -> None:
    lines = list(listing(said(metrics=(metric(),), sentences=(sentence("hello world"),)), every=False))

    assert lines[0].endswith("0 options, 0 sentences, 1 metrics")
    assert any("vllm:it  gauge labels not visible  (a.py)" in line for line in lines)
