import numpy as np
import pytest

from numerate import InputError
from numerate.probe.tasks.amounts import read_amounts
from numerate.probe.tasks.benchmark_files import Field
from numerate.probe.tasks.factbook import (
    Conditions,
    Topic,
    draw_conditions,
    find_topics,
    name_field,
    score_conditions,
    score_triples,
)
from numerate.probe.tasks.similarity import search_by

AREA, EXPORTS = "Geography / Irrigated land", "Economy / Exports / Exports 2022"


def make_fields():
    """Forty places: plain numbers, amounts of two years, and what must be left out."""
    fields = []
    for n in range(1, 41):
        place = f"Land{chr(64 + n)}"
        fields += [
            Field(place, AREA, f"{n * n * 10:,} sq km (2020)"),
            Field(place, EXPORTS, f"${n + 0.5} billion (2022 est.)"),
            Field(place, "Economy / Trade / big", f"{n}.5% of GDP (2021)"),
            Field(place, "Government / Capital / coordinates", f"{n} 31 N, 12 {n} E"),
            Field(place, "Government / Elections", f"{1980 + n}"),
            Field(place, "Economy / Growth / by age 15", f"{n}%"),
            Field(place, "Society / Capital", f"{n} {place} city"),
            Field(place, "Society / Loss", f"-{n}%"),
            Field(place, "Society / Cities", f"{n} {chr(97 + n)}ville"),
            Field(place, "Society / Same everywhere", "12 nm"),
        ]
        if n < 36:
            older = EXPORTS.replace("2022", "2021")
            fields.append(Field(place, older, f"${n + 0.25} million (2021 est.)"))
    return fields


TOPICS = find_topics(make_fields())


def by_value(texts):
    angles = [np.log(read_amounts(text)[-1].value) / 60 for text in texts]
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def by_field_and_value(texts):
    names = ["Irrigated land", "Exports", "Trade, big"]
    return np.hstack([[[9 * (name in text) for name in names] for text in texts], by_value(texts)])


def test_fields_have_the_year_the_section_and_what_is_repeated_cut_off():
    assert name_field("Economy / Real GDP growth rate / Real GDP growth rate 2023") == (
        "Real GDP growth rate"
    )
    assert name_field("Military / Military expenditures / Military Expenditures 2020") == (
        "Military Expenditures"
    )
    assert name_field("Energy / Coal / imports") == "Coal, imports"


def test_a_text_that_begins_with_its_only_number_is_kept_without_the_year():
    area, exports, trade = sorted(TOPICS, key=lambda topic: "IET".index(topic.name[0]))
    assert (area.name, exports.name, trade.name) == ("Irrigated land", "Exports", "Trade, big")
    assert area.texts[:2] == ("Irrigated land: 10 sq km", "Irrigated land: 40 sq km")
    assert area.texts[-1] == "Irrigated land: 16,000 sq km"
    assert area.values.tolist() == [n * n * 10 for n in range(1, 41)]
    assert (area.before, area.after) == ("", " sq km")
    assert exports.texts[0] == "Exports: $1.5 billion"  # 40 values of 2022 beside 35 of 2021
    assert exports.values.tolist() == [(n + 0.5) * 1e9 for n in range(1, 41)]
    assert (exports.before, exports.after) == ("$", "")
    forms = [set(topic.forms.tolist()) for topic in (area, exports, trade)]
    assert forms == [{"plain"}, {"amount"}, {"percent"}]


def test_too_few_values_are_one_line():
    with pytest.raises(InputError, match="must have a field with 30 different values, got none"):
        find_topics(make_fields()[:20])


def test_an_oracle_orders_all_triples_and_a_reversed_one_none():
    found = score_triples(by_value, TOPICS, np.random.default_rng(0))
    names = ["triples", "plain triples", "percent triples", "amount triples"]
    assert {name: found[name] for name in names} == dict.fromkeys(names, 1)
    assert found["spearman"] == pytest.approx(1, abs=1e-3)  # cosines of near angles tie
    same = score_triples(lambda texts: np.ones((len(texts), 2)), TOPICS, np.random.default_rng(0))
    assert {same[name] for name in names} == {0.5}
    assert same["spearman"] == 0


def test_a_triple_of_both_kinds_counts_as_amounts():
    forms = np.array(["amount", *["plain"] * 39])
    mixed = Topic("a", tuple(f"a: {n}" for n in range(1, 41)), np.arange(1.0, 41), forms, "", "")
    found = score_triples(by_value, [mixed], np.random.default_rng(0))
    assert set(found) == {"triples", "plain triples", "amount triples", "spearman"}


def test_conditions_have_ten_right_answers_computed_from_the_values():
    asked = draw_conditions(TOPICS, np.random.default_rng(0))
    assert len(asked.documents) == 3 * 40
    assert len(asked.queries) == 3 * 5
    for query, relevant, kind in zip(asked.queries, asked.relevant, asked.kinds, strict=True):
        name, _, rest = query.partition(f" {kind} ")
        [amount] = read_amounts(rest)
        values = {
            place: read_amounts(text)[0].value
            for place, text in enumerate(asked.documents)
            if text.startswith(f"{name}: ")
        }
        if kind == "about":
            near = sorted(values, key=lambda place: abs(np.log(values[place] / amount.value)))
            assert set(relevant) == set(near[:10])
        elif kind == "more":
            assert set(relevant) == {p for p, value in values.items() if value > amount.value}
        else:
            assert set(relevant) == {p for p, value in values.items() if value < amount.value}


def test_queries_write_amounts_in_another_way_and_with_the_unit():
    asked = draw_conditions(TOPICS, np.random.default_rng(0))
    exports = [query for query in asked.queries if query.startswith("Exports")]
    assert all(query.endswith(" million") and "$" in query for query in exports)
    assert "Irrigated land less than 1,100 sq km" in asked.queries  # between 10² and 11² times 10
    assert set(asked.forms) == {"plain", "percent", "amount"}


def test_an_oracle_by_nearness_finds_all_that_is_about_and_half_of_what_is_more():
    asked = draw_conditions(TOPICS, np.random.default_rng(0))
    found = score_conditions(search_by(by_field_and_value), asked)
    assert found["about recall_at_10"] == 1
    assert 0.3 <= found["more recall_at_10"] <= 0.7


def test_the_right_field_alone_finds_no_more_than_chance():
    asked = draw_conditions(TOPICS, np.random.default_rng(0))

    def search(queries, documents):
        fields = [document.partition(":")[0] for document in documents]
        return np.array([[float(q.startswith(field)) for field in fields] for q in queries])

    found = score_conditions(search, asked)  # ten of forty are right, whatever the condition
    assert all(found[f"{kind} recall_at_10"] < 0.6 for kind in ("about", "more", "less"))


def test_recall_is_the_share_of_ten_right_documents_among_the_first_ten():
    documents = tuple(map(str, range(20)))
    relevant = np.array([np.arange(10), np.arange(5, 15)])
    asked = Conditions(
        documents, ("q", "r"), relevant, np.array(["about", "more"]), np.array(["plain", "plain"])
    )
    similarities = np.tile(-np.arange(20.0), (2, 1))  # the first ten documents come first
    found = score_conditions(lambda queries, documents: similarities, asked)
    assert found == {
        "recall_at_10": 0.75,
        "about recall_at_10": 1.0,
        "more recall_at_10": 0.5,
        "plain recall_at_10": 0.75,
    }
