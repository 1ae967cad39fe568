# The image of the Actor. The base brings Python, the Apify SDK and the user `myuser`.
FROM apify/actor-python:3.13

USER myuser
WORKDIR /usr/src/app

# Requirements first: the layer with the libraries is built anew only when they change.
COPY --chown=myuser:myuser requirements.txt ./
RUN python -m pip install --no-cache-dir --disable-pip-version-check -r requirements.txt

COPY --chown=myuser:myuser scrapy.cfg ./
COPY --chown=myuser:myuser sitemap_actor ./sitemap_actor

# Compiled once here, not at every start on a sixteenth of a core.
RUN python -m compileall -q sitemap_actor

CMD ["python", "-m", "sitemap_actor"]
