workflow.include("workflow/Snakefile", overwrite_default_target=True)  # `include:` would not take its default target
