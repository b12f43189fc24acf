import torch  # noqa  # bwlint: ignore[leak] why  # bwlint: ignore[nothing]
# bwlint: ignore[family-split, BW102] tuned
# bwlint: ignore[test-gate]
if torch.cuda.get_device_capability() == (12, 0):
    s = """# bwlint: ignore[leak]
    """  # bwlint: ignore [excluded]
