import numpy as np

from numerate.probe.tasks.amounts import read_amounts
from numerate.probe.tasks.searches import draw_searches, search_examples


def test_queries_and_documents_have_one_number_each():
    queries, documents = draw_searches()
    assert len(queries) == 5
    assert {len(read_amounts(text)) for text in (*queries, *documents)} == {1}
    values = np.array([read_amounts(text)[0].value for text in documents]).reshape(-1, 20)
    assert values.min() == 1
    assert values.max() <= 1e10
    assert (np.diff(np.log(values), axis=1) >= 0).all()  # a number in each half of a decade


def test_the_first_five_are_kept_in_order():
    _, documents = draw_searches()

    def search(queries, texts):
        return np.tile(np.arange(len(texts)), (len(queries), 1))  # the last is the most similar

    found = search_examples(search)
    assert set(found.values()) == {documents[:-6:-1]}
