"""What is written is what a reader of YAML reads: the same values, and no comment among them."""

import math

import yaml
from hypothesis import given
from hypothesis import strategies as st

from oomph.write.yaml_text import Commented, Node, Plain, yaml_text

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
ODD_WORDS = st.sampled_from(
    ("no", "On", "NULL", "y", "~", "", " ", "1e5", "0x1f", "0o7", "1_0", "12:30", "2024-01-01", "- a", "a: b", "a #b")
)
TREES: st.SearchStrategy[Plain] = st.recursive(
    SCALARS | ODD_WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | ODD_WORDS, inner, max_size=4),
    max_leaves=20,
)


@given(TREES)
def test_a_reader_of_yaml_reads_the_same_values(tree: Plain) -> None:
    assert yaml.safe_load(yaml_text(tree)) == tree


@given(st.lists(TREES, min_size=1, max_size=4))
def test_documents_stay_apart(trees: list[Plain]) -> None:
    assert list(yaml.safe_load_all(yaml_text(*trees))) == trees


@given(TREES, st.text())
def test_a_comment_changes_no_value(tree: Plain, comment: str) -> None:
    written = yaml_text(
        Commented(
            value={
                "a": Commented(value=tree, comment=comment),
                "b": [1, Commented(value=tree, comment=comment)],
            },
            comment=comment,
        )
    )

    assert yaml.safe_load(written) == {"a": tree, "b": [1, tree]}


def test_what_cannot_be_a_number_in_json_is_one_here() -> None:
    read = yaml.safe_load(yaml_text([math.inf, -math.inf, math.nan]))

    assert read[:2] == [math.inf, -math.inf]
    assert math.isnan(read[2])


def test_a_person_reads_it_without_stumbling() -> None:
    tree: Node = {
        "services": {
            "vllm": {
                "image": "vllm/vllm-openai:v0.19.1",
                "restart": Commented(value="always", comment="It exits with 0\nwhen its engine dies."),
                "command": ["org/m", "--max-model-len", "8192"],
                "devices": [{"driver": "nvidia", "count": 2}],
                "labels": {},
            }
        }
    }

    assert yaml_text(tree) == (
        "services:\n"
        "  vllm:\n"
        '    image: "vllm/vllm-openai:v0.19.1"\n'
        "    # It exits with 0\n"
        "    # when its engine dies.\n"
        "    restart: always\n"
        "    command:\n"
        "      - org/m\n"
        '      - "--max-model-len"\n'
        '      - "8192"\n'
        "    devices:\n"
        "      - driver: nvidia\n"
        "        count: 2\n"
        "    labels: {}\n"
    )
