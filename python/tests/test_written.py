"""What is written from the catalogue is current."""

import pytest
from mustlink import _write


@pytest.mark.parametrize("path", _write.files(), ids=lambda path: path.name)
def test_file_is_current(path):
    assert path.read_text(encoding="utf-8") == _write.files()[path], "run python -m mustlink._write"
