"""Write the page that is generated from the recordings (`python -m tests.recordings`)."""

from __future__ import annotations

from tests.recordings.table import PAGE, page

if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
