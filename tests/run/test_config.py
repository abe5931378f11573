import pytest

from numerate.errors import InputError
from numerate.fit.stage import FitSettings
from numerate.pretrain.config import PretrainConfig
from numerate.run.config import BUILT_IN, load_config, read_config

LEAST = {"corpus": ["a.txt"], "base": "some/model"}


def test_the_built_in_variants_are_a_scale_and_a_marker_each():
    config = read_config(LEAST, "here")
    assert {name: (v.scale, v.marker) for name, v in config.variants.items()} == {
        "anchors": ("linear", "anc"),
        "anchors-lr": ("linear", "lr"),
        "ln-anchors": ("ln", "anc"),
        "ln-anchors-lr": ("ln", "lr"),
        "exp": ("log10", "exp"),
        "ln-digits": ("ln", "anc"),
        "ln-spread": ("ln", "anc"),
        "ln-near": ("ln", "anc"),
    }
    assert config.systems == ("base", "anchors", "anchors-lr", "ln-anchors", "ln-anchors-lr")


def test_exponents_are_not_swept_since_they_need_no_mixture():
    config = read_config({**LEAST, "fit": {"sweep": [5, 10]}}, "here")
    assert [config.fit.sizes(scale) for scale in ("ln", "log10")] == [(5, 10), ()]
    assert config.fit_name("exp") == "log10"


def test_training_has_the_defaults_of_pretrain_unless_told():
    config = read_config({**LEAST, "seed": 7, "pretrain": {"epochs": 1}}, "here")
    assert config.variants["anchors"].pretrain == PretrainConfig(
        base="some/model", seed=7, epochs=1
    )


def test_our_variants_read_digits_and_rehearse_and_can_be_changed():
    config = read_config({**LEAST, "pretrain": {"epochs": 1, "rehearse": 0.1}}, "here")
    ours, papers = config.variants["ln-digits"].pretrain, config.variants["ln-anchors"].pretrain
    assert (ours.pieces, ours.rehearse, ours.epochs) == ("digits", 0.5, 1)
    assert config.variants["ln-spread"].pretrain == ours
    assert config.variants["ln-spread"].fit == FitSettings(start="spread", width=3)
    assert config.variants["ln-near"].fit == config.variants["ln-spread"].fit
    assert config.variants["ln-near"].pretrain.objective == ("value", "geometry")
    assert (papers.pieces, papers.rehearse, papers.objective) == ("words", 0.1, ("tokens",))
    changed = {"ln-digits": {"pretrain": {"pieces": "digits", "rehearse": 0.9}}}
    assert (
        read_config({**LEAST, "variants": changed}, "here").variants["ln-digits"].pretrain.rehearse
        == 0.9
    )


def test_beside_variants_that_read_digits_the_base_is_probed_by_digits_too():
    def probed(*systems):
        return read_config({**LEAST, "systems": systems}, "here").probed

    by_digits = "base read by digits=digits:some/model"
    assert probed("base", "ln-digits") == ("base", "ln-digits", "twin:ln-digits", by_digits)
    assert probed("base", "anchors") == ("base", "anchors", "twin:anchors")
    assert by_digits not in probed("ln-digits")
    assert probed("base", by_digits, "ln-digits").count(by_digits) == 1


def test_a_variant_changes_some_settings_and_keeps_the_rest():
    raw = {
        **LEAST,
        "fit": {"components": 50},
        "variants": {"fine": {"scale": "ln", "marker": "anc", "fit": {"resolution": 100}}},
    }
    config = read_config(raw, "here")
    assert config.variants["fine"].fit.components == 50
    assert config.variants["fine"].fit.resolution == 100
    assert config.variants["ln-anchors"].fit.resolution == 10
    assert [config.fit_name(name) for name in ("fine", "ln-anchors", "anchors-lr")] == [
        "fine",
        "ln",
        "linear",
    ]


def test_settings_of_the_command_line_stand_over_those_of_the_file(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text('corpus = ["a.txt"]\nbase = "some/model"\n[fit]\ncomponents = 5\n')
    changes = ["fit.components=200", "base=my/other", 'systems=["base"]', "probe.seeds=1"]
    config = load_config(str(path), changes)
    assert (config.fit.components, config.base, config.systems, config.probe.seeds) == (
        200,
        "my/other",
        ("base",),
        1,
    )
    assert load_config(str(path)).fit.components == 5


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_built_in_configs_are_whole(name):
    config = load_config(name)
    assert config.name == name
    assert config.fit.components == 1000


def test_papers_config_is_the_papers():
    config = load_config("paper")
    assert config.corpus == ("hf:Salesforce/wikitext/wikitext-103-raw-v1",)
    assert config.base == "google-bert/bert-base-uncased"
    assert config.variants["anchors"].pretrain.epochs == 6
    assert config.probe.protocol == "paper"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("fit.componets=2", "fit.componets: no such setting; did you mean components?"),
        ("systms=3", "systms: no such setting; did you mean systems?"),
        ("variants.x={scale='ln',marker='anc',fit={sweeps=[1]}}", "did you mean sweep?"),
        ("variants.x.scale=ln", "variants.x.marker: must be given"),
        ("variants.x={scale='log10',marker='lr'}", "variants.x: marker must be exp on the log10"),
        ("variants.exp.marker=anc", "variants.exp: marker must be exp on the log10 scale"),
        ("fit.components=0", "fit.components: input should be greater than 0, got 0"),
        ("pretrain.learning_rate=-1", "learning_rate: input should be greater than 0, got -1"),
        ("pretrain.epoch=1", "pretrain.epoch: no such setting; did you mean epochs?"),
        ("pretrain.base=x", "pretrain.base: no such setting; it is one of the whole run"),
        ("extract=3", "extract: input should be a valid dictionary"),
        ("variants=3", "variants: input should be a valid dictionary"),
        ("variants.exp=3", "variants.exp: input should be a valid dictionary"),
        ("variants.exp.fit=3", "variants.exp.fit: input should be a valid dictionary"),
        ("genbert=3", "genbert: input should be"),
        ('systems=["ln-anchor"]', "'ln-anchor' is unknown; did you mean ln-anchors?"),
        ('systems=["base","base"]', "systems: 'base' is named twice"),
        ('probe.tasks=["rhyme"]', "probe.tasks: must be among decoding, "),
        ('probe.tasks=["gaps","beyond"]', "probe.tasks: must have decoding, "),
        ("probe.tasks=[]", "probe.tasks: must have decoding, "),
        ("probe.protocol=labtop", "protocol must be one of paper, strict, laptop, leaky, demo"),
        ("fit=3", "fit: input should be a valid dictionary"),
        ("fit.components.x=3", "--set fit.components.x=3: 'components' is a value"),
        ("nonsense", "--set must be KEY=VALUE such as fit.components=200, got 'nonsense'"),
        ("variants.a/b={scale='ln',marker='anc'}", "string should match pattern"),
    ],
)
def test_a_mistake_is_one_line_that_says_where(change, message):
    with pytest.raises(InputError) as caught:
        load_config("demo", [change])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_or_not_toml_is_named(tmp_path):
    with pytest.raises(InputError, match=r"no.toml: no such file; built in are demo, laptop"):
        load_config(str(tmp_path / "no.toml"))
    with pytest.raises(InputError, match=f"{tmp_path}: a folder; name a config"):
        load_config(str(tmp_path))
    (tmp_path / "bad.toml").write_text("corpus = [")
    with pytest.raises(InputError, match=r"bad.toml: not valid TOML"):
        load_config(str(tmp_path / "bad.toml"))
