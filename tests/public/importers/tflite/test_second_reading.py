"""What the importer reads of every public file is what a second reading has, and what the engine reads."""

from codegen.importers.tflite.file.reader import read
from tests.engines import read_operators
from tests.importers.tflite.test_second_reading import (
    as_engine,
    differences,
    needs_engine,
    said,
    was_read,
    what_the_writer_says,
    written_back,
)
from tests.public.testdata import index, model_path

FILES = [key for key in index() if model_path(key).suffix == ".tflite"]


def test_every_file_is_read_as_a_second_reading_has_it() -> None:
    assert len(FILES) >= 92
    for key in FILES:
        data = model_path(key).read_bytes()
        assert list(differences(was_read(read(data, key)), said(data), key)) == []


def test_what_was_read_of_every_file_is_written_back() -> None:
    for key in FILES:
        data = model_path(key).read_bytes()
        again = said(written_back(read(data, key)))
        assert list(differences(what_the_writer_says(said(data)), again, key)) == []


@needs_engine
def test_the_reference_engine_reads_the_same_operators() -> None:
    """Names, inputs and outputs by tflite-runtime's own reader, of every file that it opens."""
    files = {key: model_path(key).read_bytes() for key in FILES}
    answers = read_operators(list(files.values()))
    refused = [key for key, answer in zip(files, answers, strict=True) if answer is None]
    assert refused == ["tflm/person_detect"]  # axis 3 of a bias of one dimension
    for (key, data), answer in zip(files.items(), answers, strict=True):
        if answer is not None:
            assert as_engine(data) == answer, key
