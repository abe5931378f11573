from numerate.probe.diagnostics import Diagnostics
from numerate.report.search_examples import (
    SearchExample,
    describe_searches,
    make_searches,
    searches_to_html,
    searches_to_markdown,
)

FOUND = [
    Diagnostics(system="before", searches={"a loan of $5": ("one | <b>", "two"), "b": ("x", "y")}),
    Diagnostics(system="no encoder"),
    Diagnostics(system="after", searches={"a loan of $5": ("two", "one"), "b": ("y", "x")}),
]


def test_systems_stand_side_by_side():
    first, second = make_searches(FOUND)
    assert first == SearchExample(
        "a loan of $5", {"before": ("one | <b>", "two"), "after": ("two", "one")}
    )
    assert second.rows == [("x", "y"), ("y", "x")]
    assert describe_searches([first, second]).startswith("2 queries")
    assert make_searches(FOUND[1:2]) == []


def test_texts_show_as_they_are():
    examples = make_searches(FOUND)[:1]
    assert searches_to_markdown(examples).splitlines() == [
        "**a loan of \\$5**",
        "",
        "| before | after |",
        "|---|---|",
        "| one &#124; &lt;b&gt; | two |",
        "| two | one |",
    ]
    html = searches_to_html(examples)
    assert "<h3>a loan of $5</h3>" in html
    assert "<td>one | &lt;b&gt;</td><td>two</td>" in html
