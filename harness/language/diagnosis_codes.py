"""The codes of `rocketchaos diagnose`, for checks that name them; a unit test holds them to its checks."""

CODES = (
    "RC0101", "RC0102", "RC0105", "RC0106", "RC0107", "RC0108",
    "RC0201", "RC0202", "RC0203", "RC0204", "RC0205", "RC0206", "RC0207", "RC0208", "RC0209", "RC0210",
    "RC0211", "RC0212", "RC0213", "RC0214", "RC0215", "RC0216", "RC0217", "RC0218",
    "RC0301", "RC0302", "RC0303",
    "RC0401", "RC0402", "RC0403", "RC0404", "RC0405", "RC0406", "RC0407", "RC0408", "RC0409", "RC0410",
    "RC0501", "RC0503", "RC0504", "RC0505", "RC0506", "RC0507", "RC0508", "RC0509",
    "RC0601", "RC0602", "RC0603",
    "RC0701", "RC0702", "RC0703", "RC0704", "RC0705",
    "RC0801", "RC0802", "RC0803", "RC0804", "RC0805", "RC0806", "RC0807",
    "RC0808", "RC0809", "RC0810", "RC0811", "RC0812", "RC0813", "RC0814", "RC0815",
)  # fmt: skip
"""In their order."""
