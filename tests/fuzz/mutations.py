"""Strategies of hypothesis for damaged files: valid ones with a few small changes."""

import copy
import json

from hypothesis import strategies as st

_DEEP = "[" * 2000 + "]" * 2000  # put in as text: json cannot write it
_HOLE = "@deep@"
# Copied, since later changes go into what was put in.
NASTY = st.sampled_from(
    [
        *(None, True, False, 0, -1, 1, 2, 1.5, -0.0, 1e300, 1e18, 10**13, 10**30, -(10**30)),
        *(
            float("inf"),
            float("nan"),
            float("-inf"),
            "",
            "x",
            "1",
            "-1",
            "nan",
            "1e400",
            "9" * 5000,
        ),
        *("\ud800", "\x00", "../x", "/", "ß\u2028", _HOLE, [], {}, [[]], [None], {"": None}, ["x"]),
    ]
).map(copy.deepcopy)


def _find_places(value, path=()):
    """Return the paths of all values in a JSON document, the document itself included."""
    inside = [*value.items()] if isinstance(value, dict) else []
    inside += enumerate(value) if isinstance(value, list) else []
    return [path, *(place for key, part in inside for place in _find_places(part, (*path, key)))]


@st.composite
def changed_documents(draw, document):
    """A JSON document with one to three values replaced, removed, renamed or repeated."""
    changed = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 3))):
        places = _find_places(changed)
        *path, last = draw(st.sampled_from(places[1:])) if len(places) > 1 else [None]
        if last is None:
            return draw(NASTY)
        parent = changed
        for key in path:
            parent = parent[key]
        _change(draw, parent, last)
    return changed


def _change(draw, parent, key):
    kind = draw(st.sampled_from(["replace", "replace", "replace", "remove", "repeat"]))
    if kind == "replace":
        parent[key] = draw(NASTY)
    elif kind == "remove":
        del parent[key]
    elif isinstance(parent, list):
        parent.insert(draw(st.integers(0, len(parent))), copy.deepcopy(parent[key]))
    else:
        name = draw(st.sampled_from(["", "x", f"{key} ", "\ud800"]))
        parent[name] = copy.deepcopy(parent[key])


def write_document(document):
    """Return the bytes of a changed JSON document; json writes NaN and surrogates as they are."""
    text = json.dumps(document).replace(json.dumps(_HOLE), _DEEP)
    return text.encode("utf-8", "surrogatepass")


@st.composite
def changed_bytes(draw, data):
    """Bytes that are cut, or of which a few are changed, removed, repeated or put in."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([1, 1, 2, 8, 100])))
        put = draw(
            st.one_of(
                st.just(b""),
                st.binary(min_size=1, max_size=4),
                st.sampled_from(
                    [b"\n", b"\r", b"\x00", b"\xff", b"[", b"{", b'"', b"-", b"9" * 30]
                ),
                st.just(data[start:end] * 2),
            )
        )
        data = data[:start] + put + data[end:]
        if draw(st.integers(0, 5)) == 0:
            data = data[: draw(st.integers(0, len(data)))]
    return data


def changed_json(document):
    """The bytes of a JSON document that is changed in its values or in its bytes."""
    valid = json.dumps(document).encode()
    return st.one_of(changed_documents(document).map(write_document), changed_bytes(valid))


@st.composite
def changed_lines(draw, documents):
    """The bytes of JSON Lines, of which one line is changed."""
    lines = [json.dumps(document).encode() for document in documents]
    place = draw(st.integers(0, len(lines) - 1))
    lines[place] = draw(changed_json(documents[place]))
    data = b"\n".join(lines)
    return draw(st.sampled_from([data, data + b"\n"]))
