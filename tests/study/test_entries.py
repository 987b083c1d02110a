"""Entries of figures and tables: what they name exists."""

import inspect

import pytest
from made_up_project import ROOT, complete_config

from sampled_metrics_study.entries import FIGURES, TABLES, arguments, function

INPUTS = {"toy": set(), "dataset": {"ranks"}}
"""The arguments of the functions of numbers that are no keys of the config."""

ENTRIES = {
    name: (place, figure) for place, figures in FIGURES.items() for name, figure in figures.items()
}


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_has_functions_that_take_its_keys_and_a_caption(name):
    place, figure = ENTRIES[name]
    from_config = arguments({name: figure}, complete_config({}))[name]
    parameters = inspect.signature(function(figure.numbers)).parameters
    assert set(parameters) == set(from_config) | INPUTS[place]
    assert "note" in inspect.signature(function(figure.draw)).parameters
    assert (ROOT / f"workflow/report/{name}.rst").is_file()


@pytest.mark.parametrize("name", [name for tables in TABLES.values() for name in tables])
def test_a_table_has_functions_and_a_caption(name):
    [table] = [tables[name] for tables in TABLES.values() if name in tables]
    assert [*inspect.signature(function(table.numbers)).parameters] == ["inputs"]
    assert [*inspect.signature(function(table.layout)).parameters] == ["table", "inputs"]
    assert (ROOT / f"workflow/report/{name}.rst").is_file()
