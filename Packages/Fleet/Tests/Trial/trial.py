"""Runs cases, for `run`: `trial.py FOLDER [CASE…]`."""

import os
import signal
import sys
import threading
import time
import traceback

import cluster

CASES = {}


class Failure(Exception):
    """What a case requires and hasn't found."""


def case(is_short):
    """Makes a function a case; its name is the function's, and its description the first line of its documentation."""

    def add(function):
        function.is_short = is_short
        CASES[function.__name__.replace("_", "-")] = function
        return function

    return add


class Trial:
    """What a case uses: networks that are removed at its end, and where its figures go."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.binaries = f"{folder}/bin"
        self.networks, self.figures = [], []
        self.start = time.monotonic()

    def network(self, ids):
        network = cluster.Network(f"{self.folder}/{self.name}-{len(self.networks)}", self.binaries, ids)
        self.networks.append(network)
        return network

    def figure(self, text):
        self.figures.append(text)
        print(f"  {time.monotonic() - self.start:6.1f} s  {text}", file=sys.stderr, flush=True)

    def require(self, condition, text):
        if not condition:
            raise Failure(text)

    def close(self, keeps_files):
        for network in self.networks:
            network.close(keeps_files)


def run(folder, name, keeps_files):
    trial = Trial(folder, name)
    problem = None
    try:
        CASES[name](trial)
    except Failure as failure:
        problem = str(failure)
    except Exception as error:
        traceback.print_exc()
        problem = repr(error)
    finally:
        trial.close(keeps_files)
    seconds = time.monotonic() - trial.start
    result = "passed" if problem is None else f"FAILED: {problem}"
    print(f"{name}, {seconds:.0f} s, {result} ({'; '.join(trial.figures)})", flush=True)
    return problem is None


def main():
    import cases.credentials  # noqa: F401
    import cases.links  # noqa: F401
    import cases.load  # noqa: F401

    folder, names = sys.argv[1], sys.argv[2:]
    if names == ["list"]:
        for name, function in CASES.items():
            print(f"{name}{'' if function.is_short else ' (long)'}: {function.__doc__.splitlines()[0]}")
        return
    if names == ["all"]:
        names = list(CASES)
    names = names or [name for name, function in CASES.items() if function.is_short]
    unknown = [name for name in names if name not in CASES]
    if unknown:
        sys.exit(f"There is no case {', '.join(unknown)}; run list says what there is.")

    def end(number, frame):
        # Only once: the first one has begun to end what was started.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # Threads of the case go on until what they use is ended.
        threading.excepthook = lambda arguments: None
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    cluster.remove_left_namespaces()
    print(cluster.shell("etcd", "--version").stdout.splitlines()[0], flush=True)
    results = [run(folder, name, bool(os.environ.get("KEEP"))) for name in names]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    # The cases import this file too: with one name only it is one module.
    sys.modules["trial"] = sys.modules["__main__"]
    main()
