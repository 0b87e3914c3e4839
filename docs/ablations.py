"""Write docs/ablations.md from the shipped ablations. ``make docs`` runs this."""

from pathlib import Path

from elanite.study.ablation_table import markdown, table

Path(__file__).with_suffix(".md").write_text(markdown(table()), encoding="utf-8")
