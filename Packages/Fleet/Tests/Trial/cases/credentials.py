"""Cases about users, passwords, tokens and certificates."""

import signal
import time

from cases.following import seconds_until_current, seconds_until_healthy
from cluster import OPERATOR, Certificates, Cluster, Host, Probe, shell, wait_until
from trial import case


def change_authentication(trial, asks_for_certificates):
    network = trial.network([1, 2, 3, OPERATOR, 11, 12, 13])
    certificates = Certificates(network.folder) if asks_for_certificates else None
    cluster = Cluster(network, certificates=certificates, asks_for_certificates=asks_for_certificates).start()
    early = Host(cluster, 12, user="reader").start()
    trial.require(wait_until(early.is_healthy, 20) is not None, "A host does not start without authentication.")
    options = ["writer"]
    if certificates:
        options += [certificates.authority, f"{network.folder}/host.pem", f"{network.folder}/host.key"]
    program = Probe(network, 13, "write", f"{network.folder}/program", cluster.endpoints, *options)
    trial.require(wait_until(lambda: program.ask("flush") == "stored", 20) is not None, "A program does not start.")

    def program_seconds():
        return wait_until(lambda: program.ask("set n 1") == "stored", 30)

    cluster.enable_authentication()
    late = Host(cluster, 11, user="reader").start()
    hosts = [early, late]
    for what in ("enabled", "disabled, and 18 s later enabled again"):
        if what != "enabled":
            cluster.switch_authentication(False)
            time.sleep(18)
            cluster.switch_authentication(True)
        start = time.monotonic()
        writing = program_seconds()
        following = seconds_until_current(trial, cluster, hosts, 30)
        # A watch goes on without being authorized again, but a heartbeat is a request.
        confirming = [
            wait_until(lambda: host.metric("unconfirmed_seconds") < time.monotonic() - start, 60) for host in hosts
        ]
        confirmed = time.monotonic() - start
        trial.figure(
            f"authentication {what}: a change is on two hosts after {following} s, whose copies are confirmed after "
            f"{confirmed:.1f} s; a program writes after {writing} s"
        )
        seconds = [writing, *following]
        trial.require(all(s is not None and s <= 15 for s in seconds), "Changes are held up for more than 15 s.")
        trial.require(None not in confirming and confirmed <= 20, "Copies are not confirmed within 20 s.")


@case(is_short=False)
def authentication(trial):
    """Authentication is enabled, disabled and enabled under running agents and programs, which go on within 15 s."""
    change_authentication(trial, asks_for_certificates=False)


@case(is_short=True)
def authentication_with_certificates(trial):
    """The same, with members that ask for certificates."""
    change_authentication(trial, asks_for_certificates=True)


@case(is_short=True)
def stopped_member(trial):
    """One member of three is stopped, then unreachable: with passwords all commands work, and 15 hosts start."""
    numbers = list(range(11, 26))
    network = trial.network([1, 2, 3, OPERATOR, *numbers])
    cluster = Cluster(network).start()
    cluster.put("n", "1")
    cluster.enable_authentication()
    operator = Host(cluster, OPERATOR, user="writer")
    leader = cluster.leader()
    member = next(number for number in cluster.members if number != leader)

    def look(what):
        results = [operator.timed_call(*command) for _ in range(6) for command in (["set", "n", "5"], ["get", "n"])]
        failed = [result.stderr[-200:] for result, _ in results if result.returncode]
        slowest = max(seconds for _, seconds in results)
        trial.figure(f"{what}: {len(failed)} of {len(results)} commands fail, the slowest takes {slowest} s")
        hosts = [Host(cluster, number, user="reader", name=f"{what}{number}") for number in numbers]
        seconds = seconds_until_healthy(hosts, 60)
        trial.figure(f"{what}: {len(seconds)} of {len(hosts)} hosts are healthy, the last after {seconds[-1:]} s")
        for host in hosts:
            host.stop()
        trial.require(not failed, f"Commands fail: {failed[-1:]}")
        trial.require(slowest <= 6, "A command takes longer than its deadline of 5 s.")
        trial.require(len(seconds) == len(hosts) and seconds[-1] <= 15, "Hosts wait for more than 15 s.")

    cluster.processes[member].send_signal(signal.SIGSTOP)
    look("stopped")
    cluster.processes[member].send_signal(signal.SIGCONT)
    time.sleep(2)
    for number in [*numbers, OPERATOR]:
        network.link(number, [member], loss=100)
    look("unreachable")


