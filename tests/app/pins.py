"""The numbers of every figure and table of every page, recorded, so that a change of them shows.

`python -m tests.app.pins` records all pages anew into tests/pins, a file a page, and
`python -m tests.app.pins methods census` only those; `test_pins` compares. Set
OPENBLAS_NUM_THREADS=1, as `make test` does.

A case is a page in one world (or, where a page has no world, with one group of choices). It visits
the page's parts one after the other by links alone. Of every visit are kept: of each trace of each
figure its name, type and a fingerprint of every array of numbers, also of animation frames and of
lines drawn as shapes; of each table its columns of numbers; the numbers of metrics and of tables
in Markdown. Words, colours and hover texts are not.

Every simulation is seeded and ends by its number of trials, none by a clock, so all of them are
repeatable. Left out are:

- pictures that are no Plotly figures (the SVG story and the thumbnails of the Start page),
- numbers inside sentences and figure titles,
- what is downloaded rather than shown (CSV, messages, reports),
- the download from the Census Bureau; records are uploaded instead, made-up ones.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

from tests.bureau import records

ROOT = Path(__file__).parents[2]
PINS = ROOT / "tests" / "pins"
RTOL = 1e-7
#: Per value: what is below is rounding, in worlds whose numbers are about 1.
ATOL = 1e-12

# Worlds ------------------------------------------------------------------------------------------

#: Links to worlds, which leave out what is at its default; "two", "lonely", "confounder",
#: "unidentifiable", "satellites", "correlated" and "paper" are presets. Together they have every
#: spectrum, missingness, coefficient rule and allocation.
WORLDS: dict[str, str] = {
    "lonely": "spectrum=ar1&d=6&missing=mask&m=6&mask=6x6.-62e8nA&seed=2",
    "unequal": (
        "spectrum=geometric&d=6&condition=20&missing=hub&m=5&size=3&n=200"
        "&allocation=narrow&theta=sparse&nonzero=3&seed=5"
    ),
    "two": (
        "spectrum=equicorrelated&d=2&correlation=0.8&missing=mask&m=2"
        "&mask=2x2.kA&n=50&sigma=0.5&theta=values&values=1,-1"
    ),
    "confounder": (
        "spectrum=equicorrelated&d=6&correlation=0.6&missing=mask&m=10"
        "&mask=10x6._teXPbeXPbA&n=200&theta=values&values=3,0.3,-0.2,0.4,0.1,-0.3"
    ),
    "unidentifiable": "spectrum=ar1&d=4&correlation=0.6&missing=mask&m=3&mask=3x4.xqA&seed=1",
    "spiked": "d=8&spikes=2&m=6&rich=2&rich_size=7&size=4&seed=2",
    "factor": (
        "spectrum=factor&d=8&correlation=0.6&groups=2&missing=hub&m=7&size=3"
        "&theta=unit&theta_scale=2&seed=4"
    ),
    "tiers": (
        "spectrum=block&d=8&correlation=0.7&groups=2&missing=tiers&m=6&n=60&theta=strongest&seed=3"
    ),
    "blocks": (
        "spectrum=power_law&d=7&exponent=1.5&missing=blocks&m=7&size=4"
        "&allocation=rising&ratio=5&sigma=0.3&theta=weakest&seed=6"
    ),
    "independent": (
        "spectrum=eigenvalues&eigenvalues=3,2,1,0.5,0.2&missing=independent"
        "&m=8&allocation=wide&ratio=4&seed=7"
    ),
    "matrix": (
        "spectrum=matrix&matrix=2,0.5,0.3;0.5,1,-0.2;0.3,-0.2,1.5&m=4&rich=1"
        "&rich_size=3&size=2&n=40&theta=values&values=1,-2,0.5"
    ),
    "one of each": "d=1&spikes=0&m=1&rich=0&rich_size=1&size=1",
    "one agent": "spectrum=isotropic&d=5&m=1&rich=1&rich_size=5&size=5",
    "one feature": "d=1&spikes=1&m=6&rich=6&rich_size=1&size=1",
    "some see nothing": "d=6&missing=hub&m=4&size=0",
    "few samples": "d=8&m=4&rich=1&rich_size=8&size=3&n=5",
    "no signal": "d=4&m=3&rich=1&rich_size=4&size=2&sigma=2&theta_scale=0",
    "satellites": "spectrum=ar1&d=12&correlation=0.7&missing=tiers&m=18&seed=3",
    "correlated": (
        "spectrum=equicorrelated&d=10&correlation=0.9&m=10&rich=3&rich_size=7&size=4&seed=1"
    ),
    "paper": "seed=0",
}

#: Worlds that `make test` looks at; the others are left to `make slow`.
QUICK = ("lonely", "unequal")

#: Worlds in which a page's further choices are made, too.
CHOOSING = ("lonely", "unequal", "confounder")


# What is visited ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Visit:
    """One look at a page.

    Attributes
    ----------
    choices : dict of str
        What the link says beside the world.
    page : str
        Another page than the case's, for what must be prepared there; nothing of it is kept.
    act : callable, optional
        What is done by hand after the page has opened, such as pressing a button.
    label : str
        What that is called.
    """

    choices: dict[str, str]
    page: str = ""
    act: Callable[[AppTest], None] | None = None
    label: str = ""

    @property
    def name(self) -> str:
        """The choices as in a link."""
        said = urlencode(self.choices, safe=",.;() ")
        return " ".join(filter(None, [said, self.label])) or "as it opens"


@dataclass(frozen=True)
class Case:
    """Visits of one page in one session."""

    page: str
    name: str
    world: dict[str, str]
    visits: tuple[Visit, ...]
    quick: bool = False

    @property
    def id(self) -> str:
        """Page and world."""
        return f"{self.page}, {self.name}"


def links(text: str) -> list[dict[str, str]]:
    """Choices of several visits, one a line as in a link."""
    rows = (line.strip() for line in text.strip().splitlines())
    return [dict(pair.split("=", 1) for pair in row.split("&")) if row else {} for row in rows]


def visits(text: str) -> tuple[Visit, ...]:
    return tuple(map(Visit, links(text)))


def every(parts: Iterable[str], choices: str) -> tuple[Visit, ...]:
    """Every part with every line of choices."""
    return tuple(Visit({"part": part} | given) for given in links(choices) for part in parts)


def press(key: str) -> Callable[[AppTest], None]:
    def act(app: AppTest) -> None:
        app.button(key=key).click().run()

    return act


def simulate(app: AppTest) -> None:
    """Start the Playground's simulation, where the world has one."""
    if any(button.key == "start-playground" for button in app.button):
        press("start-playground")(app)


