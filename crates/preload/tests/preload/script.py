"""An interpreter's use of clocks, threads and children."""

import queue
import subprocess
import time

began = time.monotonic()
time.sleep(0.05)
try:
    queue.Queue().get(timeout=0.05)
except queue.Empty:
    pass
assert time.monotonic() - began >= 0.1
year = subprocess.run(["date", "-u", "+%Y"], check=True, capture_output=True, text=True).stdout
assert int(year) == time.gmtime().tm_year
print("well")
