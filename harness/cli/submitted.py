"""What `spark-submit` runs: the commands of `rocketchaos report`, from the zip that was given with `--py-files`.

    spark-submit --master MASTER --jars DELTA-JARS --py-files rocketchaos-spark.zip rocketchaos-spark.py \
        ingest RUNS --store URI
"""

import sys
import tempfile
import zipfile
from pathlib import Path

_SIGN = "rocketchaos/spark_reports/tables.py"


def _packed() -> Path | None:
    """The zip, which Spark has put on Python's path."""
    for entry in map(Path, sys.path):
        if entry.is_file() and zipfile.is_zipfile(entry):
            with zipfile.ZipFile(entry) as archive:
                if _SIGN in archive.namelist():
                    return entry
    return None


def main() -> int:
    """Run the command; its exit code."""
    packed = _packed()
    if packed is None:
        print("rocketchaos: give its zip to spark-submit with --py-files", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="rocketchaos-") as folder:
        # Templates and other data are read as files.
        with zipfile.ZipFile(packed) as archive:
            archive.extractall(folder)
        sys.path[:] = [folder, *(entry for entry in sys.path if Path(entry) != packed)]
        from rocketchaos.harness.cli.ending import run_application
        from rocketchaos.harness.cli.report import report_application

        return run_application(report_application(), sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