def upload(name: str, make: Callable[[], pd.DataFrame]) -> Callable[[AppTest], None]:
    def act(app: AppTest) -> None:
        content = make().to_csv(index=False).encode()
        app.file_uploader[0].set_value([(name, content, "text/csv")])
        app.run()

    return act


def load_records(app: AppTest) -> None:
    """Give the Census page made-up records, for this session."""
    upload("people.csv", lambda: records(5000))(app)
    press("start-census-own")(app)


#: What a page shows in every world: its parts, and few trials.
PARTS: dict[str, tuple[Visit, ...]] = {
    "playground": (Visit({}, act=simulate, label="simulated"),),
    "ellipses": visits(
        """
        part=plane&trials=100
        part=matrix
        part=lab&tilt1=1&tilt2=-1.5
        part=play
        """
    ),
    "error_vs_n": visits(
        """
        part=curves&trials=5&points=5
        part=cloud
        """
    ),
    "lower_bounds": visits(
        """
        part=ratio
        part=map
        part=gap&trials=100
        part=chain
        """
    ),
    "methods": visits(
        """
        part=table
        part=exchange
        part=leaving
        """
    ),
    "what_if": visits(
        """
        part=helps
        part=measure
        part=samples
        part=robust&trials=20
        """
    ),
    "beyond_gaussian": visits(
        """
        part=curves&trials=10&samples=200&to=500
        part=cost
        part=map&draws=1
        part=unlabelled&sets=10&most=1000&labelled=200
        """
    ),
    "beyond_linear": visits(
        """
        part=curves&trials=5&from=50&to=200
        part=calibration
        part=models
        """
    ),
}

