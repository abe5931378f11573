"""Tiny causal language models with random weights, and byte-level tokenizers of several makes.

Between them the families have what real ones differ in: tied and separate heads, sliding windows,
grouped heads, learned and rotary positions; tokenizers without padding or any special tokens, with
a token before or after every text, with padding on the left, with numbers in digits and the space
before them a token of its own, and with offsets that hold the space before a word or not.
"""

from dataclasses import dataclass, field

WORDS = "the a of in is and paid people year line some about came town without numerals"


@dataclass(frozen=True)
class Make:
    """How a tokenizer is made: its special tokens, and the text around every text."""

    special: dict[str, str] = field(default_factory=dict)
    template: str = "$A"
    digits: bool = False
    trim_offsets: bool = True
    padding_side: str = "right"


END = "<|end|>"
MAKES = {
    "gpt2": Make({"eos_token": END}),
    "llama": Make({"bos_token": "<s>", "eos_token": "</s>"}, "<s> $A", digits=True),
    "qwen2": Make({"eos_token": END, "pad_token": "<pad>"}, padding_side="left"),
    "qwen3": Make(digits=True, trim_offsets=False),
    "gemma2": Make(
        {"bos_token": "<bos>", "eos_token": END, "pad_token": "<pad>"}, f"<bos> $A {END}"
    ),
    "gpt_neox": Make({"eos_token": END}, trim_offsets=False),
}
FAMILIES = list(MAKES)


def make_tokenizer(make):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    steps = [pre_tokenizers.Digits(individual_digits=True)] if make.digits else []
    steps.append(pre_tokenizers.ByteLevel(add_prefix_space=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=list(make.special.values()),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    text = [f"{WORDS} {WORDS}", " 1999 2000 86 12,345 10 17 104 1950 90 31"]
    tokenizer.train_from_iterator(text * 5, trainer)
    around = [(name, tokenizer.token_to_id(name)) for name in make.special.values()]
    tokenizer.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=make.trim_offsets),
            processors.TemplateProcessing(single=make.template, special_tokens=around),
        ]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=64,
        padding_side=make.padding_side,
        **make.special,
    )


def make_causal(family, n_layers=1):
    """A tiny model of a family with random weights, and its tokenizer."""
    import torch
    import transformers as tf

    tf.utils.logging.disable_progress_bar()  # it would be in the output that tests look at
    torch.manual_seed(0)
    tokenizer = make_tokenizer(MAKES[family])
    ids = {
        name: getattr(tokenizer, name) for name in ("bos_token_id", "eos_token_id", "pad_token_id")
    }
    shape = {
        "vocab_size": len(tokenizer),
        "hidden_size": 16,
        "num_hidden_layers": n_layers,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 64,
        **ids,
    }
    grouped = {**shape, "num_key_value_heads": 1, "head_dim": 8}
    windows = {"sliding_window": 8, "layer_types": ["sliding_attention"] * n_layers}
    model = {
        "gpt2": lambda: tf.GPT2LMHeadModel(
            tf.GPT2Config(
                vocab_size=len(tokenizer),
                n_positions=64,
                n_embd=16,
                n_layer=n_layers,
                n_head=2,
                **ids,
            )
        ),
        "llama": lambda: tf.LlamaForCausalLM(tf.LlamaConfig(**grouped, tie_word_embeddings=False)),
        "qwen2": lambda: tf.Qwen2ForCausalLM(
            tf.Qwen2Config(**grouped, **windows, use_sliding_window=True, tie_word_embeddings=True)
        ),
        "qwen3": lambda: tf.Qwen3ForCausalLM(tf.Qwen3Config(**grouped, tie_word_embeddings=True)),
        "gemma2": lambda: tf.Gemma2ForCausalLM(
            tf.Gemma2Config(**grouped, **windows, query_pre_attn_scalar=8)
        ),
        "gpt_neox": lambda: tf.GPTNeoXForCausalLM(
            tf.GPTNeoXConfig(**shape, tie_word_embeddings=False)
        ),
    }[family]()
    return model, tokenizer
