# Needs: the models of a dataset whose key `negatives` names a file, and that file. Makes: what these negatives show of
# each recommender, beside the exact metrics.

GIVEN = "|".join(re.escape(name) for name in config["study"] if config["datasets"][name]["negatives"])
AMONG = "results/{dataset}/given-negatives/{recommender}.csv.gz"

if GIVEN:

    rule rank_given:
        input:
            split="results/{dataset}/split.npz",
            model="results/{dataset}/models/{recommender}.npz",
            negatives=lambda wildcards: local(config["datasets"][wildcards.dataset]["negatives"]),
            code=code("rank_given.py"),
        output:
            ranks=AMONG,
        log:
            "results/logs/{dataset}/rank-given-{recommender}.log",
        benchmark:
            "results/benchmarks/{dataset}/rank-given-{recommender}.tsv"
        wildcard_constraints:
            dataset=GIVEN,
        conda:
            "../../envs/environment.yaml"
        threads: 1
        resources:
            mem_mb=rank_memory,
            runtime=rank_minutes,
        params:
            precision=config["ranking"]["precision"],
            seed=config["seed"],
            # not a function of the input, for which snakemake would not run again
            fingerprints=lambda wildcards: [fingerprint(config["datasets"][wildcards.dataset]["negatives"])],
        script:
            "../../scripts/rank_given.py"

    rule given_negatives:
        input:
            ranks=each_recommender(RANKS),
            among=each_recommender(AMONG),
            code=code("given_negatives.py"),
        output:
            **result("{dataset}", "given-negatives", "{dataset}", html="Given negatives"),
        log:
            "results/logs/{dataset}/given-negatives.log",
        benchmark:
            "results/benchmarks/{dataset}/given-negatives.tsv"
        wildcard_constraints:
            dataset=GIVEN,
        conda:
            "../../envs/environment.yaml"
        threads: 1
        resources:
            **per_mb(memory=500, minutes=20),
        params:
            **{key: config[key] for key in ("estimators", "metrics", "estimator_model")},
            recommenders=list(config["recommenders"]),
        script:
            "../../scripts/given_negatives.py"
