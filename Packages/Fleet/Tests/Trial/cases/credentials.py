"""Cases about users, passwords, tokens and certificates."""

import re
import signal
import time

from cases.following import seconds_until_current, seconds_until_healthy, start_following
from cluster import OPERATOR, SUITE, Certificates, Cluster, Host, Probe, different_copies, shell, wait_until
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


# What a check prints when all is well.
CONFIRMED = re.compile(r"^Revision \d+, confirmed \d+ seconds ago\.$")


def is_confirmed(check):
    return check[0] == 0 and CONFIRMED.search(check[1]) is not None


@case(is_short=True)
def certificates(trial):
    """Certificates of a host, then of all members, expire and are replaced in their files, without a restart."""
    network = trial.network([1, 2, 3, OPERATOR, 11, 12])
    authority = Certificates(network.folder)
    cluster = Cluster(network, certificates=authority, asks_for_certificates=True).start()
    cluster.put("n", "1")
    expiring, lasting = hosts = [Host(cluster, number) for number in (11, 12)]
    certificate, key = authority.issue("expiring", "/O=shop", seconds=20)
    expiry = time.monotonic() + 20
    expiring.options = ["--endpoints", cluster.endpoints, "--trust-roots", authority.authority]
    expiring.options += ["--certificate", certificate, "--private-key", key]
    trial.require(len(seconds_until_healthy(hosts, 15)) == 2, "Hosts do not start.")

    def restart_members():
        """Ends all connections, which were made with what was valid then."""
        for number in cluster.members:
            cluster.processes[number].kill()
            cluster.processes[number].wait()
        for number in cluster.members:
            cluster.start_member(number)

    def is_explained(host, text):
        """Whether a check says that the copy is not confirmed for more than a second, and why."""
        code, output = host.check("--maximum-age", "1")
        return code == 2 and text in output and host.trouble() == "certificate"

    def explain(host, text):
        seconds = wait_until(lambda: is_explained(host, text), 15, 0.5)
        trial.require(seconds is not None, f"A check ends with {host.check('--maximum-age', '1')}.")
        return seconds

    def go_on(hosts, start):
        """The seconds until a change is on hosts, and those from a moment until a check has nothing to say of them."""
        following = seconds_until_current(trial, cluster, hosts, 30)
        trial.require(None not in following, "A change does not arrive.")
        for host in hosts:
            well = wait_until(lambda: host.trouble() is None and is_confirmed(host.check("--maximum-age", "20")), 30)
            trial.require(well is not None, f"A check ends with {host.check()}.")
        return max(following), round(time.monotonic() - start, 1)

    time.sleep(max(0, expiry + 1 - time.monotonic()))
    trial.require(None not in seconds_until_current(trial, cluster, hosts, 5), "An open connection does not go on.")
    start = time.monotonic()
    restart_members()
    explained = explain(expiring, "A member has refused this program's certificate, which may have expired")
    go_on([lasting], start)
    for number in range(50):
        cluster.put(f"missed{number}", str(number))
    start = time.monotonic()
    authority.issue("expiring", "/O=shop")
    following, own = go_on(hosts, start)
    trial.figure(
        f"a host's certificate expired: a check explains it after {explained} s; replaced, a change arrives after "
        f"{following} s, and all is well after {own} s"
    )

    addresses = [f"10.77.0.{number}" for number in cluster.members]
    authority.issue("member", "/O=etcd", addresses, seconds=-1)
    restart_members()
    explained = max(explain(host, "A member's certificate is not valid") for host in hosts)
    start = time.monotonic()
    authority.issue("member", "/O=etcd", addresses)
    following, members = go_on(hosts, start)
    trial.figure(
        f"the members' expired: explained after {explained} s; replaced, a change arrives after {following} s, "
        f"and all is well after {members} s"
    )
    trial.require(own <= 15 and members <= 15, "A certificate that was replaced is used after more than 15 s.")
    trial.require(not different_copies(cluster, hosts)[1], "A copy is different.")


@case(is_short=True)
def checks(trial):
    """`fleet-agent --check` ends with 0, 2 and 3 as documented, and states the cause of what is done to a host."""
    network, cluster, [host] = start_following(trial, [11])
    cluster.enable_authentication()
    host.stop()
    host = Host(cluster, 11, user="reader").start()
    strict = ("--maximum-age", "1")

    def expect(code, text, cause, *arguments):
        """Waits for a check's exit code and text, and the cause in the agent's metrics."""

        def is_found():
            found, output = host.check(*arguments)
            return found == code and re.search(text, output) and (not host.is_running or host.trouble() == cause)

        seconds = wait_until(is_found, 20, 0.2)
        trial.require(seconds is not None, f"Not {code}, {text}, {cause}: {host.check(*arguments)}, {host.trouble()}.")
        return seconds

    causes = {}
    expect(0, CONFIRMED, None)
    cluster.control("user", "revoke-role", "reader", "reader")
    causes["permission"] = expect(2, "no permission to read the suite", "permission", *strict)
    cluster.control("user", "grant-role", "reader", "reader")
    expect(0, CONFIRMED, None)
    network.link(11, cluster.members, loss=100)
    causes["unreachable"] = expect(2, "No member of the cluster can be reached", "unreachable", *strict)
    # Not for a minute yet, which is what counts without the option.
    expect(0, "No member of the cluster can be reached", "unreachable")
    network.heal()
    expect(0, CONFIRMED, None)
    host.stop(signal.SIGKILL)
    expect(2, "No process of this host follows the cluster", None)
    host.start()
    expect(0, CONFIRMED, None)
    cluster.control("del", f"defaults/{SUITE}/store")
    causes["replaced"] = expect(3, "^The store was replaced", host.trouble())
    trial.figure(f"a check states what is done after these seconds: {causes}")


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