#: Further choices, made in a few worlds only.
CHOICES: dict[str, tuple[Visit, ...]] = {
    "ellipses": visits(
        """
        part=plane&trials=0&target=1
        part=plane&trials=100&target=1&plane=principal&level=0.5
        part=plane&trials=0&plane=coordinates&x=0&y=2&show=collab,strong,identity,imputation,exact
        part=plane&trials=0&plane=principal&x=1&y=0
        part=plane&trials=0&plane=different&one=collab&other=exact&level=0.99
        part=plane&trials=0&plane=own&u=1 1 0 0 0 0&v=0 0 1 -1 0 0
        part=matrix&target=1
        part=matrix&coefficients=x1,x3,x4
        part=matrix&plane=principal&show=collab,identity
        part=lab
        part=lab&target=2&tilt3=2&plane=principal
        part=play&over=n
        part=play&over=correlation&target=1
        part=play&over=p&plane=principal&show=collab,identity
        """
    ),
    "error_vs_n": visits(
        """
        part=curves&trials=1&agent=2&points=3
        part=curves&trials=5&points=4&scaled=1&log=0&methods=local,collab
        part=curves&trials=5&points=4&law=student_t(6)&to=500
        part=curves&trials=5&points=4&law=uniform&to=500
        part=curves&trials=5&points=4&law=rademacher&to=500
        part=curves&trials=5&points=4&law=exponential&to=500
        part=curves&trials=5&points=4&law=mixture&to=500
        part=curves&trials=5&points=4&known=unlabelled&unlabelled=100
        part=curves&trials=5&points=4&known=pooled
        part=curves&trials=5&points=4&weights=population
        part=curves&trials=5&points=4&noise=1&corrected=1
        part=curves&trials=5&points=3&from=5&to=10000000
        part=cloud&target=1
        part=cloud&x=2&y=0
        """
    ),
    "lower_bounds": visits(
        """
        part=ratio&of=coefficient&direction=1&agents=0
        part=ratio&of=principal&direction=2&agents=100
        part=ratio&of=agent&agent=1&agents=10
        part=map&colour=threshold
        part=map&colour=p_star
        part=gap&trials=0&of=coefficient&direction=1
        part=gap&trials=100&of=principal&direction=0
        part=gap&trials=100&of=agent&agent=1
        """
    ),
    "methods": visits(
        """
        part=table&agent=1&whose=full
        part=table&agent=2&method=local
        part=table&whose=full&method=collab_plus
        part=table&whose=full&method=naive_collab
        part=table&whose=full&method=rw_imputation
        part=table&whose=full&method=pooled_moments
        part=exchange&agent=1&data=2&heard=2
        part=exchange&agent=2&data=7&heard=0
        part=leaving&agent=2
        """
    ),
    "what_if": visits(
        """
        part=measure&whose=own&additions=2
        part=measure&whose=own&for=2&additions=3
        part=measure&additions=12
        part=samples&error=0.01&extra=100
        part=samples&extra=100000
        part=robust&trials=20&wrong=perturbed
        part=robust&trials=20&wrong=tails&judged=1
        part=robust&trials=20&wrong=clusters&judged=everybody
        part=robust&trials=20&wrong=shift&shifted=1&judged=0
        part=robust&trials=20&judged=everybody
        """
    ),
    "beyond_gaussian": visits(
        """
        part=curves&trials=10&samples=200&to=500&law=outliers&wider=8
        part=curves&trials=10&samples=500&to=500&law=student_t&target=full&scaled=1
        part=curves&trials=10&samples=200&to=500&law=elliptical_t&freedom=30
        part=curves&trials=10&samples=200&to=500&law=exponential&target=1
        part=curves&trials=10&samples=200&to=500&law=uniform
        part=curves&trials=10&samples=200&to=500&law=rademacher
        part=curves&trials=10&samples=200&to=500&law=mixture&apart=0.99
        part=curves&trials=10&samples=200&to=500&law=gaussian
        part=cost&rate=0.1&target=full
        part=cost&law=outliers&wider=8
        part=cost&law=student_t&freedom=4.2&target=full
        part=cost&law=elliptical_t
        part=cost&law=exponential&target=1
        part=cost&law=uniform
        part=cost&law=rademacher&target=full
        part=cost&law=mixture
        part=cost&law=gaussian
        part=map&draws=4&law=outliers
        part=unlabelled&sets=10&most=1000&labelled=200&law=outliers
        part=unlabelled&sets=10&most=1000&labelled=200&law=exponential&target=full
        """
    ),
    "beyond_linear": visits(
        """
        part=curves&trials=1&from=50&to=100&measure=accuracy&signal=4.0
        part=curves&trials=5&from=50&to=100&measure=calibration&intercept=-2.0&agent=2
        part=curves&trials=5&from=50&to=100&beyond=0&methods=local,collab
        part=curves&trials=5&from=50&to=100&unlabelled=pool&corrected=1
        part=curves&trials=5&from=10&to=20&signal=3.0
        part=calibration&target=1&signal=4.0
        part=calibration&methods=naive_collab,collab&intercept=1.0&unlabelled=pool
        part=models&agent=1&signal=4.0
        part=models&agent=2&intercept=1.0&unlabelled=pool&corrected=1
        """
    ),
}


