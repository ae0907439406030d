"""Cases about links that are lossy or cut, in one direction or both."""

import collections
import os
import random
import signal
import subprocess
import sys
import threading
import time

from cases.following import seconds_until_current, start_following
from cluster import OPERATOR, Cluster, Host, Probe, different_copies, wait_until
from trial import case

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@case(is_short=True)
def lost_answer(trial):
    """Commands whose answer is lost, or whose change is held for 7 s, end with 0 or 5, and tell the truth."""
    network = trial.network([1, 2, 3, OPERATOR])
    cluster = Cluster(network).start()
    operator = Host(cluster, OPERATOR)
    operator.options = ["--endpoints", "http://127.0.0.1:7000"]
    for hold, expected in ((0, 0), (7, 5)):
        cluster.put("flag", "true")
        proxy = network.start(
            OPERATOR, sys.executable, f"{FOLDER}/lossy_proxy.py", "10.77.0.1", str(hold),
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        proxy.stdout.readline()
        for command, value in ((["set", "flag", "off"], "false"), (["remove", "flag"], None)):
            result, seconds = operator.timed_call(*command)
            is_stored = wait_until(lambda: cluster.values().get("flag") == value, 10)
            trial.figure(
                f"{command[0]}, held for {hold} s: ends with {result.returncode} after {seconds} s, "
                f"the change is stored {is_stored} s later"
            )
            code = result.returncode
            trial.require(code == expected, f"{command[0]} ends with {code}: {result.stderr[-300:]}")
            trial.require(is_stored is not None, "The change is not stored.")
        proxy.kill()
        proxy.wait()


@case(is_short=False)
def lost_members(trial):
    """Each member in turn is stopped, unreachable for 16 hosts, and killed: how late changes are."""
    numbers = list(range(11, 27))
    network, cluster, hosts = start_following(trial, numbers)

    def signal_member(member, number):
        cluster.processes[member].send_signal(number)

    def is_healthy():
        return cluster.control("endpoint", "health", check=False).returncode == 0

    for what, limit in (("stopped", 20), ("unreachable", 10), ("killed", 10)):
        late, oldest = [], 0
        for member in cluster.members:
            if what == "stopped":
                signal_member(member, signal.SIGSTOP)
            elif what == "unreachable":
                network.link(member, numbers, loss=100)
            else:
                signal_member(member, signal.SIGKILL)
                cluster.processes[member].wait()
            time.sleep(0.5)
            delays = seconds_until_current(trial, cluster, hosts, 60)
            trial.require(None not in delays, "A change does not arrive within a minute.")
            late += [delay for delay in delays if delay > 1]
            # Until a heartbeat of each host has had to do without the member.
            for _ in range(16):
                time.sleep(1)
                oldest = max(oldest, *[host.metric("unconfirmed_seconds") for host in hosts])
            if what == "stopped":
                signal_member(member, signal.SIGCONT)
            elif what == "unreachable":
                network.heal()
            else:
                cluster.start_member(member)
            trial.require(wait_until(is_healthy, 30) is not None, "The cluster does not recover.")
            time.sleep(5)
        late.sort()
        trial.figure(
            f"{what}: {len(late)} of {3 * len(hosts)} changes are late, by {late[:1]} to {late[-1:]} s; the oldest "
            f"copy was {oldest:.0f} s old"
        )
        trial.require(not late or late[-1] <= limit, f"A change is late by more than {limit} s.")


@case(is_short=True)
def unheard_member(trial):
    """What a member sends to 16 hosts gets lost, then what the leader sends to all but the operator."""
    numbers = list(range(11, 27))
    network, cluster, hosts = start_following(trial, numbers)
    late = []
    for member in cluster.members:
        for number in numbers:
            network.direct(member, number, loss=100)
        time.sleep(0.5)
        delays = seconds_until_current(trial, cluster, hosts, 40)
        trial.require(None not in delays, "A change does not arrive within 40 s.")
        late += [delay for delay in delays if delay > 1]
        network.heal()
        time.sleep(3)
    late.sort()
    trial.figure(f"{len(late)} of {3 * len(hosts)} changes are late, by {late[:1]} to {late[-1:]} s")
    trial.require(not late or late[-1] <= 10, "A change is late by more than 10 s.")

    leader = cluster.leader()
    for number in [*numbers, *cluster.members]:
        if number != leader:
            network.direct(leader, number, loss=100)
    operator = Host(cluster, OPERATOR)
    results = [operator.timed_call("set", "n", str(number)) for number in range(100, 108)]
    codes = [result.returncode for result, _ in results]
    slowest = max(seconds for _, seconds in results)
    trial.figure(f"commands after the leader isn't heard any more end with {codes}, the slowest after {slowest} s")
    trial.require(set(codes) <= {0, 5} and codes[-1] == 0 and slowest <= 7, "Commands fail or take too long.")


def cut_at_random(network, members, hosts, end, generator):
    """Cuts links, one after the other, and heals them, until a time; returns how many cuts there were."""
    cuts = 0
    while time.monotonic() < end:
        # Sometimes two or three at the same time.
        for _ in range(generator.choice([1, 1, 2, 3])):
            cut_one(network, members, hosts, generator)
            cuts += 1
        time.sleep(generator.uniform(0.2, 5))
        network.heal()
        time.sleep(generator.uniform(0, 1))
    return cuts


def cut_one(network, members, hosts, generator):
    member = generator.choice(members)
    others = [number for number in members if number != member]
    some = generator.sample(hosts, len(hosts) // 2)
    kind = generator.choice(["to hosts", "from hosts", "between members", "alone", "minority", "lossy"])
    if kind == "to hosts":
        for host in some:
            network.direct(member, host, loss=100)
    elif kind == "from hosts":
        for host in some:
            network.direct(host, member, loss=100)
    elif kind == "between members":
        network.direct(member, others[0], loss=100)
    elif kind == "alone":
        network.link(member, others + hosts, loss=100)
    elif kind == "minority":
        # Half of the hosts reach one member only, which no other member reaches.
        network.link(member, others, loss=100)
        for host in some:
            network.link(host, others, loss=100)
    else:
        for host in some:
            network.link(host, members, delay=50, loss=10)


def run_cuts(trial, seconds):
    agents, writers = list(range(11, 17)), [21, 22, 23]
    network, cluster, hosts = start_following(trial, agents, writers)
    seed = int.from_bytes(os.urandom(4), "little")
    end = time.monotonic() + seconds
    copies, tallies, threads = [], [], []

    def work(number, tally):
        host = Host(cluster, number)
        copies.append(host)
        program = Probe(network, number, "write", host.copy, cluster.endpoints)
        wait_until(lambda: program.ask("flush") == "stored", 20)
        while time.monotonic() < end:
            # A number that only this program sets, and one that all add to.
            tally["sent"] += 1
            if program.ask(f"set own{number} {tally['sent']}") == "stored":
                tally["own"], tally["stored"] = tally["sent"], tally["stored"] + 1
            tally["additions"][program.ask("add count")] += 1
            time.sleep(0.01)

    for number in writers:
        tallies.append({"sent": 0, "own": 0, "stored": 0, "additions": collections.Counter()})
        threads.append(threading.Thread(target=work, daemon=True, args=[number, tallies[-1]]))
        threads[-1].start()
    cuts = cut_at_random(network, cluster.members, agents + writers, end, random.Random(seed))
    for thread in threads:
        thread.join()
    network.heal()
    wait_until(lambda: cluster.control("endpoint", "health", check=False).returncode == 0, 30)
    healed, different = different_copies(cluster, hosts + copies)
    values = cluster.values()
    count = int(values["count"])
    outcomes = sum((tally["additions"] for tally in tallies), collections.Counter())
    # After other errors nothing may have been stored.
    added, unknown = outcomes["stored"], outcomes["fleet.outcomeUnknown"]
    failed = {name: number for name, number in outcomes.items() if name not in ("stored", "fleet.outcomeUnknown")}
    stored = sum(tally["stored"] for tally in tallies)
    trial.figure(
        f"{cuts} cuts in {seconds} s (seed {seed}): {stored} values and {added} additions acknowledged, "
        f"{unknown} unknown, {failed or 'none'} failed, the count is {count}; all 9 copies equal after {healed} s"
    )
    for number, tally in zip(writers, tallies):
        own = int(values[f"own{number}"])
        trial.require(own >= tally["own"], f"own{number} is {own}, and {tally['own']} was acknowledged.")
    trial.require(added <= count <= added + unknown, "An addition was lost, or counted twice.")
    trial.require(not different, f"The copies of {different} are different.")


@case(is_short=True)
def cuts(trial):
    """Random cuts for half a minute, under load: nothing acknowledged is lost, and no copy is different at the end."""
    run_cuts(trial, 30)


@case(is_short=False)
def many_cuts(trial):
    """The same for five minutes."""
    run_cuts(trial, 300)
