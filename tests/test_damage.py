from binaries import cubin


def test_x() -> None:
    assert cubin(120)