@case(is_short=False)
def crowd(trial):
    """60 hosts with passwords start together, over links with 200 ms in each direction and 2 % loss."""
    numbers = list(range(11, 71))
    network = trial.network([1, 2, 3, OPERATOR, *numbers])
    cluster = Cluster(network).start()
    for number in range(100):
        cluster.put(f"key{number}", f'"{"x" * 1000}"')
    cluster.enable_authentication()
    for number in numbers:
        network.link(number, cluster.members, delay=200, loss=2)
    hosts = [Host(cluster, number, user="reader") for number in numbers]
    seconds = seconds_until_healthy(hosts, 120)
    trial.figure(
        f"{len(seconds)} of 60 hosts have a suite of 100 kB, the first after {seconds[0]} s, half of them after "
        f"{seconds[len(seconds) // 2]} s, the last after {seconds[-1]} s"
    )
    trial.require(len(seconds) == 60 and seconds[-1] <= 60, "Not all have their copy within 60 s.")
    delays = []
    for _ in range(5):
        delays += seconds_until_current(trial, cluster, hosts, 60)
    arrived = sorted(delay for delay in delays if delay is not None)
    trial.figure(
        f"{len(arrived)} of 300 changes arrive, half within {arrived[len(arrived) // 2]} s, the last in {arrived[-1]} s"
    )
    trial.require(len(arrived) == 300 and arrived[-1] <= 20, "A change takes longer than 20 s.")
    time.sleep(20)
    ages = sorted(host.metric("unconfirmed_seconds") for host in hosts)
    largest = max(host.memory() for host in hosts)
    trial.figure(
        f"20 s later half of the copies are confirmed {ages[30]:.0f} s ago, the oldest {ages[-1]:.0f} s; "
        f"an agent has at most {largest} MB"
    )


@case(is_short=False)
def tokens(trial):
    """Members with --auth-token jwt, whose tokens expire after 20 s, and hosts with passwords."""
    network = trial.network([1, 2, 3, OPERATOR, *range(11, 17)])
    key, public = f"{network.folder}/jwt.key", f"{network.folder}/jwt.pub"
    shell("openssl", "genrsa", "-out", key, "2048")
    shell("openssl", "rsa", "-in", key, "-pubout", "-out", public)
    option = f"jwt,pub-key={public},priv-key={key},sign-method=RS256,ttl=20s"
    cluster = Cluster(network, options=["--auth-token", option]).start()
    cluster.put("n", "1")
    cluster.enable_authentication()
    hosts = [Host(cluster, number, user="reader") for number in range(11, 17)]
    seconds = seconds_until_healthy(hosts, 60)
    trial.figure(f"{len(seconds)} of 6 hosts are healthy, the last after {seconds[-1:]} s")
    trial.require(len(seconds) == 6, "Hosts do not start with tokens of JWT.")
    worst = 0
    for _ in range(6):
        time.sleep(9)
        delays = seconds_until_current(trial, cluster, hosts, 30)
        trial.require(None not in delays, "A change does not arrive within 30 s.")
        worst = max(worst, *delays)
    ages = max(host.metric("unconfirmed_seconds") for host in hosts)
    trial.figure(
        f"in 60 s with tokens that live for 20 s, a change takes at most {worst} s, the oldest copy is {ages:.0f} s old"
    )
    operator = Host(cluster, OPERATOR, user="writer")
    results = [operator.timed_call("set", "n", str(number))[0].returncode for number in range(5)]
    trial.require(results == [0] * 5, f"Commands end with {results}.")
    trial.require(worst <= 15 and ages <= 20, "An expired token holds up changes or heartbeats.")
