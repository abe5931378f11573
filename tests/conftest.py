import sys

import pytest
from hypothesis import settings

from tests.causal_models import FAMILIES, make_causal

# Every example counts, none is judged by a clock that other work on the machine may slow.
settings.register_profile("numerate", deadline=None, print_blob=True)
settings.load_profile("numerate")


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command line here, where the libraries are loaded already: code, output, errors."""

    def run_line(*arguments):
        monkeypatch.setattr(sys, "argv", ["numerate", *map(str, arguments)])
        from numerate.cli import main

        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run_line


WORDS = ["the", "a", "of", "in", "is", "and", "paid", "people", "year", "line", "some", "about"]
WORDS += ["came", "town"]
PIECES = [f"##{digit}" for digit in "0123456789"] + ["##,"]
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *"0123456789.,@$", *PIECES]
SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 66,
}


def word_piece_tokenizer():
    from transformers import BertTokenizerFast

    # A dict: in transformers 5 `vocab_file=` is ignored and yields five tokens without an error.
    vocabulary = {token: index for index, token in enumerate(VOCABULARY)}
    return BertTokenizerFast(vocab=vocabulary, model_max_length=64)


def byte_pair_tokenizer(names):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE(unk_token=names["unk_token"]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=list(dict.fromkeys(names.values())),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator([" ".join(WORDS), " 1999 2000 86 12,345 10 17 104"] * 5, trainer)
    ids = [(names[key], tokenizer.token_to_id(names[key])) for key in ("sep_token", "cls_token")]
    tokenizer.post_processor = processors.RobertaProcessing(*ids, trim_offsets=False)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names)


def make_model(architecture, n_layers=1):
    """A small language model with random weights, and its tokenizer."""
    if architecture in FAMILIES:
        return make_causal(architecture, n_layers)
    import torch
    import transformers as tf

    tf.utils.logging.disable_progress_bar()  # it would be in the output that tests look at
    torch.manual_seed(0)
    angled = {
        "cls_token": "<s>",
        "sep_token": "</s>",
        "unk_token": "<unk>",
        "pad_token": "<pad>",
        "mask_token": "<mask>",
    }
    squared = {
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "unk_token": "[UNK]",
        "pad_token": "[PAD]",
        "mask_token": "[MASK]",
    }
    tokenizer = {
        "roberta": lambda: byte_pair_tokenizer(angled),
        "modernbert": lambda: byte_pair_tokenizer(squared),
    }.get(architecture, word_piece_tokenizer)()
    size = {**SIZES, "vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    size["num_hidden_layers"] = n_layers
    model = {
        "bert": lambda: tf.BertForMaskedLM(tf.BertConfig(**size)),
        "distilbert": lambda: tf.DistilBertForMaskedLM(
            tf.DistilBertConfig(
                vocab_size=size["vocab_size"],
                dim=16,
                n_layers=n_layers,
                n_heads=2,
                hidden_dim=32,
                max_position_embeddings=66,
            )
        ),
        "roberta": lambda: tf.RobertaForMaskedLM(tf.RobertaConfig(**size)),
        "mpnet": lambda: tf.MPNetForMaskedLM(tf.MPNetConfig(**size)),
        "electra": lambda: tf.ElectraForMaskedLM(tf.ElectraConfig(embedding_size=16, **size)),
        "modernbert": lambda: tf.ModernBertForMaskedLM(
            tf.ModernBertConfig(
                **size,
                bos_token_id=tokenizer.cls_token_id,
                eos_token_id=tokenizer.sep_token_id,
                cls_token_id=tokenizer.cls_token_id,
                sep_token_id=tokenizer.sep_token_id,
            )
        ),
    }[architecture]()
    return model, tokenizer


def save_encoder(folder, model, tokenizer):
    """A tiny sentence encoder, as sentence-transformers saves it."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    model.base_model.save_pretrained(folder / "plain")
    tokenizer.save_pretrained(folder / "plain")
    first = Transformer(str(folder / "plain"))
    pooling = Pooling(first.get_embedding_dimension(), pooling_mode="mean")
    encoder = SentenceTransformer(modules=[first, pooling, Normalize()], device="cpu")
    encoder.save_pretrained(str(folder / "encoder"), create_model_card=False)
    return folder / "encoder"


ARCHITECTURES = ["bert", "distilbert", "roberta", "mpnet", "electra", "modernbert"]


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory):
    """A folder for each architecture, as `save_pretrained` writes it; made when first asked for."""
    made = {}

    def folder_of(architecture):
        if architecture not in made:
            model, tokenizer = make_model(architecture)
            made[architecture] = tmp_path_factory.mktemp(architecture)
            model.save_pretrained(made[architecture])
            tokenizer.save_pretrained(made[architecture])
        return made[architecture]

    return folder_of


@pytest.fixture(scope="session")
def primed_corpora(tmp_path_factory):
    """A small primed corpus for each scale and marker; made when first asked for."""
    from numerate.extract.corpus import open_corpus
    from numerate.extract.counts import extract_counts
    from numerate.fit.fitting import fit_anchors
    from numerate.prime.primed_corpus import prime_corpus

    folder = tmp_path_factory.mktemp("primed")
    lines = [
        f"in the year {1900 + n % 90} some {n * n + 1:,} people came, {n % 12 + 1} paid about ${n}."
        for n in range(1, 240)
    ]
    (folder / "a.txt").write_text("\n".join([*lines, "the town of a line without numerals"] * 2))
    corpus = open_corpus([str(folder / "a.txt")])
    counts = extract_counts(corpus)

    def corpus_of(scale="ln", marker="anc"):
        out = folder / f"{scale}-{marker}"
        anchors = fit_anchors(counts, n_components=60, scale=scale)
        return prime_corpus(corpus, anchors, out, marker=marker)

    return corpus_of


@pytest.fixture(scope="session")
def anchored_models(tmp_path_factory):
    """A folder with anchors for each architecture and marker, as `numerate pretrain` leaves it.

    The weights are random: what it is shown and where vectors are read does not depend on them.
    """
    from numerate.fit.anchors import AnchorSet
    from numerate.models.base_model import add_markers
    from numerate.models.folder import set_priming, write_modules
    from numerate.prime.scheme import Priming
    from numerate.prime.text import MARKERS

    made = {}

    def folder_of(architecture="bert", priming=None, n_layers=1):
        priming = priming or Priming(AnchorSet("ln", (10, 17, 86, 104)))
        key = architecture, priming, n_layers
        if key not in made:
            model, tokenizer = make_model(architecture, n_layers)
            add_markers(model, tokenizer, MARKERS[priming.marker])
            set_priming(model, priming)
            folder = made[key] = tmp_path_factory.mktemp(f"anchored-{architecture}")
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            priming.anchors.save(folder / "anchors.json")
            write_modules(folder, width=model.config.hidden_size, n_layers=n_layers)
        return made[key]

    return folder_of
