from scouting.extract import Said
from scouting.functions import Function
from scouting.history import histories
from scouting.metrics import Metric
from scouting.options import Flag
from scouting.sentences import Sentence


def said(release: str, default: str) -> Said:
    return Said(
        release=release,
        defaults=(),
        functions=(Function(name="page", digest="abc", file="a.py", line=1),),
        flags=(Flag(names=("--cache", "-c"), negations=("--no-cache",), kind="bool", default=default, file="a.py"),),
        sentences=(Sentence(text="free", said="info", file="a.py"), Sentence(text="free", said="info", file="b.py")),
        metrics=(Metric(name="vllm:it", kind="gauge", labels=("engine",), hidden=False, file="a.py"),),
    )


def test_every_string_of_an_option_has_its_own_history() -> None:
    flags = histories({"0.1.0": said("0.1.0", "None"), "0.2.0": said("0.2.0", "(1, 2)")})["flags"]

    assert list(flags) == ["--cache", "--no-cache", "-c"]


def test_an_option_tells_its_negation_and_its_default_by_span() -> None:
    flags = histories({"0.1.0": said("0.1.0", "None"), "0.2.0": said("0.2.0", "(1, 2)")})["flags"]
    negation = flags["--no-cache"]

    assert isinstance(negation, dict)
    assert negation["spans"] == [{"first": "0.1.0", "last": None}]
    assert [(run["first"], run["last"], run["negation_of"], run["default"]) for run in negation["said"]] == [
        ("0.1.0", "0.1.0", "--cache", {"visible": True, "value": None}),
        ("0.2.0", None, "--cache", {"visible": True, "value": [1, 2]}),
    ]


def test_the_other_parts_keep_where_they_were_said() -> None:
    found = histories({"0.1.0": said("0.1.0", "None")})
    whole = {"first": "0.1.0", "last": None}

    assert found["functions"]["page"] == {"spans": [whole], "said": [{**whole, "digest": "abc", "file": "a.py"}]}
    assert found["sentences"]["free"] == {
        "spans": [whole],
        "said": [{**whole, "where": [{"said": "info", "file": "a.py"}, {"said": "info", "file": "b.py"}]}],
    }
    assert found["metrics"]["vllm:it"] == {
        "spans": [whole],
        "said": [{**whole, "declared": [{"file": "a.py", "kind": "gauge", "labels": ["engine"], "hidden": False}]}],
    }
