"""Hosts that follow a cluster, and how long they take, for all cases."""

import time

from cluster import OPERATOR, Cluster, Host


def start_following(trial, numbers, others=()):
    """Three members, and hosts that have their copies, in a network with others."""
    network = trial.network([1, 2, 3, OPERATOR, *numbers, *others])
    cluster = Cluster(network).start()
    cluster.put("n", "1")
    hosts = [Host(cluster, number) for number in numbers]
    trial.require(len(seconds_until_healthy(hosts, 30)) == len(hosts), "Hosts do not start.")
    return network, cluster, hosts


def seconds_until_current(trial, cluster, hosts, limit):
    """Changes a key, and says after how many seconds each host has it; None for one that doesn't within the limit."""
    cluster.put("changed", str(time.time_ns()))
    revision = cluster.revision()
    start, seconds = time.monotonic(), {host.number: None for host in hosts}
    while None in seconds.values() and time.monotonic() - start < limit:
        for host in hosts:
            if seconds[host.number] is None and host.metric("revision") >= revision:
                seconds[host.number] = round(time.monotonic() - start, 1)
        time.sleep(0.05)
    return list(seconds.values())


def seconds_until_healthy(hosts, limit):
    """Starts hosts together, and says after how many seconds each is healthy, the earliest first."""
    start, seconds = time.monotonic(), {}
    for host in hosts:
        host.start()
    while len(seconds) < len(hosts) and time.monotonic() - start < limit:
        for host in hosts:
            if host.number not in seconds and host.is_healthy():
                seconds[host.number] = round(time.monotonic() - start, 1)
        time.sleep(0.05)
    return sorted(seconds.values())
