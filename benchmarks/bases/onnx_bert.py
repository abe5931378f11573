"""A BERT from the weights of an ONNX file, by their names.

PyTorch's exporter keeps the names of embeddings, biases and layer norms. It stores the weight of a
linear layer transposed and without a name: its product is what the named bias is added to, so the
graph says whose it is.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from transformers import BertConfig, BertModel


class Node(NamedTuple):
    """One operation of the graph: its kind, and the names that it reads and writes."""

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def read_onnx(path: Path) -> tuple[dict[str, np.ndarray], list[Node]]:
    """Return the stored arrays of an ONNX file by their names, and its operations in order."""
    import onnx
    from onnx.numpy_helper import to_array

    graph = onnx.load(path).graph
    arrays = {tensor.name: to_array(tensor) for tensor in graph.initializer}
    nodes = [Node(node.op_type, tuple(node.input), tuple(node.output)) for node in graph.node]
    return arrays, nodes


def name_weights(arrays: Mapping[str, np.ndarray], nodes: Iterable[Node]) -> dict[str, np.ndarray]:
    """Return the arrays with names of a BERT's weights, those of linear layers as PyTorch has them.

    A bias that the exporter left out because it is zero comes back as zeros.
    """
    named = {name: array for name, array in arrays.items() if name.endswith((".weight", ".bias"))}
    products = {}
    for node in nodes:
        stored = [name for name in node.inputs if name in arrays]
        if node.kind == "MatMul" and stored:
            products[node.outputs[0]] = arrays[stored[0]]
        elif node.kind == "Add" and stored and stored[0].endswith(".bias"):
            factors = [products[name] for name in node.inputs if name in products]
            named |= {stored[0].removesuffix("bias") + "weight": factor.T for factor in factors}
        elif node.kind == "Gemm" and len(node.inputs) == 2:
            weight = node.inputs[1]
            named[weight.removesuffix("weight") + "bias"] = np.zeros(len(arrays[weight]), "float32")
    return named


def build_bert(weights: Mapping[str, np.ndarray], *, n_heads: int) -> BertModel:
    """Return a BERT with these weights; all sizes but the number of heads are theirs."""
    words = weights["embeddings.word_embeddings.weight"]
    layers = {match[1] for name in weights if (match := re.match(r"encoder\.layer\.(\d+)\.", name))}
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=words.shape[1],
        num_hidden_layers=len(layers),
        num_attention_heads=n_heads,
        intermediate_size=len(weights["encoder.layer.0.intermediate.dense.bias"]),
        max_position_embeddings=len(weights["embeddings.position_embeddings.weight"]),
        type_vocab_size=len(weights["embeddings.token_type_embeddings.weight"]),
    )
    model = BertModel(config)
    # Strict: a weight that is missing, has no place or has another shape is an error.
    model.load_state_dict({name: torch.tensor(array) for name, array in weights.items()})
    return model.eval()
