"""The converter of `benchmarks.bases`, on the arrays and operations that an exporter writes."""

import numpy as np
import pytest
import torch
from transformers import BertModel

from benchmarks.bases.onnx_bert import Node, build_bert, name_weights
from tests.conftest import make_model


@pytest.fixture
def bert():
    model = BertModel(make_model("bert", n_layers=2)[0].config).eval()
    for name, weight in model.named_parameters():  # biases start as zeros, layer norms as ones
        if name != "pooler.dense.bias":
            torch.nn.init.normal_(weight)
    return model


def export(model):
    """Arrays and operations as PyTorch's exporter writes them: weights of layers have no names."""
    arrays = {name: array.numpy() for name, array in model.state_dict().items()}
    del arrays["pooler.dense.bias"]  # zeros are left out
    arrays["embeddings.position_ids"] = np.arange(8)
    nodes = [Node("Add", ("words", "positions"), ("sum",))]
    for index, name in enumerate(sorted(arrays)):
        layer = name.removesuffix(".weight")
        if name.startswith("encoder") and arrays[name].ndim == 2:
            arrays[f"val_{index}"] = arrays.pop(name).T
            nodes.append(Node("MatMul", ("states", f"val_{index}"), (f"product_{index}",)))
            addends = (f"product_{index}", f"{layer}.bias")[:: 1 if index % 2 else -1]
            nodes.append(Node("Add", addends, (f"states_{index}",)))
    nodes.append(Node("MatMul", ("queries", "keys"), ("scores",)))
    nodes.append(Node("Gemm", ("first", "pooler.dense.weight"), ("pooled",)))
    return arrays, nodes


def test_every_weight_comes_back_under_its_name(bert):
    arrays, nodes = export(bert)
    assert not any(name.endswith("query.weight") for name in arrays)
    built = build_bert(name_weights(arrays, nodes), n_heads=2)
    old, new = bert.state_dict(), built.state_dict()
    assert old.keys() == new.keys()
    assert all(torch.equal(old[name], new[name]) for name in old)
    ids = torch.tensor([[2, 7, 9, 3]])
    assert torch.equal(bert(ids).last_hidden_state, built(ids).last_hidden_state)


def test_sizes_are_read_off_the_weights(bert):
    config = build_bert(name_weights(*export(bert)), n_heads=2).config
    names = ["vocab_size", "hidden_size", "num_hidden_layers", "intermediate_size"]
    names += ["max_position_embeddings", "type_vocab_size"]
    assert [getattr(config, name) for name in names] == [
        getattr(bert.config, name) for name in names
    ]


def test_a_weight_whose_layer_is_unknown_is_an_error(bert):
    arrays, nodes = export(bert)
    rest = [node for node in nodes if "encoder.layer.1.output.dense.bias" not in node.inputs]
    with pytest.raises(RuntimeError, match=r"encoder\.layer\.1\.output\.dense\.weight"):
        build_bert(name_weights(arrays, rest), n_heads=2)
