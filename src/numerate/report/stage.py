"""The stage `report` of a run: its settings and its step."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from numerate.files import write_file
from numerate.layout import RECORD, RunContext
from numerate.settings import Section
from numerate.steps import Step


class ReportSettings(Section):
    """What is shown beside the results, and where the example sentences come from."""

    compare: Literal["paper", "nothing"] = "nothing"
    examples: Literal["own", "corpus"] = "own"


def plan_report(
    run: RunContext,
    name: str,
    systems: tuple[str, ...],
    settings: ReportSettings,
    before: Sequence[Step],
) -> Step:
    """Return the step that writes tables, figures and the page from the steps before it."""
    layout = run.layout
    folders = [step.name for step in before if step.stage == layout.scores.parent.name]

    def work(folder: Path) -> None:
        from numerate.report.write import write_report

        scores = [layout.system_scores(system).read_bytes() for system in folders]
        write_file(layout.scores, b"".join(scores))
        compare = "paper" if settings.compare == "paper" else None
        write_report(folder.parent, compare=compare, examples=settings.examples)

    return Step(
        stage="report",
        settings={"systems": systems, "name": name, **settings.model_dump()},
        inputs={step.title: step.folder(layout.root) / RECORD for step in before},
        outputs=(layout.page.name, f"../{layout.scores.relative_to(layout.root)}"),
        work=work,
    )
