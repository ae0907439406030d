"""Cases about many changes, large suites, and agents that are killed."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

from cases.following import seconds_until_current, seconds_until_healthy, start_following
from cluster import OPERATOR, PREFIX, Cluster, Host, Probe, different_copies, memory, processor_seconds, wait_until
from trial import case

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def fill(cluster, count, size):
    """Stores values of a size in bytes under `key0`, `key1` and so on, as an operator does with etcdctl."""
    text = f'"{"x" * (size - 2)}"'
    per_transaction = max(1, min(100, 1_000_000 // size))
    for first in range(0, count, per_transaction):
        numbers = range(first, min(first + per_transaction, count))
        puts = "".join(f"put {PREFIX}key{number} {json.dumps(text)}\n" for number in numbers)
        # No comparisons, these puts, and nothing otherwise.
        cluster.control("txn", input=f"\n{puts}\n\n")


def start_writer(cluster, seconds, rate, keys, batch=1, stamps=True):
    """Starts changes of `key0` to `key<keys - 1>`; see writer.py."""
    urls = [cluster.url(number) for number in cluster.members]
    return cluster.network.start(
        OPERATOR, sys.executable, f"{FOLDER}/writer.py", str(seconds), str(rate), str(keys), str(batch),
        str(int(stamps)), *urls,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def run_rate(trial, keys, rate, batch, seconds, host_count):
    numbers = list(range(11, 11 + host_count))
    network = trial.network([1, 2, 3, OPERATOR, *numbers])
    cluster = Cluster(network, options=["--quota-backend-bytes", str(4 << 30)]).start()
    fill(cluster, keys, 20)
    hosts = [Host(cluster, number) for number in numbers]
    healthy = seconds_until_healthy(hosts, 120)
    trial.require(len(healthy) == len(hosts), "Hosts do not start.")
    trial.figure(f"{keys} keys are on {host_count} hosts after {healthy[-1]} s")
    before = [host.memory() for host in hosts], [processor_seconds(host.process) for host in hosts]
    probe = Probe(network, OPERATOR, "lag", *[host.copy for host in hosts])
    writer = start_writer(cluster, seconds, rate, keys, batch)
    output, _ = writer.communicate(timeout=seconds + 60)
    written = json.loads(output)
    caught_up, different = different_copies(cluster, hosts, 120)
    lag = probe.end()
    used = sorted(processor_seconds(host.process) - start for host, start in zip(hosts, before[1]))
    per_second = written["stored"] / written["seconds"]
    trial.figure(
        f"{written['stored']} changes in {written['seconds']} s ({per_second:.0f} a second), "
        f"{written['failed']} failed; from a change to a host {lag['median']:.0f} ms, one in 100 over "
        f"{lag['worstHundredth']:.0f} ms, the worst {lag['worst']:.0f} ms, of {lag['count']}"
    )
    trial.figure(
        f"all copies equal {caught_up} s after the end; an agent has {max(before[0])} MB before and "
        f"{max(host.memory() for host in hosts)} MB after, and takes "
        f"{used[len(used) // 2] / written['seconds'] * 100:.0f} % of a processor; members have "
        f"{[memory(process) for process in cluster.processes.values()]} MB"
    )
    trial.require(not different, f"The copies of {different} are different.")
    return lag


@case(is_short=False)
def rate(trial):
    """50,000 keys, and for a minute 1,000 changes a second, five in a transaction, to ten followers."""
    lag = run_rate(trial, 50_000, 1_000, 5, 60, 10)
    trial.require(lag["worst"] < 20_000, "A change takes longer than 20 s.")


@case(is_short=False)
def slower_rate(trial):
    """The same with 200 changes a second, each one alone."""
    lag = run_rate(trial, 50_000, 200, 1, 60, 10)
    trial.require(lag["worst"] < 10_000, "A change takes longer than 10 s.")


@case(is_short=False)
def hour(trial):
    """An hour, or $MINUTES, of 50 changes a second to ten followers: memory and descriptors stay as they are."""
    minutes = int(os.environ.get("MINUTES", 60))
    network = trial.network([1, 2, 3, OPERATOR, *range(11, 21)])
    compaction = ["--auto-compaction-mode", "periodic", "--auto-compaction-retention", "5m"]
    cluster = Cluster(network, options=compaction).start()
    fill(cluster, 1_000, 100)
    hosts = [Host(cluster, number) for number in range(11, 21)]
    seconds_until_healthy(hosts, 60)
    writer = start_writer(cluster, minutes * 60, 50, 1_000, stamps=False)
    time.sleep(min(300, minutes * 15))
    used = sum(processor_seconds(host.process) for host in hosts)
    early = max(host.memory() for host in hosts), max(host.descriptors() for host in hosts)
    while writer.poll() is None:
        time.sleep(5)
    late = max(host.memory() for host in hosts), max(host.descriptors() for host in hosts)
    used = (sum(processor_seconds(host.process) for host in hosts) - used) / len(hosts)
    different = different_copies(cluster, hosts)[1]
    written = json.loads(writer.communicate()[0])
    trial.figure(
        f"{written['stored']} changes in {minutes} minutes, {written['failed']} failed: after five minutes an agent "
        f"has {early[0]} MB and {early[1]} descriptors, at the end {late[0]} MB and {late[1]}; it takes {used:.0f} s "
        f"of a processor; the members have {[memory(process) for process in cluster.processes.values()]} MB"
    )
    trial.require(written["failed"] == 0, "Changes were refused.")
    trial.require(not different, f"The copies of {different} are different.")
    trial.require(late[0] <= early[0] * 1.3 and late[1] <= early[1] + 4, "Memory or descriptors grow.")


def run_kills(trial, per_host):
    kept, emptied = list(range(11, 15)), [15]
    network = trial.network([1, 2, 3, OPERATOR, *kept, *emptied])
    cluster = Cluster(network).start()
    key_count = 5_000
    fill(cluster, key_count, 100)
    hosts = [Host(cluster, number).start() for number in kept + emptied]
    trial.require(wait_until(lambda: all(host.is_healthy() for host in hosts), 30) is not None, "Hosts do not start.")
    reader = Probe(network, OPERATOR, "read", *[host.copy for host in hosts if host.number in kept])
    writer = start_writer(cluster, 100_000, 50, key_count)
    seed = int.from_bytes(os.urandom(4), "little")
    generator = random.Random(seed)

    def work(host, delays):
        for delay in delays:
            # From before the copy is opened to long after it is current.
            time.sleep(delay)
            host.stop(signal.SIGKILL)
            if host.number in emptied:
                # So that some are killed during the first copy.
                shutil.rmtree(host.copy, ignore_errors=True)
            host.start()

    start = time.monotonic()
    threads = []
    for host in hosts:
        delays = [generator.choice([0.05, 0.3, 2]) * generator.random() for _ in range(per_host)]
        threads.append(threading.Thread(target=work, daemon=True, args=[host, delays]))
        threads[-1].start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - start
    writer.kill()
    writer.wait()
    equal, different = different_copies(cluster, hosts)
    reading = reader.end()
    trial.figure(
        f"{per_host * len(hosts)} kills in {seconds:.0f} s (seed {seed}); all {len(hosts)} copies equal after "
        f"{equal} s; {reading['rounds']} readings of {len(kept)} of them, {reading['unreadable']} unreadable, "
        f"{reading['backwards']} numbers went back, {reading['events']} events, never fewer than "
        f"{reading['leastKeys']} keys"
    )
    trial.require(not different, f"The copies of {different} are different.")
    trial.require(reading["unreadable"] == reading["backwards"] == 0, "A copy was unreadable, or went back.")
    trial.require(reading["leastKeys"] >= key_count, "A copy had lost keys.")


@case(is_short=True)
def kills(trial):
    """Agents of five hosts are killed 40 times, while changes flow: copies stay readable, and are equal at the end."""
    run_kills(trial, 8)


@case(is_short=False)
def many_kills(trial):
    """The same 500 times."""
    run_kills(trial, 100)


@case(is_short=False)
def restarted_members(trial):
    """Members are restarted one after the other, as for an update: 30 hosts watch all three within six minutes."""
    numbers = list(range(11, 41))
    network, cluster, hosts = start_following(trial, numbers)

    def watch_counts():
        return [cluster.watch_count(number) for number in cluster.members]

    counts = [watch_counts()]
    for number in cluster.members:
        cluster.processes[number].terminate()
        cluster.processes[number].wait()
        cluster.start_member(number)
        time.sleep(10)
        counts.append(watch_counts())
    delays = seconds_until_current(trial, cluster, hosts, 30)
    trial.require(None not in delays, "A change does not arrive.")
    time.sleep(320)
    counts.append(watch_counts())
    reconnections = sum(host.metric("reconnections_total") for host in hosts)
    trial.figure(
        f"watches of members before, after each restart, and 320 s later: {counts}, after {reconnections:.0f} "
        f"reconnections; a change takes {max(delays)} s"
    )
    # Each moves to a member chosen at random: more than 20 of 30 at one come once in 7,000 runs.
    trial.require(max(counts[-1]) <= 20, f"Of 30 hosts {max(counts[-1])} watch one member.")


def received_bytes(network, number):
    """How many bytes a host has received."""
    device = network.device(number)
    text = network.call(number, "cat", "/proc/net/dev").stdout
    return next(int(line.split(":")[1].split()[0]) for line in text.splitlines() if line.strip().startswith(device))


@case(is_short=False)
def first_copy(trial):
    """A first copy of 30 MB, alone, over 100 ms and 1 % loss, and with a cut in the middle: it isn't begun again."""
    network = trial.network([1, 2, 3, OPERATOR, 11, 12, 13])
    cluster = Cluster(network, options=["--quota-backend-bytes", str(2 << 30)]).start()
    fill(cluster, 300, 100_000)
    for number, is_slow, is_cut in ((11, False, False), (12, True, False), (13, True, True)):
        if is_slow:
            network.link(number, cluster.members, delay=50, loss=1)
        host = Host(cluster, number)
        start = time.monotonic()
        host.start()
        if is_cut:
            # The gateway sends Base64, 1.34 bytes for each: this is the middle.
            middle = wait_until(lambda: received_bytes(network, number) > 20_000_000, 300, 0.02)
            trial.require(middle is not None, "Not even half of the copy arrives.")
            network.link(number, cluster.members, loss=100)
            time.sleep(20)
            network.link(number, cluster.members, delay=50, loss=1)
        healthy = wait_until(host.is_healthy, 300)
        seconds, received = time.monotonic() - start, received_bytes(network, number) / 1e6
        what = "100 ms, 1 % loss" if is_slow else "a fast link"
        what += " and a cut of 20 s in the middle" if is_cut else ""
        trial.figure(f"30 MB over {what}: {seconds:.1f} s, {received:.0f} MB received, an agent has {host.memory()} MB")
        trial.require(healthy is not None, "There is no copy after 300 s.")
        trial.require(received < 60, "The copy was begun again.")
        trial.require(not different_copies(cluster, [host])[1], "The copy is different.")


