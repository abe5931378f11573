"""The stage `prime` of a run: its settings, its steps, and the estimate of their duration."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from numerate.extract.sources import Block
from numerate.extract.stage import RunText, estimate_reading
from numerate.fit.anchors import AnchorSet
from numerate.layout import RunContext
from numerate.options import Marker, NumeralForm
from numerate.prime.primed_corpus import prime_corpus
from numerate.prime.scheme import Priming
from numerate.prime.text import prime_block
from numerate.progress import show_progress
from numerate.settings import Section
from numerate.steps import Step


class PrimeSettings(Section):
    """How numerals are written."""

    numeral_form: NumeralForm = "as-is"


@dataclass(frozen=True)
class PrimingPlan:
    """How text is going to be primed, with anchors in a file that may not exist yet."""

    anchors: Path
    marker: Marker
    settings: PrimeSettings

    def describe(self) -> dict[str, str]:
        """Return the marker and the settings, as settings of a step."""
        return {"marker": self.marker, **self.settings.model_dump()}

    def load(self) -> Priming:
        """Return the priming with its anchors."""
        return Priming(AnchorSet.load(self.anchors), self.marker, self.settings.numeral_form)


def plan_prime(run: RunContext, variant: str, text: RunText, plan: PrimingPlan) -> Step:
    """Return the step that primes the corpus for a variant."""

    def work(folder: Path) -> None:
        priming, corpus = plan.load(), text.corpus
        with show_progress(f"prime {variant}", corpus.size, quiet=run.quiet) as progress:
            prime_corpus(
                corpus,
                priming.anchors,
                folder,
                marker=priming.marker,
                numeral_form=priming.numeral_form,
                engine=run.engine,
                progress=progress,
            )

    return Step(
        stage="prime",
        name=variant,
        settings={**plan.describe(), **text.settings.model_dump()},
        inputs={**text.inputs, plan.anchors.name: plan.anchors},
        outputs=(run.layout.manifest(variant).name,),
        work=work,
        estimate=lambda: estimate_reading(text, run.workers, _prime),
    )


def _prime(blocks: Sequence[Block]) -> None:
    for block in blocks:
        prime_block(block, AnchorSet("ln", (10, 20, 30)))
