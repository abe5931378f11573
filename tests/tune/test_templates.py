import re

import pytest

from numerate import InputError, open_corpus
from numerate.tune.templates import TuneTexts, read_texts, split_sentences


def write_corpus(folder, *lines):
    path = folder / "text.txt"
    path.write_text("\n".join(lines))
    return open_corpus([str(path)])


def read(corpus, **changes):
    settings = {"domain": "quantities", "most_sentences": 100, "most_kept": 100, "seed": 0}
    return read_texts(corpus, **{**settings, **changes})


NUMBERED = [f"The {name} bridge is {100 + n} metres long." for n, name in enumerate("abc" * 20)]
PLAIN = [f"The {name} bridge is long and old." for name in "abc" * 10]


def test_sentences_with_numbers_are_templates_and_others_are_kept(tmp_path):
    texts = read(write_corpus(tmp_path, *NUMBERED, *PLAIN))
    assert sorted(template.text for template, _ in texts.ones) == sorted(NUMBERED)
    assert {template.neutral for template, _ in texts.ones} == {
        f"The {name} bridge is some metres long." for name in "abc"
    }
    assert len(texts.kept) == len(PLAIN)


def test_a_quantity_is_replaced_whole(tmp_path):
    lines = [f"The town paid ${n}.5 million for it." for n in range(1, 40)]
    texts = read(write_corpus(tmp_path, *lines))
    assert {t.neutral for t, _ in texts.ones} == {"The town paid $some for it."}
    [template, _] = texts.ones[0]
    assert template.fill(["7"]) == "The town paid $7 for it."
    assert template.fill(["7"], ["over "]) == "The town paid over $7 for it."


def test_a_phrase_has_a_few_words_around_its_number(tmp_path):
    lines = [f"In {900 + n} the old town of Dee paid $5 million to me." for n in range(90)]
    texts = read(write_corpus(tmp_path, *lines))
    of_first = {phrase.neutral for _, phrase, _ in texts.pairs}
    assert of_first <= {"In some the", "In some the old", "In some the old town"} | {
        "In some the old town of"
    }
    assert len(of_first) > 1
    for _, _, phrase in texts.pairs:  # at most to the first number
        assert re.fullmatch(
            r"((the )?(old )?(town )?of )?(Dee )?paid \$some to( me.)?", phrase.neutral
        )
        assert phrase.text[phrase.slots[0].start : phrase.slots[0].end] == "5 million"


def test_years_are_no_amounts(tmp_path):
    lines = [f"In {1900 + n} the town of Dee paid {900 + n} pounds." for n in range(90)]
    texts = read(write_corpus(tmp_path, *lines))
    assert not texts.pairs
    values = {template.slots[0].value for template, _ in texts.ones}
    assert values <= {900 + n for n in range(90)}


def test_of_several_numbers_at_most_two_are_replaced(tmp_path):
    lines = [f"In 1990 the {n} of 300 people paid 5,000." for n in range(20, 80)]
    texts = read(write_corpus(tmp_path, *lines))
    assert {tuple(len(t.slots) for t in family) for family in texts.ones} == {(1, 1)}
    assert {tuple(len(t.slots) for t in family) for family in texts.pairs} == {(2, 1, 1)}
    assert all(a.end <= b.start for a, b in (family[0].slots for family in texts.pairs))


def test_the_sample_is_drawn_from_all_of_the_corpus(tmp_path):
    corpus = write_corpus(tmp_path, *(f"The house has {n} rooms in all." for n in range(1, 1900)))
    drawn = [t.slots[0].value for t, _ in read(corpus, most_sentences=200).ones]
    assert len(set(drawn)) == 200
    assert 800 < sum(drawn) / 200 < 1200  # uniform over 1 to 1999: a mean of 1000 ± 41
    again = [t.slots[0].value for t, _ in read(corpus, most_sentences=200).ones]
    other = [t.slots[0].value for t, _ in read(corpus, most_sentences=200, seed=1).ones]
    assert drawn == again != other


def test_text_whose_sentences_all_have_numbers_is_kept_without_them(tmp_path):
    texts = read(write_corpus(tmp_path, *NUMBERED))
    assert set(texts.kept) == {template.neutral for template, _ in texts.ones}


def test_long_documents_are_kept_as_passages(tmp_path):
    document = " ".join(f"Word {n} of a long document here." for n in range(200))
    texts = read(write_corpus(tmp_path, *NUMBERED, *PLAIN, document))
    assert max(map(len, texts.kept)) == 800


def test_digits_of_names_are_not_replaced(tmp_path):
    line = "The IL-6 and the B12 of x-300 and 40mg in 500 and 7-day trials."
    texts = read(write_corpus(tmp_path, *[line] * 60))
    slots = {family[0].text[s.start : s.end] for family in texts.pairs for s in family[0].slots}
    assert slots == {"500", "7"}


def test_texts_to_keep_can_be_those_with_numbers():
    kept = tuple(f"text {'n' if n % 2 else n}" for n in range(60))
    numbered = TuneTexts((), (), kept).keep_numbered()
    assert numbered.kept == kept[::2]
    few = TuneTexts((), (), ("text 1", *["text"] * 30))
    assert few.keep_numbered() == few


def test_one_of_twenty_texts_is_held_out():
    texts = TuneTexts((), (), tuple(f"text {n}" for n in range(45)))
    train, held_out = texts.split()
    assert held_out.kept == ("text 0", "text 20", "text 40")
    assert {*train.kept, *held_out.kept} == set(texts.kept)


@pytest.mark.parametrize(
    "lines", [["There are no numbers in this line."], ["The bridge is 100 metres long."]]
)
def test_too_little_text_is_refused(lines, tmp_path):
    with pytest.raises(InputError, match=r"text.txt: too few sentences with a number .* give more"):
        read(write_corpus(tmp_path, *lines))


def test_sentences_end_before_capital_letters_and_numbers():
    text = "It cost $3.5 million in all. 12 people came to see it! And so on, of course."
    assert list(split_sentences(text)) == [
        "It cost $3.5 million in all.",
        "12 people came to see it!",
        "And so on, of course.",
    ]
