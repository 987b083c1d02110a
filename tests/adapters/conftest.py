"""The made-up events as fixtures."""

import pandas as pd
import pytest
from made_up_events import last_out, made_up_events


@pytest.fixture(scope="session")
def events() -> pd.DataFrame:
    return made_up_events()


@pytest.fixture(scope="session")
def split(events: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    return last_out(events)
