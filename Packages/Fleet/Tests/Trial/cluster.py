"""A cluster of etcd, hosts with agents, and programs, each in a network namespace, behind links that can be bad.

`run` starts the cases that use this. Addresses are 10.77.0.<id>: members are 1 to 4, the operator is 9, and hosts
begin at 11.
"""

import base64
import json
import mmap
import os
import queue
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

OPERATOR = 9
SUITE = "trial"
PREFIX = f"defaults/{SUITE}/k/"
NAMESPACES = "fleet-trial"


def wait_until(condition, limit=60, pause=0.1):
    """The seconds until a condition is true, or None if it isn't within the limit."""
    start = time.monotonic()
    while time.monotonic() - start < limit:
        if condition():
            return round(time.monotonic() - start, 2)
        time.sleep(pause)
    return None


def shell(*command, check=True):
    result = subprocess.run(command, capture_output=True, text=True)
    if check and result.returncode:
        raise RuntimeError(f"{' '.join(command)}: {result.stderr}")
    return result


def remove_left_namespaces():
    """Removes what runs left that were killed: the namespaces' names have the process that made them."""
    for line in shell("ip", "netns", "list").stdout.splitlines():
        name = line.split(" ")[0]
        if name.startswith(NAMESPACES + "-") and not os.path.exists(f"/proc/{name.split('-')[2]}"):
            shell("ip", "netns", "delete", name, check=False)


class Network:
    """Namespaces with one address each, joined by netsim."""

    def __init__(self, folder, binaries, ids):
        self.folder, self.binaries, self.ids = folder, binaries, list(ids)
        self.processes = []
        # Threads of a case that is interrupted must not start anything after the rest was ended.
        self.lock, self.is_closed = threading.Lock(), False
        os.makedirs(folder)
        # The clients of this machine's own configuration would connect elsewhere.
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("ETCD", "FLEET_AGENT"))}
        self.environment.update(ETCDCTL_API="3", HOME=folder, SWIFT_BACKTRACE="enable=no")
        # The name of a network interface has 15 characters at most.
        self.prefix = f"ft{os.getpid() % 100_000_000}x"
        self.switch = subprocess.Popen(
            [f"{binaries}/netsim", f"{folder}/rules", self.prefix, *map(str, self.ids)],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            if self.switch.stdout.readline() != "ready\n":
                raise RuntimeError("netsim could not make its devices.")
            for number in self.ids:
                name, device = self.namespace(number), self.device(number)
                shell("ip", "netns", "add", name)
                shell("ip", "link", "set", device, "netns", name)
                shell("ip", "-n", name, "link", "set", "lo", "up")
                shell("ip", "-n", name, "address", "add", f"10.77.0.{number}/24", "dev", device)
                shell("ip", "-n", name, "link", "set", device, "up")
            with open(f"{folder}/rules", "r+b") as file:
                self.rules = mmap.mmap(file.fileno(), 0)
        except BaseException:
            self.close()
            raise

    def namespace(self, number):
        return f"{NAMESPACES}-{os.getpid()}-{number}"

    def device(self, number):
        return f"{self.prefix}{number}"

    def direct(self, source, destination, delay=0, loss=0):
        """How packets get from one address to another: milliseconds, and percent lost, of which 100 is a cut."""
        position = (source * 256 + destination) * 8
        self.rules[position : position + 8] = struct.pack("ff", delay, loss)

    def link(self, one, others, delay=0, loss=0):
        for other in others:
            self.direct(one, other, delay, loss)
            self.direct(other, one, delay, loss)

    def heal(self):
        self.rules[:] = bytes(len(self.rules))

    def start(self, number, *command, log=None, **options):
        output = open(log, "ab") if log else subprocess.DEVNULL
        options.setdefault("stdout", output)
        options.setdefault("stderr", output)
        command = ["ip", "netns", "exec", self.namespace(number), *command]
        with self.lock:
            if self.is_closed:
                raise RuntimeError("The network is closed.")
            self.processes.append(subprocess.Popen(command, env=self.environment, **options))
            return self.processes[-1]

    def call(self, number, *command, timeout=90, input=None):
        command = ["ip", "netns", "exec", self.namespace(number), *command]
        return subprocess.run(
            command, env=self.environment, input=input, capture_output=True, text=True, timeout=timeout
        )

    def close(self, keeps_files=False):
        with self.lock:
            self.is_closed = True
        for process in [*self.processes, self.switch]:
            if process.poll() is None:
                process.kill()
        for process in [*self.processes, self.switch]:
            process.wait()
        for number in self.ids:
            shell("ip", "netns", "delete", self.namespace(number), check=False)
        if not keeps_files:
            shutil.rmtree(self.folder, ignore_errors=True)


class Certificates:
    """An authority, and certificates from it."""

    def __init__(self, folder):
        self.folder = folder
        self.authority = f"{folder}/authority.pem"
        shell(
            *"openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=authority -keyout".split(),
            f"{folder}/authority.key", "-out", self.authority,
        )  # fmt: skip
        # `openssl x509` knows whole days only, this knows seconds.
        with open(f"{folder}/authority.conf", "w") as file:
            file.write("[ca]\ndefault_ca=a\n[a]\nnew_certs_dir=" + folder + "\ndatabase=" + folder + "/index\n")
            file.write("rand_serial=yes\nunique_subject=no\ndefault_md=sha256\npolicy=p\n[p]\n")
            file.write("organizationName=optional\n")
        open(f"{folder}/index", "w").close()

    def issue(self, name, subject, addresses=(), seconds=9 * 86_400):
        """The paths of a certificate and its private key, which replace those with the same name."""
        path = f"{self.folder}/{name}"
        end = time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + seconds))
        with open(f"{path}.extensions", "w") as file:
            file.write("extendedKeyUsage=serverAuth,clientAuth\n")
            if addresses:
                file.write("subjectAltName=" + ",".join(f"IP:{address}" for address in addresses) + "\n")
        shell(
            *"openssl req -newkey rsa:2048 -nodes -keyout".split(), f"{path}.key.new", "-out", f"{path}.csr",
            "-subj", subject,
        )  # fmt: skip
        shell(
            *"openssl ca -batch -notext -config".split(), f"{self.folder}/authority.conf", "-in", f"{path}.csr",
            "-cert", self.authority, "-keyfile", f"{self.folder}/authority.key",
            "-startdate", "20200101000000Z", "-enddate", end,
            "-extfile", f"{path}.extensions", "-out", f"{path}.pem.new",
        )  # fmt: skip
        os.replace(f"{path}.key.new", f"{path}.key")
        os.replace(f"{path}.pem.new", f"{path}.pem")
        return f"{path}.pem", f"{path}.key"