def story(sees: Iterable[int]) -> tuple[Visit, ...]:
    return tuple(
        Visit({"step": str(step), "sees": str(seen)}) for seen in sees for step in range(1, 7)
    )


CENSUS = ("gains", "n", "whatif", "coefficients")
TABLE = ("verdict", "table", "models", "checks", "take")
WHAT_IF = ("helps", "measure", "samples", "robust")
LOAD = Visit({"part": "data"}, "census", load_records, "records")


def table_of_sites() -> pd.DataFrame:
    """Four sites, of which only the last has all five columns."""
    rng = np.random.default_rng(0)
    x = rng.multivariate_normal(np.arange(5), 0.4 * np.eye(5) + 0.6, 500)
    site = np.repeat(["s0", "s1", "s2", "s3"], [60, 90, 150, 200])
    y = 3.0 + x @ [1.0, -0.5, 0.8, 0.0, 0.6] + rng.standard_normal(500)
    frame = pd.DataFrame(x, columns=[f"x{j}" for j in range(5)])
    for name, unseen in (("s0", [3, 4]), ("s1", [0]), ("s2", [1])):
        frame.loc[site == name, [f"x{j}" for j in unseen]] = np.nan
    return frame.assign(site=site, y=y)


def clinics() -> pd.DataFrame:
    return pd.read_csv(ROOT / "data" / "sample_clinics.csv").head(50)


