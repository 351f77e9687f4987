"""A census of made-up people, and what a Census Bureau may answer."""

import threading
import zipfile
from io import BytesIO

import numpy as np
import pandas as pd


def records(count: int = 400, seed: int = 0, codes=(6, 17, 36), year: int = 2018) -> pd.DataFrame:
    """Made-up person records in the columns of a year; about half of them count."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "ST": rng.choice(codes, count),
            "PUMA": rng.integers(100, 9000, count),
            "PWGTP": rng.integers(0, 50, count),
            "AGEP": rng.integers(10, 80, count),
            "SCHL": rng.integers(1, 25, count),
            "MAR": rng.integers(1, 6, count),
            "SEX": rng.integers(1, 3, count),
            "DIS": rng.integers(1, 3, count),
            "MIG": rng.integers(1, 4, count),
            "RELP": rng.integers(0, 18, count),
            "RAC1P": rng.integers(1, 10, count),
            "CIT": rng.integers(1, 6, count),
            "OCCP": rng.integers(10, 9000, count),
            "JWTR": rng.choice([*range(1, 13)], count),
            "POWPUMA": rng.integers(100, 9000, count),
            "POVPIP": np.where(rng.random(count) < 0.1, np.nan, rng.integers(0, 502, count)),
            "ESR": rng.choice([1, 1, 1, 6], count),
            "JWMNP": np.where(rng.random(count) < 0.2, np.nan, rng.integers(1, 120, count)),
        }
    )
    if year >= 2019:
        frame = frame.rename(columns={"RELP": "RELSHIPP", "JWTR": "JWTRNS"})
    if year >= 2023:
        frame = frame.rename(columns={"ST": "STATE"})
    return frame


def zipped(name: str, frame: pd.DataFrame) -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, frame.to_csv(index=False))
    return packed.getvalue()


def whole(content: bytes):
    def answer(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def refused(code: int):
    def answer(handler):
        handler.send_response(code)
        handler.end_headers()
        handler.wfile.write(b"<html>no</html>")

    return answer


def truncated(content: bytes):
    def answer(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content[: len(content) // 2])

    return answer


def silent(handler):
    threading.Event().wait(1.5)


def nonsense(handler):
    handler.wfile.write(b"what is this\r\n\r\n")
