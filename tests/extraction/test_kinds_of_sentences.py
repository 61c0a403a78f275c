"""Kinds of sentences that people and agents say, in words of their own: which make a note, and which must not."""

from __future__ import annotations

import pytest

from agent_memory.note.note import Importance, Kind, Origin
from agent_memory.rules.origin import Claim, origin_of
from agent_memory.session.history import ToolCall
from conversations import EDIT, agent, history, notes, tool, user, work_on

BEFORE = (
    user("Look at the checkout service."),
    agent("I looked at it.", EDIT),
    tool("ok"),
    agent("Done. The `OrderWorker` now retries five times and the totals are floats."),
)


@pytest.mark.parametrize(
    "said",
    [
        "so you remember next time, the CI runner has no docker socket", "FYI: prod is on Postgres 13, staging on 15.",
        "that is not correct, we don't store totals as floats here, they are integer cents",
        "No, that's wrong: the port is 8080, not 3000.", "nope, not floats but integer cents for all the totals",
        "no semicolons in the frontend code, use prettier defaults", "don't use any type in typescript files",
        "I don't like that we swallow the exception in the worker",
        "you should not be editing files in the main workspace", "You shouldn't push anything to the main branch.",
        "never write 'TODO' or the users' names in a commit",
        "we deliberately don't cache prices because they change hourly",
        "we're going with the outbox table because it survives restarts",
        "The error message should name the file and the line, not just the code.",
        "the build was failing because node 18 is too old for vite 6",
        "added the parser, update the docs and then run make check",
    ],
)  # fmt: skip
def test_what_people_say_in_plain_words_makes_one_note_in_which_they_are_quoted(said: str) -> None:
    (note,) = notes(*BEFORE, user(said))
    assert f"> {said}" in note.body
    claim = Claim(note.title, f"{note.description}\n{note.body}")
    assert origin_of(claim, note.turns, history(*BEFORE, user(said))) is Origin.USER


@pytest.mark.parametrize(
    "said",
    [
        "should we cache this?",
        "image: mysql:8.0 container_name: shop_db restart: always environment: - MYSQL_DATABASE=shop",
        "build: ./shop restart: always ports: 8080", "can you check whether the worker should retry?",
        "what should the timeout be?", "I think it should work now", "the tests should pass now",
        "don't touch the parser for now", "don't change the header in this PR", "remove that, we don't need it",
        "the header is too big", "I want you to implement the export", "tell me about the places where we always retry",
        "we must finish the importer today", "use the blue one instead",
        "For example, we always buy the paper in the shop around the corner",
        "the ledger should be the source of truth for building this feature",
        "Moreover, update the importer so that instead of reading rows, we read pages",
    ],
)  # fmt: skip
def test_questions_guesses_requests_and_passing_remarks_make_none(said: str) -> None:
    assert notes(*BEFORE, user(said)) == ()


@pytest.mark.parametrize(
    "said",
    [
        "Recuerda que la base de pruebas se borra cada domingo.",
        "N'oublie pas que l'API de l'imprimante n'a pas de bac à sable.",
        "Merk dir, dass die Testdatenbank jeden Sonntag gelöscht wird.",
        "Ricordati che il database di test viene cancellato ogni domenica.",
        "Onthoud dat de testdatabase elke zondag wordt gewist.",
        "Zapamiętaj, że baza testowa jest kasowana w każdą niedzielę.",
        "Запомни, что тестовая база очищается каждое воскресенье.", "请记住测试数据库每个星期天都会被清空。",
        "覚えておいて。テスト用データベースは毎週日曜日に消去されます。", "テスト用データベースは毎週日曜日に消去されることを覚えておいてください。", "기억해줘: 테스트 데이터베이스는 매주 일요일에 초기화돼.",
        "请记住：测试库每周日重置。生产库呢？", "測試は何時ですか？テスト用データベースは毎週日曜日に消去されることを覚えておいて。",
        "Unutma: test veritabanı her pazar silinir.", "تذكر أن قاعدة بيانات الاختبار تُمسح كل يوم أحد.",
        "याद रखना कि टेस्ट डेटाबेस हर रविवार को साफ़ होता है।", "Kom ihåg att testdatabasen raderas varje söndag.",
    ],
)  # fmt: skip
def test_what_is_asked_to_be_remembered_is_kept_in_many_languages(said: str) -> None:
    (note,) = notes(user(said))
    assert note.importance is Importance.HIGH
    assert note.title.rstrip("。।.") in said or note.title[1:] in said