class Cluster:
    """Members of etcd with one suite, its operator, and what they are asked and given by hand."""

    def __init__(self, network, members=(1, 2, 3), certificates=None, asks_for_certificates=False, options=()):
        self.network, self.members = network, list(members)
        self.scheme = "https" if certificates else "http"
        self.options = list(options)
        # What agents, and etcdctl, need to connect.
        self.agent_options, self.control_options = [], []
        self.user = None
        self.processes = {}
        if certificates:
            addresses = [f"10.77.0.{number}" for number in self.members]
            certificate, key = certificates.issue("member", "/O=etcd", addresses)
            self.options += ["--cert-file", certificate, "--key-file", key]
            self.agent_options += ["--trust-roots", certificates.authority]
            self.control_options += ["--cacert", certificates.authority]
            if asks_for_certificates:
                self.options += ["--trusted-ca-file", certificates.authority, "--client-cert-auth"]
                certificate, key = certificates.issue("host", "/O=shop")
                self.agent_options += ["--certificate", certificate, "--private-key", key]
                self.control_options += ["--cert", certificate, "--key", key]

    def url(self, number):
        return f"{self.scheme}://10.77.0.{number}:2379"

    @property
    def endpoints(self):
        return ",".join(map(self.url, self.members))

    def start_member(self, number, state="new", others=()):
        peers = ",".join(f"m{n}=http://10.77.0.{n}:2380" for n in [*self.members, *others])
        folder, peer = self.network.folder, f"http://10.77.0.{number}:2380"
        self.processes[number] = self.network.start(
            number, "etcd", "--name", f"m{number}", "--data-dir", f"{folder}/m{number}",
            "--listen-client-urls", self.url(number), "--advertise-client-urls", self.url(number),
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", peers, "--initial-cluster-state", state,
            "--logger", "zap", "--log-level", "warn", *self.options,
            log=f"{folder}/m{number}.log",
        )  # fmt: skip

    def start(self):
        """Starts the members, and gives the suite its identity."""
        for number in self.members:
            self.start_member(number)
        if wait_until(lambda: self.control("endpoint", "health", check=False).returncode == 0, 60) is None:
            raise RuntimeError("The members were not healthy within a minute.")
        result = Host(self, OPERATOR, name="initializer").call("--initialize")
        if result.returncode:
            raise RuntimeError(result.stderr)
        return self

    def control(self, *arguments, check=True, endpoints=None, input=None):
        user = ["--user", self.user] if self.user else []
        command = ["etcdctl", "--endpoints", endpoints or self.endpoints, *self.control_options, *user, *arguments]
        result = self.network.call(OPERATOR, *command, input=input)
        if check and result.returncode:
            raise RuntimeError(f"etcdctl {' '.join(arguments)}: {result.stderr[-400:]}")
        return result

    def insist(self, *arguments):
        """Asks one member after the other, since etcdctl goes on waiting for one that is stopped or has no leader."""
        for attempt in range(20):
            address = self.url(self.members[attempt % len(self.members)])
            result = self.control("--command-timeout=2s", *arguments, check=False, endpoints=address)
            if result.returncode == 0:
                return result
            time.sleep(0.2)
        raise RuntimeError(f"etcdctl {' '.join(arguments)}: {result.stderr[-400:]}")

    def put(self, key, text):
        self.insist("put", PREFIX + key, text)

    def values(self):
        """The suite's texts by their keys."""
        answer = json.loads(self.insist("get", "--prefix", PREFIX, "-w", "json").stdout)
        text = lambda encoded: base64.b64decode(encoded).decode()
        return {text(entry["key"])[len(PREFIX) :]: text(entry.get("value", "")) for entry in answer.get("kvs", [])}

    def revision(self):
        return json.loads(self.insist("get", "nothing", "-w", "json").stdout)["header"]["revision"]

    def watch_count(self, number):
        """How many watches a member has."""
        program = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())"
        text = self.network.call(OPERATOR, sys.executable, "-c", program, self.url(number) + "/metrics").stdout
        lines = [line.split() for line in text.splitlines()]
        return next((int(float(line[1])) for line in lines if line[:1] == ["etcd_debugging_mvcc_watcher_total"]), 0)

    def leader(self):
        for number in self.members:
            result = self.control("endpoint", "status", "-w", "json", endpoints=self.url(number), check=False)
            if result.returncode == 0:
                status = json.loads(result.stdout)[0]["Status"]
                if status["leader"] == status["header"]["member_id"]:
                    return number
        raise RuntimeError("There is no leader.")

    def enable_authentication(self):
        """Adds the users writer, reader and root, whose passwords are their names, and enables authentication."""
        for line in f"""
            role add writer
            role grant-permission writer readwrite --prefix=true defaults/{SUITE}/
            user add writer:writer
            user grant-role writer writer
            role add reader
            role grant-permission reader read --prefix=true defaults/{SUITE}/
            role grant-permission reader readwrite defaults/{SUITE}/pulse
            user add reader:reader
            user grant-role reader reader
            user add root:root
            user grant-role root root
        """.strip().splitlines():
            self.control(*line.split())
        self.switch_authentication(True)

    def switch_authentication(self, is_enabled):
        self.control("auth", "enable" if is_enabled else "disable")
        self.user = "root:root" if is_enabled else None


