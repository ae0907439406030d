"""What the checks of the page share: a home with suites, the server, and a browser."""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.parse

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.chrome.service import Service

TOOL = os.environ.get("SETTINGS")
SECRET = "checks-0123456789-0123456789-0123456789"


class Home:
    """A directory for configuration of its own, and the tool."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="settings-page-"))
        self.environment = {**os.environ, "XDG_CONFIG_HOME": str(self.path)}
        self.environment.pop("SETTINGS_HIDE", None)

    def run(self, *arguments, input=None):
        return subprocess.run([TOOL, *arguments], env=self.environment, input=input, capture_output=True, check=True).stdout

    def read(self, *arguments):
        return self.run("read", *arguments).decode()

    def load(self, suite, values):
        """Stores values in the notation of exports."""
        self.run("import", suite, "-", input=json.dumps(values, ensure_ascii=False).encode())

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)


class Server:
    """`settings serve`, on a port that stays the same when it is started again."""

    def __init__(self, home, *arguments, environment={}, wrapper=[]):
        self.wrapper = wrapper
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.home = home
        self.arguments = arguments
        self.environment = {**home.environment, "SETTINGS_SECRET": SECRET, **environment}
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [*self.wrapper, TOOL, "serve", "--port", str(self.port), *self.arguments],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://127.0.0.1:"), self.process.stderr.read()

    def stop(self, signal="TERM"):
        """How many seconds the end takes."""
        start = time.monotonic()
        subprocess.run(["kill", f"-{signal}", str(self.process.pid)], check=True)
        self.process.wait(10)
        return time.monotonic() - start

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Browser:
    """Chromium, without a window."""

    def __init__(self, width=1280, height=800, dark=False, language="en-GB"):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--lang={language}",
                         f"--window-size={width},{height}", "--hide-scrollbars"]:
            options.add_argument(argument)
        options.add_experimental_option("prefs", {"intl.accept_languages": language})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.theme("dark" if dark else "light")

    def theme(self, name):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})

    def open(self, address):
        self.driver.get(address)

    def suite(self, server, name):
        self.open(server.address)
        self.driver.execute_script("location.hash = '#suite=' + encodeURIComponent(arguments[0])", name)
        self.wait(lambda: self.all("[role=grid], .faint:not(:empty)"), "The suite isn't shown.")
        self.wait(lambda: "keys" in self.text(".tools [role=status]"), "The keys are not shown.")

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def all(self, selector):
        """The elements that are seen; those that were replaced meanwhile are none."""
        seen = []
        for found in self.driver.find_elements(By.CSS_SELECTOR, selector):
            with contextlib.suppress(StaleElementReferenceException):
                if found.is_displayed():
                    seen.append(found)
        return seen

    def one(self, selector):
        found = []
        self.wait(lambda: found.extend(self.all(selector)) or found, f"{selector} isn't there.")
        return found[0]

    def text(self, selector="body"):
        return "\n".join(found.text for found in self.all(selector))

    def button(self, name, within=""):
        """The button with a name."""
        def find():
            with contextlib.suppress(StaleElementReferenceException):
                return [found for found in self.all(f"{within} button") if found.text.strip().startswith(name)]
        found = []
        self.wait(lambda: found.extend(find() or []) or found, f"There is no button {name!r}.")
        return found[0]

    def row(self, key):
        def find():
            return [row for row in self.all("[role=row]") if row.find_element(By.CSS_SELECTOR, ".key").text == key]
        self.wait(find, f"{key!r} isn't in the list.")
        return find()[0]

    def row_text(self, key):
        """All of a key's row, or nothing."""
        for row in self.all("[role=row]"):
            if row.find_element(By.CSS_SELECTOR, ".key").text == key:
                return row.text
        return ""

    def open_key(self, key):
        self.row(key).click()
        self.wait(lambda: key in self.text(".detail h2"), f"The value of {key!r} isn't shown.")

    def wait(self, condition, complaint, seconds=10):
        """Waits until a condition is true; how many seconds that takes."""
        start = time.monotonic()
        while True:
            with contextlib.suppress(StaleElementReferenceException):
                if condition():
                    return time.monotonic() - start
            if time.monotonic() - start > seconds:
                raise AssertionError(f"{complaint}\n{self.text()[:2000]}")
            time.sleep(0.02)

    def complaints(self):
        """What the browser's console has, but for requests that failed on purpose."""
        return [entry["message"] for entry in self.driver.get_log("browser")
                if "Failed to load resource" not in entry["message"] and "ERR_" not in entry["message"]]

    def picture(self, path):
        self.driver.save_screenshot(str(path))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()