@pytest.mark.parametrize(
    ("closing", "kind"),
    [
        ("The `Docker` image still needs to be rebuilt for the new `Cart`.", Kind.TASK),
        ("The crash happened because `Session.close()` must hold the lock in SQLite.", Kind.LESSON),
        ("`config.toml` must be read before `Logger.init()`, otherwise the level is ignored.", Kind.LESSON),
    ],
)
def test_what_the_agent_found_or_left_open_makes_one_note(closing: str, kind: Kind) -> None:
    (note,) = notes(*work_on("The cart total is wrong for guests.", closing))
    assert note.kind is kind


@pytest.mark.parametrize(
    "closing",
    [
        "Added `foo.py` with a helper for the `Cart`.",
        "Now `total()` returns cents.",
        "Refactored `Cart` to use `Decimal`.",
        "Let me know if you want me to change `Cart` because it is slow.",
        "I kept the old `parse()` because three plugins still import it.",
        "**Next steps:** move `Cart` to the shared package.",
        "I couldn't run the integration tests because Docker isn't available here.",
        "You still need to run `make migrate` for the new `Cart`.",
    ],
)
def test_lists_of_changes_reports_and_offers_make_none(closing: str) -> None:
    assert notes(*work_on("The cart total is wrong for guests.", closing)) == ()


def test_what_is_undone_later_makes_no_note() -> None:
    wanted = work_on("The cancel button should never be red for guests.", "Done. The button is red.")
    switched = work_on(
        "speed it up",
        "In Redis every key needs a time to live because `Cart.load` deletes none.",
    )
    assert len(notes(*wanted)) == len(notes(*switched)) == 1
    assert notes(*wanted, user("undo that"), agent("Undone.")) == ()
    assert notes(*switched, *work_on("hm, revert that please", "Reverted the time to live of the Redis key.")) == ()
    gone = "I removed the time to live of every key in Redis."
    assert notes(*switched, *work_on("run the tests", gone)) == ()


@pytest.mark.parametrize(
    "pasted",
    [
        "this happens ➜ shop git:(main) ✗ poetry shell\n\nNote that the activate command never replaces the shell command.",
        "did you read this? https://docs.example/files\nUploads\nAlways use the Files API for requests over 20 MB.",
        "run this for me\ncat > prompt.md <<EOF\nYou write notes. Never use bullet points in the notes.\nEOF",
        "$ make notes\nFrom now on every note must be in English.",
    ],
)
def test_what_stands_behind_a_command_its_output_or_a_link_is_nobody_s_word(pasted: str) -> None:
    assert notes(*BEFORE, user(pasted), agent("I look.")) == ()


def test_an_option_that_is_the_next_step_of_the_session_makes_no_note() -> None:
    offer = agent("**Option A: Start with the failing tests**\n\n**Option B: Split the `Cart` change into two**")
    assert notes(*BEFORE, offer, user("Option B please"), agent("Done.")) == ()


def test_a_list_under_a_heading_that_says_what_it_is_counts_as_a_whole() -> None:
    asked = "Rework the importer.\n\nRequirements:\n- Rows without an id are skipped.\n- Progress goes to stderr.\n"
    (note,) = notes(user(asked))
    assert note.title == "Requirements: Rows without an id are skipped; Progress goes to stderr"
    assert note.kind is Kind.CONVENTION


def test_items_that_name_work_to_be_done_are_requests() -> None:
    listed = "Add the page.\n\nRequirements:\n- Serve the carts from the root as Markdown.\n- Publish the totals at each address of the shop."
    assert notes(*BEFORE, user(listed)) == ()


def test_a_list_that_lost_its_marks_is_still_one() -> None:
    asked = (
        "Improve these flaky tests?\n\nFindings\nThe upload test failed because Windows held the archive open.\n"
        "The cleanup left the demo plugin in the shared configuration.\n"
        "Expected behavior\nCleanup tolerates locked files without sleeping in tests.\n"
    )
    assert [note.kind for note in notes(user(asked))] == [Kind.CONVENTION, Kind.LESSON]


def test_in_the_middle_of_a_long_paste_only_what_stands_under_such_a_heading_counts() -> None:
    filler = "\n\n".join(f"Paragraph {number} tells of the many carts and orders of the shop." for number in range(40))
    listed = "## Constraints\n\n- Orders are never deleted, they are marked as cancelled.\n\n## Story\n\n"
    wishes = "The header should show the name of the customer in bold letters."
    told = notes(user(f"Build the order page.\n\n{listed}{filler}\n\n{wishes}\n\n{filler}\n\nStart with the model."))
    assert [note.title for note in told] == ["Orders are never deleted, they are marked as cancelled"]
    assert notes(user(f"Summarise this page.\n\n{listed}{filler}\n\nThanks")) == ()


