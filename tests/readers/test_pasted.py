import pytest

from oomph.readers.command_line import read_command

WANTED = {"max_model_len": 8192, "tensor_parallel_size": 2, "speculative_config": '{"method": "mtp"}'}


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (
            'vllm serve org/m \\\r\n --max-model-len 8192 \\\r\n -tp 2 --speculative-config \'{"method": "mtp"}\'',
            "line ends of Windows",
        ),
        (
            "vllm serve “org/m” --max-model-len 8192 -tp 2 --speculative-config ‘{“method”: “mtp”}’",
            "typographic quotes",
        ),
        (
            'vllm serve org/m –max-model-len 8192 –tp 2 —speculative-config \'{"method": "mtp"}\'',
            "typographic dashes",
        ),
        (
            'vllm serve org/m --max\u2011model\u2011len 8192 -tp 2 --speculative-config \'{"method": "mtp"}\'',
            "typographic dashes",
        ),
        (
            'vllm\u00a0serve org/m\u00a0--max-model-len 8192\u202f-tp 2 --speculative-config \'{"method": "mtp"}\'',
            "non-breaking spaces",
        ),
        (
            'vllm serve org/m \\  \n --max-model-len 8192 \\\t\n -tp 2 --speculative-config \'{"method": "mtp"}\'',
            "spaces behind a backslash",
        ),
        (
            'vllm serve org/m ^\n --max-model-len 8192 `\n -tp 2 --speculative-config \'{"method": "mtp"}\'',
            "line ends of PowerShell or cmd",
        ),
        (
            '```bash\nvllm serve org/m --max-model-len 8192 -tp 2 --speculative-config \'{"method": "mtp"}\'\n```',
            "the fence around the code",
        ),
        (
            '\ufeffvllm serve org/m --max-model-len 8192 -tp 2 --speculative-config \'{"method": "mtp"}\'',
            "invisible signs",
        ),
        (
            'vllm serve org/m --max-model-len 8192 -tp 2 --speculative-config {"method": "mtp"}',
            "JSON without quotes around it",
        ),
    ],
)
def test_what_a_web_page_did_to_a_command_is_repaired_and_told(text: str, note: str) -> None:
    command = read_command([text])

    assert (command.model, dict(command.flags)) == ("org/m", WANTED)
    assert any(said.startswith(note) for said in command.notes)


@pytest.mark.parametrize(
    "text",
    [
        "$ vllm serve org/m -tp 2",
        "# vllm serve org/m -tp 2",
        "% vllm serve org/m -tp 2",
        "(venv) me@gpu-box:~/serving$ vllm serve org/m -tp 2",
        "me@3f2a1b:/app# vllm serve org/m -tp 2",
        "# start the server\n$ vllm serve org/m -tp 2 &",
        "vllm serve org/m -tp 2 2>&1 | tee -a serve_$(date +%F).log",
        "vllm serve org/m -tp 2 > serve.log 2>&1 &",
        "source .venv/bin/activate && vllm serve org/m -tp 2; echo done",
        "vllm serve org/m -tp 2  # half of it on each card",
        "vllm serve org/m\n-tp 2",
    ],
)
def test_what_stands_around_a_command_does_no_harm(text: str) -> None:
    command = read_command([text])

    assert (command.model, dict(command.flags)) == ("org/m", {"tensor_parallel_size": 2})


def test_quotes_that_a_shell_did_not_know_are_mended_in_words_too() -> None:
    words = ["vllm", "serve", "“org/m”", "–max-model-len", "8192", "–tp", "2", "—speculative-config"]
    torn = ["‘{“method”:", "“mtp”}’", "\r"]

    assert dict(read_command([*words, *torn]).flags) == WANTED
    assert dict(read_command([*words, "{“method”: “mtp”}"]).flags) == WANTED


def test_a_name_in_another_script_is_left_as_it_is() -> None:
    command = read_command(["vllm", "serve", "模型/七", "--served-model-name", "имя"])

    assert (command.model, dict(command.flags), command.notes) == ("模型/七", {"served_model_name": "имя"}, ())


def test_a_plain_command_is_read_without_a_note() -> None:
    assert read_command(["vllm", "serve", "org/m", "-tp", "2"]).notes == ()
