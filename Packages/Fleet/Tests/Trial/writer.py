"""Changes keys of the suite at a rate, over HTTP, in the operator's network.

`writer.py SECONDS RATE KEYS BATCH STAMPS URL…`: RATE is the number of changes in a second, of which BATCH are a
transaction. If STAMPS isn't 0, every tenth change, or one of each transaction, is that of a new key `stamp<number>`,
with the nanoseconds at which it was sent; otherwise the suite stays as large as it is. Prints how many changes were
stored in how many seconds, and how many were refused or not answered.
"""

import base64
import http.client
import json
import random
import sys
import threading
import time
import urllib.parse

SECONDS, RATE = float(sys.argv[1]), float(sys.argv[2])
KEYS, BATCH, STAMPS = int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
ADDRESSES = [urllib.parse.urlsplit(url).netloc for url in sys.argv[6:]]
THREADS = 16
lock = threading.Lock()
next_number, next_stamp, stored, failed = 0, 0, 0, 0


def encode(text):
    return base64.b64encode(text.encode()).decode()


def put(key, text):
    return {"request_put": {"key": encode(f"defaults/trial/k/{key}"), "value": encode(text)}}


def take():
    """The number of the next change, and of the next stamp if it comes with one."""
    global next_number, next_stamp
    with lock:
        number = next_number
        next_number += BATCH
        if not STAMPS or BATCH == 1 and number % 10:
            return number, None
        next_stamp += 1
        return number, next_stamp - 1


def write(address):
    global stored, failed
    connection = http.client.HTTPConnection(address, timeout=20)
    while True:
        number, stamp = take()
        if number >= SECONDS * RATE:
            return
        time.sleep(max(0, start + number / RATE - time.monotonic()))
        # Behind by more than the whole time: the cluster can't take so many.
        if time.monotonic() - start > SECONDS:
            return
        # A transaction must not change a key twice.
        changes = [put(f"key{key}", str(number)) for key in random.sample(range(KEYS), BATCH)]
        if stamp is not None:
            changes[0] = put(f"stamp{stamp}", str(time.time_ns()))
        try:
            connection.request("POST", "/v3/kv/txn", json.dumps({"success": changes}))
            answer = connection.getresponse()
            answer.read()
            is_stored = answer.status == 200
        except (OSError, http.client.HTTPException):
            connection.close()
            is_stored = False
        with lock:
            if is_stored:
                stored += BATCH
            else:
                failed += BATCH


start = time.monotonic()
threads = [threading.Thread(target=write, args=[ADDRESSES[i % len(ADDRESSES)]]) for i in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps({"stored": stored, "failed": failed, "seconds": round(time.monotonic() - start, 1)}))
