"""Settings of tests of figures and pages."""

import pytest
from no_figures import leave_out_figures


@pytest.fixture
def no_figures(monkeypatch):
    leave_out_figures(monkeypatch)