#: Pages and parts that have no world: groups of visits by page and name; the first is quick.
FREE: dict[str, dict[str, tuple[Visit, ...]]] = {
    "start": {"three seen": story([3]), "others": story([1, 2, 4, 5, 6])},
    "census": {
        "usual": every(CENSUS, "trials=5"),
        "own model": every(CENSUS, "trials=5&model=own&unit=minutes"),
        "one state": every(CENSUS, "trials=5&states=WY&target=WY"),
        "two states": every(CENSUS, "trials=5&states=NY,IL&target=NY&pattern=half"),
        "all asked": every(CENSUS, "trials=5&states=NY,IL,OH&pattern=all&model=own"),
        "grid": every(
            CENSUS,
            """
            trials=5&pattern=own&asks=NY.111111111111;IL.000000000001
            trials=5&states=NY,IL&pattern=own&asks=NY.111111111111;IL.000000000000&model=own
            """,
        ),
        "population": visits(
            """
            part=n&trials=5&weights=population
            part=n&trials=5&published=1
            part=n&trials=20&target=NY
            """
        ),
        "many states": every(
            ("gains", "coefficients"), "states=NY,PA,OH,FL,IL,WA,MA,CO,GA,MI,NJ,WY&target=GA"
        ),
        "records": (
            LOAD,
            *every(CENSUS, "trials=5"),
            *visits(
                """
                part=n&trials=5&recipe=authors
                part=n&trials=5&pattern=half&model=own&weights=population
                """
            ),
        ),
    },
    "your_data": {
        "clinics": every(TABLE, "table=clinics"),
        "diabetes": every(TABLE, "table=diabetes"),
        "other agent": every(
            ("models", "checks"),
            """
            of=2&check=2
            of=4&check=4
            table=diabetes&of=1&check=1
            """,
        ),
        "gaps filled": every(TABLE, "gaps=mean&log=1&rare=0.05&without=5"),
        "columns": every(
            TABLE,
            """
            features=3,4,14
            agent=smoker&features=3,4
            target=glucose&rare=0.0
            """,
        ),
        "uploaded": (
            Visit({"table": "own"}, "your_data", upload("sites.csv", table_of_sites), "upload"),
            *every(TABLE, "table=own\ntable=own&features=0,1,2&without=0"),
        ),
        "predicted": (Visit({"part": "take"}, act=upload("new.csv", clinics), label="predicted"),),
    },
    "what_if": {
        "census": every(
            WHAT_IF,
            """
            world=census&trials=20
            world=census&trials=20&states=NY,IL,WY&people=500&whose=own&wrong=shift
            """,
        ),
        "clinics": (
            Visit({"table": "clinics"}, "your_data"),
            *every(WHAT_IF, "world=table&trials=20"),
        ),
        "diabetes": (
            Visit({"table": "diabetes"}, "your_data"),
            *every(WHAT_IF, "world=table&trials=20&whose=own&wrong=perturbed"),
        ),
    },
    "beyond_linear": {
        "census": every(
            ("census",),
            """
            measure=log_loss&model=all
            measure=log_loss&model=own
            measure=accuracy&model=all
            measure=accuracy&model=own
            measure=calibration&model=all
            measure=calibration&model=own
            """,
        ),
        "records": (
            LOAD,
            *every(
                ("census",),
                """
                draws=2
                draws=2&states=NY,IL&whose=NY&model=own&measure=calibration
                """,
            ),
        ),
    },
    "beyond_gaussian": {
        "records": (
            LOAD,
            *visits(
                """
                part=curves&trials=10&samples=200&to=500&law=census
                part=cost&law=census
                part=cost&law=census&relation=random&asks=half&target=full
                part=unlabelled&sets=10&most=1000&labelled=500&law=census
                """
            ),
        ),
    },
}  # fmt: skip

#: Groups without a world that `make test` looks at.
QUICK_FREE = {
    ("start", "three seen"),
    ("census", "usual"),
    ("your_data", "clinics"),
    ("your_data", "diabetes"),
    ("what_if", "census"),
    ("beyond_linear", "census"),
}


def cases() -> list[Case]:
    """All of them, page by page."""
    found = []
    for page in sorted({*PARTS, *FREE}):
        for name, world in WORLDS.items() if page in PARTS else ():
            (query,) = links(world)
            found.append(Case(page, name, query, PARTS[page], name in QUICK))
            if name in CHOOSING and page in CHOICES:
                found.append(Case(page, f"{name}, choices", query, CHOICES[page]))
        for name, group in FREE.get(page, {}).items():
            found.append(Case(page, name, {}, group, (page, name) in QUICK_FREE))
    return found


# Visiting ----------------------------------------------------------------------------------------


def settled(app: AppTest, seconds: float = 300) -> None:
    """Wait until nothing runs on the page any more."""
    deadline, pause = time.monotonic() + seconds, 0.05
    while any(button.key and button.key.startswith("stop-") for button in app.button):
        assert time.monotonic() < deadline, "a run does not end"
        time.sleep(pause)
        pause = min(1.5 * pause, 0.5)
        app.run()


def visit(case: Case) -> Iterator[tuple[Visit, AppTest]]:
    """Open the page of a case again and again, each time by another link."""
    app, opened = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120), ""
    for look in case.visits:
        app.query_params.clear()
        for name, value in (case.world | look.choices).items():
            app.query_params[name] = value
        page = look.page or case.page
        if page != opened:
            app.switch_page(f"pages/{page}.py")
            opened = page
        settled(app.run())
        if look.act is not None:
            look.act(app)
            settled(app)
        assert not app.exception, [error.value for error in app.exception]
        if not look.page:
            yield look, app


