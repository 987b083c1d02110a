"""Trained recommenders are read back as they were written, and nothing else is read as one."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from sampled_metrics import _files
from sampled_metrics.errors import DataError
from sampled_metrics.recommenders.cosine import Weighting
from sampled_metrics.recommenders.models import (
    CosineModel,
    FactorModel,
    SimilarityModel,
    read_model,
    read_stored,
    stored,
)

RNG = np.random.default_rng(3)
TRAINING = csr_array((RNG.random((5, 7)) < 0.4).astype(float))
MODELS = {
    "factors": FactorModel(RNG.normal(size=(5, 2)), RNG.normal(size=(7, 2))),
    "dense similarity": SimilarityModel(RNG.random((7, 7))),
    "sparse similarity": SimilarityModel(csr_array(random_array((7, 7), density=0.2, rng=RNG))),
    "sparse similarity without entries": SimilarityModel(csr_array((7, 7))),
    "cosine": CosineModel(Weighting(3, False, "l1", True)),
}


@pytest.mark.parametrize("name", MODELS)
class TestRoundTrip:
    def test_scores_the_same(self, tmp_path, name):
        MODELS[name].write(tmp_path / "model.npz")
        again = read_model(tmp_path / "model.npz")
        assert type(again) is type(MODELS[name])
        everything = TRAINING, slice(0, 5), slice(0, 7)
        assert (again.scores(*everything) == MODELS[name].scores(*everything)).all()

    def test_kind_and_size_are_known_before_it_is_read(self, tmp_path, name):
        MODELS[name].write(tmp_path / "model.npz")
        found = read_stored(tmp_path / "model.npz")
        assert found == stored(MODELS[name])
        assert found.kind == " ".join(name.removeprefix("dense ").split()[:2])

    def test_is_the_same_bytes_twice(self, tmp_path, name):
        for path in (tmp_path / "1.npz", tmp_path / "2.npz"):
            MODELS[name].write(path)
        assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()

    def test_a_block_is_that_part_of_all_scores(self, tmp_path, name):
        every = MODELS[name].scores(TRAINING, slice(0, 5), slice(0, 7))
        assert every.shape == (5, 7)
        np.testing.assert_allclose(MODELS[name].scores(TRAINING, slice(1, 3), slice(2, 6)), every[1:3, 2:6], atol=1e-15)


class TestRefuses:
    @pytest.mark.parametrize("arrays", [{"x": np.arange(3)}, {"kind": np.array("tree")}], ids=["no kind", "other kind"])
    def test_another_npz(self, tmp_path, arrays):
        _files.write_npz(tmp_path / "other.npz", **arrays)
        with pytest.raises(DataError, match=r"other\.npz: is not a model of this project"):
            read_model(tmp_path / "other.npz")
        with pytest.raises(DataError, match=r"other\.npz: is not a model of this project"):
            read_stored(tmp_path / "other.npz")

    @pytest.mark.parametrize("content", [b"", b"user,above\n"], ids=["empty", "text"])
    def test_another_file(self, tmp_path, content):
        (tmp_path / "model.npz").write_bytes(content)
        with pytest.raises(DataError, match=r"model\.npz"):
            read_model(tmp_path / "model.npz")
