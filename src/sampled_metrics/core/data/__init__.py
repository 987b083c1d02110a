"""From a dataset's address or file to its events: download, verify, read, parse."""
