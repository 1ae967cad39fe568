"""The Apify side: input, lifecycle, money, the storages of the SDK."""
