"""Every page and every act in Chromium, by mouse and by keys, with scripts and without."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from agent_memory.caller import Caller
from agent_memory.rules.drafts import NoteDraft
from memory_process import Memory
from served_page import address_of, opened

pytestmark = pytest.mark.faults

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
LIMIT_SECONDS = 60
PAGES = ("/", "/notes", "/runs", "/sessions", "/now", "/projects", "/figures", "/figures/use", "/health")
HOSTILE = '<script>document.title="broken"</script><img src=x onerror="document.title=1"> [x](javascript:alert(1))'


@pytest.fixture(scope="module", params=["with scripts", "without"])
def driver(request: pytest.FixtureRequest) -> Iterator[webdriver.Chrome]:
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("NO PAGE WAS TRIED IN A BROWSER: chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(word)
    if request.param == "without":
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield started
    started.quit()


@pytest.fixture
def memory(home: Path) -> Memory:
    memory = Memory.unrecorded(home)
    memory.captured("Lamps", "Lamps are lit at dusk.")
    assert memory("consolidate").code == 0
    memory.remembered("The request timeout of the tide client is 30 seconds.")
    memory.remembered("The request timeout of the tide client is 45 seconds.")
    service = opened(home).called_by(Caller(client="figma")).service
    for text in (f"Ropes {HOSTILE}", "Pumps are oiled.", "Nets are mended.", "Buoys are red."):
        service.remember(NoteDraft(text)).unwrap()
    return memory


@pytest.fixture
def page(memory: Memory, driver: webdriver.Chrome) -> Iterator[str]:
    driver.implicitly_wait(5)
    process = memory.start("serve", "--no-open", "--port", "0")
    address = address_of(process)
    driver.get(address)
    driver.find_element(By.XPATH, "//h1[text()='Inbox']")
    yield address.partition("/?")[0]
    process.terminate()
    process.communicate(timeout=LIMIT_SECONDS)
    logged = driver.execute("getLog", {"type": "browser"})["value"]
    assert [each["message"] for each in logged if "favicon" not in each["message"]] == []  # nothing forbidden was tried


def said(driver: webdriver.Chrome, words: str) -> None:
    told = By.XPATH, f"//*[@class='said'][contains(., '{words}')]"
    WebDriverWait(driver, LIMIT_SECONDS).until(lambda _: driver.find_elements(*told))


def press(driver: webdriver.Chrome, words: str, inside: str = "//main") -> None:
    click(driver, By.XPATH, f"{inside}//button[starts-with(normalize-space(.), '{words}')]")


def click(driver: webdriver.Chrome, by: str, what: str) -> None:
    """Clicks, and again where a part of the page was just being replaced."""

    def is_clicked(_: webdriver.Chrome) -> bool:
        driver.find_element(by, what).click()
        return True

    WebDriverWait(driver, LIMIT_SECONDS, ignored_exceptions=[StaleElementReferenceException]).until(is_clicked)


def test_every_page_opens_and_every_act_is_done(memory: Memory, page: str, driver: webdriver.Chrome) -> None:
    for path in PAGES:
        driver.get(page + path)
        section = driver.find_element(By.CSS_SELECTOR, "nav a[aria-current]").get_attribute("href")
        assert section == page + path.removesuffix("/use")
        assert driver.title.endswith("· memory")
        driver.set_window_size(400, 900)
        width = driver.get_window_size()["width"]
        assert driver.find_element(By.TAG_NAME, "main").size["width"] <= width
        driver.set_window_size(1100, 900)
    driver.get(f"{page}/")
    for words, outcome in (("Let this one stand", "Superseded"), ("Keep", "Kept"), ("Reject", "Rejected")):
        press(driver, words, "//article[1]")
        said(driver, outcome)
    press(driver, "Later", "//article[1]")
    said(driver, "Put off")
    driver.find_element(By.XPATH, "//article[1]//summary").click()
    area = driver.find_element(By.XPATH, "//article[1]//textarea")
    area.clear()
    area.send_keys("Written in the browser.")
    press(driver, "Save", "//article[1]")
    said(driver, "Edited")
    driver.get(f"{page}/notes")
    driver.find_element(By.NAME, "q").send_keys("dusk", Keys.ENTER)
    driver.find_element(By.XPATH, "//mark[text()='dusk']")
    click(driver, By.LINK_TEXT, "Lamps")
    driver.find_element(By.XPATH, "//h1[text()='Lamps']")
    for words, outcome in (("Pin", "Pinned"), ("Unpin", "Unpinned"), ("Archive", "Archived"), ("Restore", "Restored")):
        press(driver, words)
        said(driver, outcome)
    driver.get(f"{page}/runs")
    driver.find_element(By.CSS_SELECTOR, "td.when a").click()
    driver.find_element(By.LINK_TEXT, "Undo …").click()
    press(driver, "Undo it")
    said(driver, "ndid")
    driver.get(f"{page}/projects")
    press(driver, "Pause everything for")
    said(driver, "Memory is paused until")
    press(driver, "Resume")
    said(driver, "Memory is back")
    driver.get(f"{page}/now")
    press(driver, "Show")
    driver.find_element(By.CSS_SELECTOR, ".told")


def test_twins_notes_projects_and_damage_are_dealt_with(memory: Memory, page: str, driver: webdriver.Chrome) -> None:
    lamp, quay = memory.work_tree(), memory.work_tree("quay")
    for word in ("each", "every"):
        text = f"The anchor chain is greased {word} spring by the crew of the harbour, before the first boats go out."
        assert memory("remember", text, cwd=lamp).code == 0
    assert memory("remember", "The quay has nine lamps.", cwd=quay).code == 0
    (memory.root / "topics" / "Winch.md").write_text("# Winch\n\nThe winch is red.\n")
    driver.get(f"{page}/?kind=near-duplicate")
    press(driver, "Merge", "//article[1]")
    said(driver, "Merged")
    driver.get(f"{page}/notes?q=pumps")
    click(driver, By.PARTIAL_LINK_TEXT, "Pumps")
    press(driver, "Vouch for it")
    said(driver, "Vouched for")
    driver.find_element(By.XPATH, "//summary[starts-with(., 'Edit')]").click()
    driver.find_element(By.XPATH, "//textarea").send_keys(" Twice.")
    press(driver, "Save")
    said(driver, "Changed")
    press(driver, "Bring back the text before")
    said(driver, "Restored")
    driver.get(f"{page}/notes")
    driver.find_element(By.XPATH, "//summary[starts-with(., 'New note')]").click()
    driver.find_element(By.NAME, "body").send_keys("The quay is swept on Mondays.")
    press(driver, "Remember")
    said(driver, "Remembered")
    driver.get(f"{page}/projects")
    for words, outcome in (("Exclude", "is excluded"), ("Include again", "is included")):
        press(driver, words, "//article[contains(., 'ada/lamp')]")
        said(driver, outcome)
    for words, old, key in (("Rename", "lamp", "github.com/ada/pier"), ("Merge with", "pier", "github.com/ada/quay")):
        row = f"//article[contains(., 'ada/{old}')]"
        driver.find_element(By.XPATH, f"{row}//summary").click()
        field = driver.find_element(By.XPATH, f"{row}//input[@name='new']")
        field.clear()
        field.send_keys(key)
        press(driver, words, row)
        said(driver, "moved")
    driver.get(f"{page}/health")
    press(driver, "Repair")
    said(driver, "repair")


def test_keys_alone_are_enough_to_decide(page: str, driver: webdriver.Chrome) -> None:
    driver.get(f"{page}/?kind=external")
    if not driver.find_elements(By.CSS_SELECTOR, ".item.chosen"):
        pytest.skip("keys need scripts")
    body = driver.find_element(By.TAG_NAME, "body")
    body.send_keys("j")
    second = driver.find_element(By.CSS_SELECTOR, ".item.chosen h2").text
    third = driver.find_elements(By.CSS_SELECTOR, ".item h2")[2].text
    body.send_keys("r")
    said(driver, f"Rejected {second[:20]}")
    assert driver.find_element(By.CSS_SELECTOR, ".item.chosen h2").text == third, "what was passed over stays so"
    for key, outcome in (("a", "Kept"), ("l", "Put off")):
        driver.find_element(By.TAG_NAME, "body").send_keys(key)
        said(driver, outcome)
    driver.find_element(By.TAG_NAME, "body").send_keys("e")
    driver.switch_to.active_element.send_keys(" Typed at once.", Keys.TAB, Keys.ENTER)
    said(driver, "Edited")
    driver.get(f"{page}/?kind=contradiction")
    driver.find_element(By.TAG_NAME, "body").send_keys("s")
    said(driver, "Superseded")
    driver.get(f"{page}/notes")
    driver.find_element(By.TAG_NAME, "body").send_keys("n")
    driver.switch_to.active_element.send_keys("Added by keys.", *[Keys.TAB] * 5, Keys.ENTER)
    said(driver, "Remembered")
    driver.get(f"{page}/notes")
    driver.find_element(By.TAG_NAME, "body").send_keys("/")
    driver.switch_to.active_element.send_keys("dusk")
    driver.find_element(By.XPATH, "//mark[text()='dusk']")  # without pressing Enter


@pytest.mark.parametrize("driver", ["with scripts"], indirect=True)
def test_where_no_server_answers_the_page_says_so(memory: Memory, driver: webdriver.Chrome) -> None:
    server = memory.start("serve", "--no-open", "--port", "0")
    driver.get(address_of(server))
    keep = WebDriverWait(driver, LIMIT_SECONDS).until(lambda _: driver.find_element(By.CSS_SELECTOR, "[value=keep]"))
    server.terminate()
    server.communicate(timeout=LIMIT_SECONDS)
    keep.click()
    said = WebDriverWait(driver, LIMIT_SECONDS).until(lambda _: driver.find_element(By.CSS_SELECTOR, "[role=alert]"))
    assert "The server does not answer" in said.text
    driver.execute("getLog", {"type": "browser"})  # what it says of the refusal is not the next test's


FOREIGN = """<form method=post enctype=text/plain action="{note}/archive"><input name='{{"a":"' value='"}}'></form><script>
const json = {{"Content-Type": "application/json"}}, said = '{{"id": "{id}", "content": "Said by a stranger."}}';
const send = (path, more) => fetch(path, {{method: "POST", credentials: "include", headers: json, body: said, ...more}});
navigator.sendBeacon("{vault}", new Blob([said], {{type: "application/json"}}));
Promise.allSettled([
  send("{note}/archive"), send("{vault}"), send("{vault}", {{mode: "no-cors"}}), send("{vault}", {{method: "PUT"}}),
  send("{vault}", {{method: "DELETE"}}), send("{note}/archive", {{mode: "no-cors", headers: {{"Content-Type": "text/plain"}}}}),
]).then((tried) => {{ document.title = tried.map((each) => each.status); document.forms[0].submit(); }});
</script>"""


@pytest.mark.parametrize("driver", ["with scripts"], indirect=True)
def test_a_page_of_another_server_does_nothing_even_where_it_has_the_cookie(
    memory: Memory, driver: webdriver.Chrome
) -> None:
    server = memory.start("serve", "--no-open", "--port", "0")
    port, token = re.findall(r":(\d+)/(\S+)", address_of(server))[0]
    ours, before = f"http://127.0.0.1:{port}", memory.notes()
    driver.get(f"{ours}/{token}")
    WebDriverWait(driver, LIMIT_SECONDS).until(lambda _: driver.find_elements(By.XPATH, "//h1[text()='Inbox']"))
    id, vault = before[0]["id"], f"{ours}/api/memory/vault"
    page = FOREIGN.format(id=id, note=f"{ours}/notes/{id}", vault=vault).encode()

    class Foreign(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

    with HTTPServer(("127.0.0.1", 0), Foreign) as other:
        threading.Thread(target=other.handle_request, daemon=True).start()
        driver.get(f"http://127.0.0.1:{other.server_port}/")
        refused = By.XPATH, "//*[contains(., 'This server does not answer web pages.')]"  # to the form, sent last
        WebDriverWait(driver, LIMIT_SECONDS).until(lambda _: driver.find_elements(*refused))
    assert memory.notes() == before
    driver.get(f"{ours}/notes/{id}")
    press(driver, "Archive")  # as our own page can
    said(driver, "Archived")
    server.terminate()
    server.communicate(timeout=LIMIT_SECONDS)
    driver.execute("getLog", {"type": "browser"})


def test_a_hostile_note_runs_nothing(memory: Memory, page: str, driver: webdriver.Chrome) -> None:
    driver.implicitly_wait(0)  # what must not be there is not waited for
    for path in ("/", "/notes", "/notes?q=ropes", *(f"/notes/{each['id']}" for each in memory.notes())):
        driver.get(page + path)
        assert driver.title.endswith("· memory")
        assert not driver.find_elements(By.CSS_SELECTOR, "main script, main img, main a[href^=javascript]")