class Host:
    """A host, with an agent that follows the cluster, or an operator's commands."""

    def __init__(self, cluster, number, user=None, options=(), name=None):
        self.cluster, self.network, self.number = cluster, cluster.network, number
        self.folder = f"{self.network.folder}/{name or f'h{number}'}"
        self.copy = f"{self.folder}/{SUITE}"
        self.process = None
        os.makedirs(self.folder, exist_ok=True)
        self.options = ["--endpoints", cluster.endpoints, *cluster.agent_options, *options]
        if user:
            with open(f"{self.folder}/password", "w") as file:
                file.write(user)
            self.options += ["--user", user, "--password-file", file.name]

    def start(self):
        self.process = self.network.start(
            self.number, f"{self.network.binaries}/fleet-agent", "--suite", SUITE, *self.options,
            "--replicas", self.folder, "--listen", f"unix:{self.folder}/socket", log=f"{self.folder}/log",
        )  # fmt: skip
        return self

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait()

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def call(self, *arguments):
        """Runs a command of the agent."""
        agent = f"{self.network.binaries}/fleet-agent"
        return self.network.call(self.number, agent, *arguments, *self.options, "--suite", SUITE)

    def timed_call(self, *arguments):
        start = time.monotonic()
        result = self.call(*arguments)
        return result, round(time.monotonic() - start, 1)

    def ask(self, path):
        """The status and text of the agent's answer; 0 if there is none."""
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(5)
                connection.connect(f"{self.folder}/socket")
                connection.send(f"GET {path} HTTP/1.1\r\nHost: host\r\n\r\n".encode())
                answer = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
            head, _, body = answer.partition("\r\n\r\n")
            return int(head.split(" ")[1]), body
        except (OSError, IndexError, ValueError):
            return 0, ""

    def is_healthy(self):
        return self.ask("/healthz")[0] == 200

    def metric(self, name):
        for line in self.ask("/metrics")[1].splitlines():
            if line.startswith(f"default_fleet_{name}{{"):
                return float(line.rpartition(" ")[2])
        return 0.0

    def trouble(self):
        """The cause that the agent states; None if all is well."""
        for line in self.ask("/metrics")[1].splitlines():
            if line.startswith("default_fleet_trouble{") and line.endswith("} 1"):
                return line.partition('cause="')[2].partition('"')[0]
        return None

    def check(self, *arguments):
        """The exit code of a check, and what it prints."""
        agent = f"{self.network.binaries}/fleet-agent"
        result = self.network.call(
            self.number, agent, "--check", "--suite", SUITE, "--endpoints", self.cluster.endpoints,
            "--replicas", self.folder, *arguments,
        )  # fmt: skip
        return result.returncode, (result.stdout + result.stderr).strip()

    def memory(self):
        return memory(self.process)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def memory(process):
    """The megabytes of a process that are in memory."""
    with open(f"/proc/{process.pid}/status") as file:
        return round(next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024)


