# Needs: the rank tables of a dataset's recommenders, or the config of the running example. Makes: their figures, which
# are entries of src/sampled_metrics_study/entries.py.


rule figures:
    input:
        ranks=for_recommenders(RANKS),
    output:
        **entry_files(FIGURES["dataset"], "<results>/{dataset}", "{dataset}"),
    log:
        "<results>/logs/{dataset}/figures.log",
    benchmark:
        "<results>/benchmarks/{dataset}/figures.tsv"
    params:
        code=code("figures", *paths(FIGURES["dataset"])),
        place="dataset",
        subject=lambda wildcards: wildcards.dataset,
        recommenders=list(config["recommenders"]),
        arguments=arguments(FIGURES["dataset"], config),
    script:
        "../../scripts/figures.py"


RESULTS += expand(rules.figures.output, dataset=config["study"])

if config["toy"]:

    rule toy_figures:
        output:
            **entry_files(FIGURES["toy"], "<results>/toy", "running example"),
        log:
            "<results>/logs/toy/figures.log",
        benchmark:
            "<results>/benchmarks/toy/figures.tsv"
        params:
            code=code("figures", *paths(FIGURES["toy"])),
            place="toy",
            subject="the running example",
            arguments=arguments(FIGURES["toy"], config),
        script:
            "../../scripts/figures.py"

    RESULTS += rules.toy_figures.output
