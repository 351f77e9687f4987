"""A study on one page of HTML that opens without a network: words, figures, tables, code."""

from __future__ import annotations

from html import escape

import pandas as pd

from ..words import your_data as words
from .study import TableStudy

#: What makes the models again, after ``study``.
CODE = """print(study.verdicts)
print(cc.tabular.report.all_coefficients(study))
model = cc.tabular.TableModel.of(study)
print(model.predict(table))
"""

# Nothing may be fetched from anywhere, whatever a column is called.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline';"
    " img-src data: blob:; font-src data:"
)

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1a1c23; background: #fff; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2rem; }
table { border-collapse: collapse; font-size: 0.85rem; display: block; overflow-x: auto; }
th, td { padding: 0.2rem 0.6rem; border-bottom: 1px solid #ddd; text-align: left; }
pre { background: #f3f4f6; padding: 1rem; overflow-x: auto; font-size: 0.85rem; }
"""


def all_coefficients(study: TableStudy, level: float = 0.95) -> pd.DataFrame:
    """Every agent's model, one under the other: ``agent`` and `TableStudy.coefficients`."""
    parts = [
        study.coefficients(i, level).assign(agent=agent) for i, agent in enumerate(study.agents)
    ]
    frame = pd.concat(parts, ignore_index=True)
    return frame[["agent", *[name for name in frame.columns if name != "agent"]]]


def html(study: TableStudy, code: str = "") -> str:
    """The report.

    Parameters
    ----------
    code : str
        Lines of Python that make the study, printed at the end.
    """
    from plotly.offline import get_plotlyjs

    choice = study.choice
    pictures = _pictures(study)
    notes = "".join(f"<li>{escape(note)}</li>" for note in study.notes)
    listing = f"<pre>{escape(code + CODE)}</pre>" if code else ""
    title = f"{choice.target} by {choice.agent}: what working together is worth"
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title><style>{_STYLE}</style>
<script>{get_plotlyjs()}</script></head><body>
<h1>{escape(title)}</h1>
<p><strong>{escape(words.summary(study))}</strong> {escape(words.overall(study))}</p>
{pictures[0]}
{_table(words.evidence(study))}
<p>Every agent's rows were dealt into five parts four times over and each part held out once.
Errors are over that of predicting the agent's mean; intervals are 95%, corrected for rows that
splits share, and rather too wide than too narrow. {escape(words.filled(study))}
Agents: {len(study.agents)}; rows: {int(study.rows.sum()):,}; features:
{len(study.features)} from {len(study.sources)} columns.</p>
<h2>Who sees what</h2>
<p>{escape(words.coverage(study))}</p>
{pictures[1]}
{f"<ul>{notes}</ul>" if notes else ""}
<h2>Checks</h2>
<p>{escape(words.shift(study))} {escape(words.tails(study))} {escape(words.filled(study))}</p>
{_table(study.shift)}
<h2>Models</h2>
<p>In the table's units, together (COLLAB) and alone, with 95% intervals by the jackknife.</p>
{_table(all_coefficients(study))}
{"<h2>Code</h2>" + listing if listing else ""}
<p>Made by Collab Explorer. Method: Cheng, Cheng and Duchi, Collaboratively Learning Linear Models
with Structured Missing Data.</p>
</body></html>
"""


def _pictures(study: TableStudy) -> list[str]:
    """Figures as HTML: held-out errors, and who sees what."""
    from plotly.io import to_html

    from .. import figures

    order = list(study.verdicts.sort_values("change")["agent"])
    drawn = [
        figures.held_out_errors(
            study.results, order=order, title="Held-out error, best gain first"
        ),
        figures.who_sees_what(
            study.seen,
            study.rows,
            title=words.VIEWS_TITLE,
            height=max(260, 90 + 26 * len(study.agents)),
        ),
    ]
    for figure in drawn:
        # The dashboard's theme makes room for what is written on the axes; a page has none.
        for axes in (figure.update_xaxes, figure.update_yaxes):
            axes(automargin=True, title_standoff=12, title_font_size=13, gridcolor="#e6e6e6")
        figure.update_layout(
            plot_bgcolor="white", paper_bgcolor="white",
            font={"family": "system-ui, sans-serif", "size": 13, "color": "#1a1c23"},
        )  # fmt: skip
    shown = {"displaylogo": False, "responsive": True}
    return [
        to_html(figure, include_plotlyjs=False, full_html=False, config=shown) for figure in drawn
    ]


def _table(frame: pd.DataFrame) -> str:
    return frame.to_html(
        index=False, escape=True, border=0, na_rep="", float_format=lambda value: f"{value:.4g}"
    )
