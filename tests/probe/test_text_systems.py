import shutil

import numpy as np
import pytest

from numerate import InputError, load
from numerate.models.digit_tokenizer import split_digits
from numerate.probe.plan import Plan, probe_system, score_cells
from numerate.probe.protocols import LAPTOP
from numerate.probe.score_texts import score_texts
from numerate.probe.systems import Reading, open_systems
from numerate.probe.tasks.sentence_tasks import draw_pools, score_pools
from numerate.probe.text_systems import share_words

TEXTS = ["in 1999 some 12,345 people came", "the town of a line", "about $5, and 7 of 9"]


@pytest.fixture(scope="module")
def encoder_folder(tiny_models, tmp_path_factory):
    """A small sentence encoder, with a prompt for queries."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    transformer = Transformer(str(tiny_models("bert")))
    pooling = Pooling(transformer.get_embedding_dimension(), pooling_mode="mean")
    model = SentenceTransformer(modules=[transformer, pooling], prompts={"query": "people of "})
    folder = tmp_path_factory.mktemp("encoder")
    model.save(str(folder))
    return folder


def open_one(name):
    [system] = open_systems(name, reading=Reading())
    return system


def test_a_sentence_encoder_is_what_sentence_transformers_loads(encoder_folder):
    from sentence_transformers import SentenceTransformer

    system = open_one(f"ours=sentence:{encoder_folder}")
    model = SentenceTransformer(str(encoder_folder))
    assert system.name == "ours"
    np.testing.assert_allclose(system.embed_texts(TEXTS), model.encode(TEXTS), atol=1e-6)
    numerals = model.encode(["7", "1999"])
    np.testing.assert_allclose(system.embed_numerals([7, 1999]), numerals, atol=1e-6)
    assert system.fingerprint == open_one(f"sentence:{encoder_folder}").fingerprint
    assert system.fingerprint != open_one(f"sentence:digits:{encoder_folder}").fingerprint


def test_queries_have_their_prompt_and_documents_none(encoder_folder):
    system = open_one(f"sentence:{encoder_folder}")
    found = system.search(["the town"], TEXTS)
    [query], documents = system.embed_texts(["people of the town"]), system.embed_texts(TEXTS)
    lengths = np.linalg.norm(documents, axis=1) * np.linalg.norm(query)
    np.testing.assert_allclose(found[0], documents @ query / lengths, atol=1e-5)


def test_by_digits_only_the_tokenizer_changes(encoder_folder):
    words, digits = (
        open_one(f"sentence:{prefix}{encoder_folder}").model for prefix in ("", "digits:")
    )
    expected = split_digits(words.tokenizer, "a", number_words=False)
    ids = digits.preprocess(["some 12,345 people"])["input_ids"][0].tolist()
    assert ids == expected("some 12,345 people")["input_ids"]
    assert ids != words.preprocess(["some 12,345 people"])["input_ids"][0].tolist()
    assert digits.max_seq_length == words.max_seq_length
    for name, weight in words.state_dict().items():
        assert (digits.state_dict()[name] == weight).all()


def test_a_folder_that_numerate_wrote_is_trusted_and_one_that_was_changed_is_not(
    anchored_models, tmp_path
):
    folder = anchored_models()
    vectors = load(str(folder)).embed_texts(TEXTS)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(open_one(f"sentence:{folder}").embed_texts(TEXTS), unit, atol=1e-5)
    shutil.copytree(folder, tmp_path / "changed")
    with (tmp_path / "changed" / "numerate_sentence.py").open("a") as file:
        file.write("print('something else')\n")
    with pytest.raises(InputError, match="needs code that its folder brings"):
        open_one(f"sentence:{tmp_path / 'changed'}")


def test_what_is_no_sentence_encoder_is_one_line(tiny_models, tmp_path):
    with pytest.raises(InputError, match=r"no sentence encoder, it has no modules\.json"):
        open_one(f"sentence:{tiny_models('bert')}")
    with pytest.raises(InputError, match="cannot be loaded as a model"):
        load("sentence:somewhere")


def test_a_sentence_encoder_is_probed_on_texts_and_numerals(encoder_folder, tmp_path):
    system = open_one(f"tiny=sentence:{encoder_folder}")
    plan = Plan(tasks=("amounts", "places", "paraphrases"), seeds=(0,), protocol=LAPTOP)
    scores = probe_system(system, plan, tmp_path / "scores.jsonl")
    assert {(s.task, s.domain, s.range, s.protocol) for s in scores} == {
        (task, "sentences", "all", "sentences") for task in plan.tasks
    }


def test_bm25_prefers_rare_words_and_makes_no_vectors():
    pytest.importorskip("bm25s")
    system = open_one("control:bm25")
    found = system.search(
        ["meteorite with iron", "the"], ["iron bridge", "a meteorite of iron", "iron lamp"]
    )
    assert found[0].argmax() == 1
    assert not found[1].any()  # a stop word
    with pytest.raises(InputError, match="control:bm25: only searches texts; ask it retrieval"):
        score_texts(system, "distance")
    assert score_texts(system, "retrieval")["subject"] > 0.8
    plan = Plan(tasks=("paraphrases",), seeds=(0,), protocol=LAPTOP)
    with pytest.raises(InputError, match="only searches texts"):
        list(score_cells(system, plan, plan.cells))


def test_shared_words_weigh_by_their_rarity():
    found = share_words(["red lamp in 7 million"], ["a lamp, 7", "red lamp", "in 7 million"])
    common, rare = np.log(1 + 3 / 2), np.log(1 + 3)
    np.testing.assert_allclose(found, [[common, common + rare, rare]])


def test_a_control_searches_by_words_and_then_by_numbers():
    system = open_one("control:angle")
    found = system.search(
        ["lamp of $1,900 million"], ["lamp: $2 billion", "lamp: $40", "bridge: $1.9 billion"]
    )
    assert found[0].argsort().tolist() == [2, 1, 0]
    pools = draw_pools((1, 10**10), np.random.default_rng(0))
    assert score_pools(system.search, pools)["nearest"] == 1
    written = open_one("control:prefix")  # it sees 1900, 1.9 and 1850
    found = written.search(["$1,900 million"], ["$1.9 billion", "$1,850 thousand"])
    assert found[0].argmax() == 1