@case(is_short=False)
def learner(trial):
    """A fourth member joins as a learner, which answers no reads, and is then promoted."""
    network = trial.network([1, 2, 3, 4, OPERATOR, *range(11, 17)])
    cluster = Cluster(network).start()
    fill(cluster, 100, 100)
    addition = ["member", "add", "m4", "--learner", "--peer-urls", "http://10.77.0.4:2380"]
    # Members refuse it until they have been connected for five seconds.
    is_added = wait_until(lambda: cluster.control(*addition, check=False).returncode == 0, 20, 1)
    trial.require(is_added is not None, "No learner can be added.")
    cluster.start_member(4, "existing", others=[4])
    is_there = wait_until(lambda: "true" in cluster.control("member", "list").stdout.lower(), 20)
    trial.require(is_there is not None, "There is no learner.")
    time.sleep(2)
    # Two hosts that know the learner from the cluster's list only, and three that have it as an endpoint.
    hosts = [Host(cluster, number) for number in (11, 12)]
    cluster.members.append(4)
    hosts += [Host(cluster, number) for number in (13, 14, 15)]
    operator = Host(cluster, OPERATOR)
    # As an endpoint it makes etcdctl fail.
    cluster.members.remove(4)
    seconds = seconds_until_healthy(hosts, 30)
    trial.figure(f"{len(seconds)} of 5 hosts are healthy beside a learner, the last after {seconds[-1:]} s")
    trial.require(len(seconds) == 5 and seconds[-1] <= 10, "Hosts wait for a learner.")
    results = [operator.timed_call("set", "n", str(number)) for number in range(8)]
    codes, slowest = [result.returncode for result, _ in results], max(seconds for _, seconds in results)
    trial.figure(f"commands with the learner as one of four endpoints end with {codes}, the slowest after {slowest} s")
    errors = [result.stderr[-200:] for result, _ in results if result.returncode]
    trial.require(not errors, f"Commands fail: {errors[:1]}")
    worst = 0
    for _ in range(3):
        delays = seconds_until_current(trial, cluster, hosts, 30)
        trial.require(None not in delays, "A change does not arrive.")
        worst = max(worst, *delays)
    time.sleep(35)
    identity = next(
        line.split(",")[0] for line in cluster.control("member", "list").stdout.splitlines() if "10.77.0.4" in line
    )
    cluster.control("member", "promote", identity)
    delays = seconds_until_current(trial, cluster, hosts, 30)
    trial.require(None not in delays, "A change does not arrive after the learner's promotion.")
    after = max(delays)
    ages = max(host.metric("unconfirmed_seconds") for host in hosts)
    trial.figure(
        f"a change takes {worst} s beside it, {after} s after its promotion; the oldest copy is {ages:.0f} s old"
    )
    trial.require(worst <= 10 and after <= 10 and ages <= 20, "A learner holds up changes or heartbeats.")
