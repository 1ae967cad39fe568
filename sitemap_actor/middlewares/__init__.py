"""Downloader middlewares. Out: private_address, host_policy. Back: retries, doors, redirects. One decision each."""
