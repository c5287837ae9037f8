"""Marks of the tests of the packages."""


def pytest_configure(config):
    config.addinivalue_line("markers", "row(number, ...): proves these rows of checklist.txt; see tools/checklist")