def observe(case: Case) -> dict[str, dict]:
    """What a case's visits show, by their names."""
    return {look.name: seen(app) for look, app in visit(case)}


# What is kept of a page --------------------------------------------------------------------------

Fingerprint = list[float | None]
#: What is kept of an array; a shorter one is kept itself.
KEPT = ("length", "finite", "sum", "sum of sizes", "sum weighted by place", "least", "largest")


def seen(app: AppTest) -> dict:
    kept = {
        "figures": [figure(chart.proto) for chart in app.get("plotly_chart")],
        "tables": [table(element.value) for element in app.dataframe],
        "metrics": [numbers_of([metric.value, metric.delta or ""]) for metric in app.metric],
        "written": [
            numbers_of(cells(block.value))
            for block in app.markdown
            if block.value.lstrip().startswith("|")
        ],
    }
    return {name: values for name, values in kept.items() if values}


def figure(proto) -> dict:
    spec = json.loads(proto.spec)
    found = {"key": key_of(proto.id), "traces": list(map(trace, filter(drawn, spec["data"])))}
    frames = spec.get("frames") or []
    if frames:
        found["frames"] = together(arrays(data) for one in frames for data in one["data"])
    shapes = spec["layout"].get("shapes") or []
    ends = [shape.get(end) for end in ("x0", "x1", "y0", "y1") for shape in shapes]
    places = [value for value in ends if isinstance(value, int | float)]
    if places:
        found["shapes"] = {"places": fingerprint(np.array(places, float))}
    return found


def key_of(identity: str) -> str:
    """The key that a page gave a figure; the identity holds a hash before it."""
    return re.sub(r"^\$\$ID-[0-9a-f]+-", "", identity)


def drawn(data: dict) -> bool:
    """Whether there is anything in a trace: a band of no width is an empty one."""
    return any(data.get(name) != [] for name in ("x", "y", "z") if name in data)


def trace(data: dict) -> dict:
    kept = {name: fingerprint(values) for name, values in arrays(data)}
    name = data.get("name") or data.get("legendgroup", "")
    return {"name": name, "type": data.get("type", "scatter"), **kept}


_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
#: Words and looks.
_NOT_NUMBERS = {"text", "hovertext", "colorscale", "colorbar", "hoverlabel", "meta", "ids", "size"}