def processor_seconds(process):
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Probe:
    """The program FleetTrialProbe: it reads hosts' copies, or uses the library as a program of a host does."""

    def __init__(self, network, number, action, *arguments):
        self.process = network.start(
            number, f"{network.binaries}/FleetTrialProbe", action, SUITE, *map(str, arguments),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(f"{network.folder}/probe.log", "ab"), text=True,
        )  # fmt: skip
        self.answers = queue.Queue()
        threading.Thread(target=self.receive, daemon=True).start()

    def receive(self):
        for line in self.process.stdout:
            self.answers.put(json.loads(line))
        self.answers.put(None)

    def answer(self, limit=60):
        """What the program prints next; None at its end."""
        return self.answers.get(timeout=limit)

    def ask(self, line, limit=60):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.answer(limit)

    def end(self, limit=60):
        """Closes the program's input, which ends it, and returns what it prints then."""
        self.process.stdin.close()
        return self.answer(limit)


def copies(hosts):
    """The texts of each host's copy by their keys; None for a copy that can't be read."""
    network = hosts[0].network
    probe = Probe(network, OPERATOR, "dump", *[host.copy for host in hosts])
    return [probe.answer() for _ in hosts]


def different_copies(cluster, hosts, limit=60):
    """The hosts whose copies are not the cluster's contents within the limit; and the seconds until they were."""
    expected = cluster.values()
    different = hosts

    def is_done():
        nonlocal different
        different = [host for host, copy in zip(different, copies(different)) if copy != expected]
        return not different

    return wait_until(is_done, limit, 0.5), [host.number for host in different]