def test_a_title_is_never_broken_off() -> None:
    endless = "the worker should " + "copy the rows of each shard of the table of the store " * 6 + "to the archive"
    assert notes(user(endless)) == ()
    said = (
        "The summary should list every open order of the customer with its date and its total, "
        "because the finance people compare it with the ledger of the bank each Monday."
    )
    (note,) = notes(user(said))
    assert note.title == "The summary should list every open order of the customer with its date and its total"
    assert said in note.body
    said = "When we import the customers of the old shop - I don't want any row deleted from the table, but its status changed to gone."
    (note,) = notes(user(said))
    assert "status changed" in note.title


def test_an_agent_that_edits_by_its_shell_has_worked_too() -> None:
    """Codex and others have no other tool."""
    closing = agent("The crash happened because `parse()` was called twice. In Redis every key needs a time to live.")
    edit = ToolCall("shell", "sed -i s/old/new/ src/cart.py")
    assert len(notes(user("rename it"), agent("", edit), tool("ok"), closing)) == 1


@pytest.mark.parametrize(
    "asked",
    [
        "reduce duplicated code around `load_all` and `load_one`, we don't want two ways of doing almost the same",
        "Fix the rounding of the totals. Don't forget to branch off main and not off the branch of the carts.",
        "Also show the total of each month. Keep in mind that carts can have amounts.",
        "The order page should list the newest orders.", "the helper should move to `carts.py`", "We don't want a cap.",
        "No, I'll fix the password manager.", "make a note of this in the sharing phase",
        "no, that's not right. you just added a new line to the docs.",
        "make sure you never do this again",
        "let's not add another dependency for the export", "we don't need any of the description at the top",
        "`cart.py` should not be clickable", "the example script that is generated lives in the docs",
        "Please rework the order page. The totals should not be rounded there.", "No, we're not ready for a schema",
        "nah you can always ask the ledger for what is in a cart",
        "follow up: what can we use for the carts (an index?)",
        "a rule should appear as a rule of the shop, not just as a rule",
    ],
)  # fmt: skip
def test_a_request_that_was_carried_out_is_no_note(asked: str) -> None:
    assert notes(*BEFORE, *work_on(asked, "Done.")) == ()


@pytest.mark.parametrize(
    "closing",
    [
        "Left the `resume` column alone: its examples are a curated subset.",
        "Kept `Cart` synchronous rather than a task.",
        "The doc comment of `Cart` now explains why guests are deliberately excluded, since they have no id.",
        "The new `watch` returns the last error, which means the caller gets one.",
        "My first draft of the `Cart` test failed because `tmp` is a symlink.",
        "**Issue:** `Cart` asks twice for the same price.",
    ],
)
def test_what_only_comments_on_the_change_is_no_note(closing: str) -> None:
    assert notes(*work_on("make it faster", closing)) == ()


def test_what_the_person_asks_to_record_is_kept_with_its_reach() -> None:
    (here,) = notes(user("split the handlers into their own folders. add a rule recording this preference."))
    (everywhere,) = notes(user("never grep JSON, use jq. record this as a global rule, not just for this repo"))
    assert (here.title, here.scope) == ("Split the handlers into their own folders", None)
    assert (everywhere.title, everywhere.scope) == ("Never grep JSON, use jq", "global")


def test_neighbouring_sentences_of_one_kind_are_one_note() -> None:
    (note,) = notes(user("We always store money as integer cents. We never round before the total is known."))
    assert "We never round before the total is known." in note.body


def test_what_the_agent_agrees_to_is_told_only_where_it_says_so_itself() -> None:
    said = user("No, never retry a bounced mail in the worker.")
    told = "You're right. A bounced mail of the worker comes back each time. My test of the worker does not show it."
    agreed = agent(told, EDIT)
    (with_it,) = notes(*BEFORE, said, agreed)
    (without,) = notes(*BEFORE, said, agent("Tool call timed out for the bounced mail of the worker.", EDIT))
    assert "The agent agreed: A bounced mail of the worker comes back each time." in with_it.body
    assert "My test" not in with_it.body
    assert "agent" not in without.body.partition("corrected the agent")[2]
