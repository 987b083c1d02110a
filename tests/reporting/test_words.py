"""The words of a report."""

from sampled_metrics.reporting import words


def test_usual_metrics_are_explained_in_half_a_line_each():
    labels = ["recall@10", "ndcg@5", "ap", "rbp-0.8", "recall@10"]
    on_ranks = words.meanings(labels, has_one_relevant_item=True)
    assert [sentence.split(":")[0] for sentence in on_ranks] == ["Recall@10", "NDCG@5", "AP"]
    assert "among the first 10" in on_ranks[0]
    assert "0 below rank 5" in on_ranks[1]
    assert "below rank" not in on_ranks[2]
    on_lists = words.meanings(labels, has_one_relevant_item=False)
    assert all("held-out" in sentence for sentence in on_ranks)
    assert all("relevant" in sentence for sentence in on_lists)
