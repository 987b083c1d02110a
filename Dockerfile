# docker build --tag sampled-metrics . && docker run sampled-metrics
# Runs `make demo`, which needs the package index alone.
FROM python:3.12-slim
RUN apt-get update && apt-get install --yes --no-install-recommends make libgomp1 && rm -rf /var/lib/apt/lists/*
WORKDIR /sampled-metrics
COPY . .
RUN make demo
CMD ["ls", "results"]
