# geodim with everything but GNNs and GPUs:  docker build -t geodim . && docker run --rm -v "$PWD:/data" geodim compute points.npy
FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(ls /wheels/*.whl)[plot,frames,data,compare,report,dask,zarr,text,images]" \
    && rm -r /wheels \
    && useradd --create-home geodim
# Kernels are compiled here, once, and not in every container.
ENV NUMBA_CACHE_DIR=/opt/geodim/kernels
RUN mkdir -p "$NUMBA_CACHE_DIR" && geodim demo --output /tmp/demo && rm -r /tmp/demo \
    && chown -R geodim "$NUMBA_CACHE_DIR"
USER geodim
WORKDIR /data
ENTRYPOINT ["geodim"]
CMD ["--help"]