def arrays(data: dict, within: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """All arrays of numbers in a trace, with their names."""
    for name in sorted(data):
        value = data[name]
        if name in _NOT_NUMBERS:
            continue
        if isinstance(value, dict) and "bdata" not in value:
            yield from arrays(value, f"{within}{name}.")
            continue
        found = decoded(value) if isinstance(value, dict | list) else None
        if found is not None:
            yield within + name, found


def decoded(value: dict | list) -> np.ndarray | None:
    """An array as Plotly writes it, packed or not; None if it is not of numbers."""
    if isinstance(value, dict):
        raw = np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
        return raw.astype(float)
    try:
        found = np.array(list(leaves(value)), dtype=float)
    except (TypeError, ValueError):
        return None
    return found if found.size else None


def leaves(value: object) -> Iterator[float]:
    """The numbers of a nested list, written ones too; a gap is not a number, words are refused."""
    if isinstance(value, list):
        for item in value:
            yield from leaves(item)
    elif value is None:
        yield np.nan
    elif isinstance(value, dict) and "bdata" in value:
        yield from decoded(value)
    elif isinstance(value, int | float):
        yield float(value)
    elif isinstance(value, str) and re.fullmatch(_NUMBER + "%?", value.replace(",", "")):
        yield float(value.replace(",", "").removesuffix("%"))
    else:
        raise TypeError(value)


def together(named: Iterable[Iterable[tuple[str, np.ndarray]]]) -> dict[str, Fingerprint]:
    """One fingerprint over all arrays of the same name."""
    by_name: dict[str, list[np.ndarray]] = {}
    for group in named:
        for name, values in group:
            by_name.setdefault(name, []).append(values)
    return {name: fingerprint(np.concatenate(by_name[name])) for name in sorted(by_name)}


def table(frame: pd.DataFrame) -> list[dict]:
    """Columns of numbers, or of yes and no."""
    columns = frame.select_dtypes(["number", "bool"])
    return [
        {
            "name": str(name),
            "values": fingerprint(columns.iloc[:, j].to_numpy(float, na_value=np.nan)),
        }
        for j, name in enumerate(columns.columns)
    ]


def cells(markdown: str) -> list[str]:
    """Cells of a table in Markdown that begin with a number."""
    texts = [cell.strip() for row in markdown.splitlines()[2:] for cell in row.split("|")]
    return [text for text in texts if re.match(r"[-+−]?\d", text)]


def numbers_of(texts: Iterable[str]) -> Fingerprint:
    plain = (text.replace(",", "").replace("−", "-") for text in texts)
    return fingerprint(np.array([float(x) for text in plain for x in re.findall(_NUMBER, text)]))


def fingerprint(values: np.ndarray) -> Fingerprint:
    """A few values themselves; of many, numbers that change if any of them or their order does."""
    values = np.asarray(values, float).ravel()
    if values.size < len(KEPT):
        return [rounded(value) if np.isfinite(value) else None for value in values.tolist()]
    return summary(values)


def summary(values: np.ndarray) -> Fingerprint:
    """The numbers of `KEPT`."""
    known = np.isfinite(values)
    filled = np.where(known, values, 0.0)
    places = np.arange(1, values.size + 1) / max(values.size, 1)
    ends = (values[known].min(), values[known].max()) if known.any() else (0.0, 0.0)
    sums = (filled.sum(), np.abs(filled).sum(), filled @ places, *ends)
    return [values.size, int(known.sum()), *(rounded(float(value)) for value in sums)]


def rounded(value: float) -> float | int:
    """Ten digits that count."""
    short = float(f"{value:.10g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


# Comparing ---------------------------------------------------------------------------------------


def differences(case: Case, old: dict[str, dict], new: dict[str, dict]) -> list[str]:
    """What has changed, in sentences; nothing if nothing has."""
    found = []
    for name in dict.fromkeys([*old, *new]):
        where = f"{case.page} [{name}] in world {case.name!r}"
        if name not in new or name not in old:
            found.append(f"{where}: {'not visited any more' if name in old else 'not recorded'}")
            continue
        for kind in ("figures", "tables", "metrics", "written"):
            before, after = old[name].get(kind, []), new[name].get(kind, [])
            if len(before) != len(after):
                found.append(f"{where}: {len(before)} {kind} became {len(after)}")
                continue
            for place, one in enumerate(before):
                what = f"{where}: {kind[:-1] if kind != 'written' else 'written table'} {place + 1}"
                found += _changed(kind, what, one, _partner(one, after, place))
    return found


def _partner(one: object, after: list, place: int) -> object:
    """The figure of the same key, else that of the same place."""
    if isinstance(one, dict):
        return next((other for other in after if other["key"] == one["key"]), after[place])
    return after[place]


def _changed(kind: str, what: str, old, new) -> Iterator[str]:
    if kind in ("metrics", "written"):
        yield from _numbers(what, "numbers", old, new)
    elif kind == "tables":
        yield from _rows(what, "column", old, new)
    else:
        what = f"{what} ({old['key']})"
        yield from _rows(what, "trace", old["traces"], new["traces"])
        for name in ("frames", "shapes"):
            yield from _arrays(f"{what}, {name}", old.get(name, {}), new.get(name, {}))


def _rows(what: str, called: str, old: list[dict], new: list[dict]) -> Iterator[str]:
    if len(old) != len(new):
        yield f"{what}: {len(old)} {called}s became {len(new)}"
        return
    names = [row["name"] for row in new]
    for place, (before, after) in enumerate(zip(old, new, strict=True)):
        where = f"{what}, {called} {place + 1} {before['name']!r}"
        # Words may change, but not whose numbers these are.
        if after["name"] != before["name"] and before["name"] in names:
            yield f"{where}: this name is now that of {called} {names.index(before['name']) + 1}"
        if before.get("type") != after.get("type"):
            yield f"{where}: type {before.get('type')} became {after.get('type')}"
        yield from _arrays(where, before, after)


def _arrays(what: str, old: dict, new: dict) -> Iterator[str]:
    for name in sorted({*old, *new} - {"name", "type"}):
        if name not in old or name not in new:
            yield f"{what}, array {name}: {'is missing' if name in old else 'is new'}"
        else:
            yield from _numbers(what, name, old[name], new[name])


def _numbers(what: str, name: str, before: Fingerprint, after: Fingerprint) -> Iterator[str]:
    old, new = (
        summary(np.array(given, float)) if len(given) < len(KEPT) else given
        for given in (before, after)
    )
    length, _, _, sizes, _, low, high = old
    whole = RTOL * abs(sizes) + ATOL * length
    end = RTOL * max(abs(low), abs(high)) + ATOL
    allowed = (0, 0, whole, whole, whole, end, end)
    wrong = [
        f"{kept} {one:.10g} became {other:.10g}"
        for kept, one, other, slack in zip(KEPT, old, new, allowed, strict=True)
        if not abs(other - one) <= slack
    ]
    if wrong and max(len(before), len(after)) < len(KEPT):
        yield f"{what}, array {name}: {before} became {after}"
    elif wrong:
        yield f"{what}, array {name}: {'; '.join(wrong)}"


# Files -------------------------------------------------------------------------------------------


def path_of(page: str) -> Path:
    return PINS / f"{page}.json"


@cache
def recorded(page: str) -> dict[str, dict]:
    """What was recorded of a page, by case and visit."""
    return json.loads(path_of(page).read_text()) if path_of(page).exists() else {}


def write(page: str, found: dict[str, dict]) -> None:
    """One line a visit, so that a changed number is a small change of the file."""
    text = json.dumps(
        {
            name: {look: f"<{json.dumps(kept, **_COMPACT)}>" for look, kept in looks.items()}
            for name, looks in found.items()
        },
        indent=0,
        ensure_ascii=False,
    )
    inner = re.compile(r'"<((?:[^"\\]|\\.)*)>"')
    plain = inner.sub(lambda m: json.loads(f'"{m[1]}"'), text)
    PINS.mkdir(exist_ok=True)
    path_of(page).write_text(plain + "\n")


_COMPACT = {"separators": (",", ":"), "ensure_ascii": False}


def _timed(place: int) -> tuple[int, dict[str, dict], float]:
    # What makes many runs of pages quick.
    from . import conftest  # noqa: F401

    start, case, looks = time.monotonic(), cases()[place], {}
    for look, app in visit(case):
        looks[look.name] = seen(app)
        for box in [*app.info, *app.error]:
            # A choice that is not possible was put right: the visit is not what it is meant to be.
            print(f"{case.id} [{look.name}] says: {box.value}")
    return place, looks, time.monotonic() - start


def record(pages: list[str]) -> None:
    """Visit the pages and write what they show."""
    all_cases = cases()
    asked = [i for i, case in enumerate(all_cases) if not pages or case.page in pages]
    found: dict[int, dict[str, dict]] = {}
    with ProcessPoolExecutor(2) as pool:
        for place, looks, seconds in pool.map(_timed, asked):
            case, found[place] = all_cases[place], looks
            changed = differences(case, recorded(case.page).get(case.name, {}), looks)
            figures = sum(len(kept.get("figures", [])) for kept in looks.values())
            print(f"{case.id}: {figures} figures, {seconds:.1f} s, {len(changed)} changes")
    for page in dict.fromkeys(all_cases[i].page for i in asked):
        mine = [i for i in asked if all_cases[i].page == page]
        write(page, {all_cases[i].name: found[i] for i in mine})


if __name__ == "__main__":
    # A page's run is `__main__` while it lasts, so the workers need this module by its own name.
    from tests.app import pins

    pins.record(sys.argv[1:])
