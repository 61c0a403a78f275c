"""Claude Code's transcripts: what each kind of record becomes (P26), trap by trap."""

from __future__ import annotations

import pytest

from agent_memory.errors import HistoryUnreadable
from agent_memory.session.history import Role, ToolCall
from agent_memory.session.turns import AGENT_TEXT_CHARS, TOOL_TEXT_CHARS, USER_TEXT_CHARS
from claude_transcripts import SESSION, STARTED_MS, Conversation, calls
from harness_surroundings import mark_after, numbers, told


@pytest.fixture
def talk() -> Conversation:
    return Conversation()


# -- blocks -----------------------------------------------------------------------------------------------------------


def test_blocks_of_one_message_on_lines_of_their_own_are_one_turn(talk: Conversation) -> None:
    talk.user("Why is the build red?")
    talk.agent({"type": "thinking", "thinking": "hm", "signature": "x"}, message="m1")
    talk.agent("I look at the log.", message="m1")
    talk.agent(calls("t1", "Bash", command="make build"), message="m1")
    talk.agent(calls("t2", "Read", file_path="/srv/harbour/Makefile"), message="m1")
    history = talk.history()
    assert told(history) == ["user: Why is the build red?", "agent: I look at the log."]
    assert history.turns[1].tool_calls == (
        ToolCall("Bash", "make build"),
        ToolCall("Read", "/srv/harbour/Makefile", "/srv/harbour/Makefile"),
    )
    assert history.turns[1].record_id == "r5"


def test_a_message_goes_on_after_the_answers_to_its_first_calls(talk: Conversation) -> None:
    talk.agent("Two things.", calls("t1", "Bash", command="one"), message="m1")
    talk.result("t1", "1")
    talk.agent(calls("t2", "Bash", command="two"), message="m1")
    talk.result("t2", "2")
    history = talk.history()
    assert told(history) == ["agent: Two things.", "tool: 1", "tool: 2"]
    assert [call.brief for call in history.turns[0].tool_calls] == ["one", "two"]


def test_a_tools_answer_is_a_turn_with_the_tools_name(talk: Conversation) -> None:
    talk.agent(calls("t1", "Bash", command="ls"), calls("t2", "mcp__web__get", url="https://example.org"))
    talk.result("t2", [{"type": "text", "text": "a page"}, {"type": "image"}])
    talk.result("t1", "ls: no such thing\n\n<system-reminder>\nIs it malware?\n</system-reminder>\n", failed=True)
    talk.result("t9", "nobody asked")
    assert [(turn.tool_name, turn.text, turn.failed) for turn in talk.history().turns[1:]] == [
        ("mcp__web__get", "a page\n[image]", False),
        ("Bash", "ls: no such thing", True),
        (None, "nobody asked", False),
    ]


def test_an_answer_names_its_call_also_where_it_was_written_before_it(talk: Conversation) -> None:
    talk.agent("Two things.", calls("t1", "Bash", command="one"), message="m1")
    talk.result("t2", "2")
    talk.agent(calls("t2", "Read", file_path="/srv/harbour/Makefile"), message="m1")
    talk.result("t1", "1")
    talk.result("t3", "a note of memory's")
    talk.agent(calls("t3", "Bash", command="memory read id__YXJtGU"), message="m2")
    history = talk.history()
    assert [turn.answers and turn.answers.brief for turn in history.turns if turn.role is Role.TOOL] == [
        "/srv/harbour/Makefile",
        "one",
        "memory read id__YXJtGU",
    ]
    assert "a note of memory's" not in told(history)[3]


def test_an_answer_keeps_its_call_across_a_mark_p19(talk: Conversation) -> None:
    talk.agent(calls("t1", "Bash", command="curl https://e.org"), message="m1")
    first = talk.history()
    talk.agent(calls("t2", "Bash", command="make"), message="m1")
    talk.result("t1", "a page")
    (_, answer) = talk.history(mark_after(first)).turns
    assert answer.answers == ToolCall("Bash", "curl https://e.org")


def test_an_answer_that_may_be_to_either_of_two_calls_is_to_an_unknown_one_p19(talk: Conversation) -> None:
    talk.agent(calls("t", "WebFetch", url="https://e.org"), calls("t", "Bash", command="make"))
    talk.result("t", "a page")
    talk.result("t", "made")
    talk.agent(calls("t", "Bash", command="make"))
    talk.result("t", "made again")
    assert [turn.tool_name for turn in talk.history().turns if turn.role is Role.TOOL] == [None, None, "Bash"]


def test_the_fetch_in_a_long_command_line_is_told_p19(talk: Conversation) -> None:
    talk.agent(calls("t", "Bash", command=f"{'export LAMP=green; ' * 40}curl -s https://e.org"))
    (call,) = talk.history().turns[0].tool_calls
    assert call.brief.endswith("curl -s https://e.org")
    assert len(call.brief) <= 400


def test_a_search_by_the_models_server_is_answered_inside_its_message(talk: Conversation) -> None:
    content = [{"title": "Ports", "url": "https://e.org/p"}]
    asked = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "ports"}}
    talk.agent(asked, {"type": "web_search_tool_result", "tool_use_id": "s1", "content": content}, "Done.")
    assert talk.told() == ["agent: Done.", "tool: Ports https://e.org/p"]


EDIT = {"file_path": "a.py", "old_string": "1", "new_string": "2"}
LONGER_EDIT = {"file_path": "a.py", "old_string": "a = 1\nc = 3", "new_string": "a = 1\nb = 2\nc = 3"}
TODOS = [{"content": "Test", "status": "pending"}, "odd"]


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("Read", {"file_path": "a.py", "limit": 3}, ("a.py", "a.py")),
        ("Write", {"file_path": "a.py", "content": "new text"}, ("new text", "a.py", True)),
        ("Edit", EDIT, ("1 => 2", "a.py", True)),
        ("Edit", LONGER_EDIT, ("b = 2", "a.py", True)),
        ("MultiEdit", {"file_path": "a.py", "edits": [EDIT, {}]}, ("1 => 2 (+1 more edits)", "a.py", True)),
        ("MultiEdit", {"file_path": "a.py", "edits": []}, ("a.py", "a.py", True)),
        ("NotebookEdit", {"notebook_path": "n.ipynb"}, ("n.ipynb", "n.ipynb", True)),
        ("Bash", {"command": "git  log\n-1", "description": "see"}, ("git log -1",)),
        ("Bash", {}, ("",)),
        ("Grep", {"pattern": "TODO", "path": "src"}, ("TODO in src", "src")),
        ("Glob", {"pattern": "**/*.py"}, ("**/*.py",)),
        ("WebFetch", {"url": "https://e.org", "prompt": "read"}, ("https://e.org",)),
        ("Task", {"description": "Survey", "prompt": "Look at all"}, ("Survey",)),
        ("TodoWrite", {"todos": TODOS}, ("[pending] Test; odd",)),
        ("write_todos", {"todos": [{"description": "Test", "status": "pending"}]}, ("[pending] Test",)),
        ("AskUserQuestion", {"questions": [{"question": "Which port?"}]}, ("Which port?",)),
        (
            "AskUserQuestion",
            {
                "questions": [
                    {"question": "Which port?", "options": [{"label": "8081 (Recommended)"}, {"label": "9999"}]}
                ]
            },
            ("Which port? (8081 (Recommended) | 9999)",),
        ),
        ("mcp__db__run", {"sql": "select 1", "n": 2}, ('{"sql": "select 1", "n": 2}',)),
    ],
)
def test_a_call_tells_what_was_asked_and_which_file_is_named_or_changed(
    talk: Conversation, name: str, arguments: dict[str, object], told: tuple[str]
) -> None:
    talk.agent(calls("t1", name, **arguments))
    assert talk.history().turns[0].tool_calls == (ToolCall(name, *told),)


# -- what the person did not type -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "typed"),
    [
        ("<local-command-stdout>Set model to opus</local-command-stdout>", ""),
        ("<local-command-caveat>Caveat: …</local-command-caveat>", ""),
        ("Caveat: The messages below were generated by the user while running local commands. DO NOT", ""),
        ("<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args></command-args>", ""),
        ("<command-name>/model</command-name><command-args>opus</command-args>", ""),
        ("<command-name>/x</command-name><local-command-stdout></local-command-stdout><command-args>Lie.</command-args></local-command-stdout>", ""),
        ("<bash-input>ls</bash-input><bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>", ""),
        ("<system-reminder>Use it.</system-reminder>", ""),
        ("<ci-monitor-event>failed</ci-monitor-event>", ""),
        ("[Request interrupted by user]", ""),
        ("[Request interrupted by user for tool use]", ""),
        ("[Image: original 3024x1964, displayed at 2000x1299.]", ""),
        ("This session is being continued from a previous conversation that ran out of context.", ""),
        ("<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n</task-notification>", ""),
        ("   ", ""),
        ("<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the parser</command-args>", "/review the parser"),
        ("Before.\n<system-reminder>\nsee CLAUDE.md\n</system-reminder>\nAfter.", "Before.\n\nAfter."),
        ("<system-reminder>a</system-reminder>Real.", "Real."),
        ("Real.<system-reminder>outer <system-reminder>inner</system-reminder> rest</system-reminder>", "Real."),
        ("<ide_opened_file>The user opened x.</ide_opened_file> Fix it.", "Fix it."),
        ('<ide_selection lines="1-2">code</ide_selection>\nExplain.', "Explain."),
        ("Look.\n[Image: source: /tmp/a.png]", "Look."),
        ("Why does `<system-reminder>` appear?", "Why does `<system-reminder>` appear?"),
        ("Close </system-reminder> and <ide_selection> alone", "Close </system-reminder> and"),
        ("```xml\n<system-reminder>\n```\nWhat opens that?", "```xml\n<system-reminder>\n```\nWhat opens that?"),
        ("A.<system-reminder>a</system-reminder> b <system-reminder>c</system-reminder>D.", "A.D."),
        ("<ide_selection>if (a <system-reminder> b)</ide_selection>\nExplain.", "Explain."),
        ("Go on.<user-prompt-submit-hook>injected</user-prompt-submit-hook>", "Go on."),
    ],
)  # fmt: skip
def test_of_a_recorded_text_only_what_was_typed_is_left(talk: Conversation, content: str, typed: str) -> None:
    talk.user("A real prompt.")
    talk.user(content)
    assert talk.told() == ["user: A real prompt.", *([f"user: {typed}"] if typed else [])]


@pytest.mark.parametrize("flag", ["isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"])
def test_a_record_that_says_it_is_not_the_persons_is_left_out(talk: Conversation, flag: str) -> None:
    talk.user("Looks typed.", **{flag: True})
    talk.user("Is typed.", **{flag: None})
    assert talk.told() == ["user: Is typed."]


def test_what_another_program_sent_is_no_users_turn(talk: Conversation) -> None:
    talk.user("Deploy now.", origin={"kind": "channel"})
    talk.user("Deploy now.", promptSource="system")
    talk.user("<task-notification><task-id>a</task-id><result>All 12 pass.</result></task-notification>")
    talk.user("I typed this.", origin={"kind": "human"})
    assert [(turn.role, turn.tool_name, turn.text) for turn in talk.history().turns] == [
        (Role.TOOL, "channel", "Deploy now."),
        (Role.TOOL, "system", "Deploy now."),
        (Role.TOOL, "task-notification", "All 12 pass."),
        (Role.USER, None, "I typed this."),
    ]


def test_messages_about_api_errors_are_left_out(talk: Conversation) -> None:
    talk.agent("API Error: 529", isApiErrorMessage=True)
    said = [{"type": "text", "text": "No response requested."}]
    talk.record("assistant", message={"id": "x", "model": "<synthetic>", "content": said})
    talk.agent("Real.")
    history = talk.history()
    assert (told(history), history.agent) == (["agent: Real."], "claude-opus-5")


def test_context_that_a_hook_injected_is_left_out_p26(talk: Conversation) -> None:
    talk.attachment(type="hook_success", content="note", hookEvent="SessionStart")
    talk.attachment(type="hook_additional_context", content=["note"])
    talk.attachment(type="nested_memory", content={"path": "CLAUDE.md", "content": "note"})
    talk.user("Hello.")
    assert talk.told() == ["user: Hello."]


# -- what the person said elsewhere -----------------------------------------------------------------------------------


def test_a_queued_prompt_that_exists_only_as_an_attachment_is_kept_if_somebody_typed_it(talk: Conversation) -> None:
    def queued(prompt: object, **further: object) -> None:
        talk.attachment(type="queued_command", prompt=prompt, **further)

    queued("also the docs", commandMode="prompt", origin={"kind": "human"})
    queued([{"type": "text", "text": "and the changelog"}])
    queued("<task-notification><status>completed</status></task-notification>", commandMode="prompt")
    queued("ping", commandMode="task-notification")
    queued("ping of a coordinator", commandMode="prompt", origin={"kind": "coordinator"})
    heard = ["user: also the docs", "user: and the changelog", "tool: ping of a coordinator"]
    assert talk.told() == heard


def test_a_queued_prompt_is_heard_once_however_often_it_is_recorded(talk: Conversation) -> None:
    """Its removal from the queue may be the only record of it."""

    def queue(operation: str, content: str | None = None, reason: str = "") -> None:
        told = {"content": content} if content else {}
        talk.put({"type": "queue-operation", "operation": operation, "sessionId": SESSION, "reason": reason, **told})

    talk.agent("Starting.")
    queue("remove", "the parser first")
    queue("enqueue", "is the field right?")
    queue("remove")
    queue("enqueue", "use tabs")
    queue("remove", "use tabs")
    talk.attachment(type="queued_command", prompt="use tabs", commandMode="prompt")
    queue("enqueue", "and go on")
    queue("dequeue")
    talk.user("and go on")
    for content, reason in (("/model", ""), ("popped", "popped")):
        queue("enqueue", content)
        queue("remove", reason=reason)
    heard = ["the parser first", "is the field right?", "use tabs", "and go on"]
    assert talk.told() == ["agent: Starting.", *(f"user: {each}" for each in heard)]


REFUSAL = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nkeep it"


def test_why_a_call_was_refused_are_the_persons_words(talk: Conversation) -> None:
    talk.agent(calls("t1", "Edit", file_path="a.go"), calls("t2", "Bash", command="rm x"))
    talk.result("t1", REFUSAL, failed=True)
    note = "\n\nNote: The user's next message may contain a correction or preference. Pay close attention"
    talk.result("t2", REFUSAL + note, failed=True, toolUseResult="User rejected tool use")
    talk.agent(calls("t3", "Bash", command="rm y"))
    talk.result("t3", REFUSAL, failed=True, toolUseResult=f"Error: {REFUSAL}", version="2.0.64")
    assert [turn.text for turn in talk.history().turns if turn.role is Role.USER] == ["keep it"] * 3


def test_a_refusal_that_a_tool_could_have_printed_is_not_taken_for_the_persons_words_p19(talk: Conversation) -> None:
    talk.agent(calls("t1", "Bash", command="cat"), calls("t2", "mcp__web__get"), calls("t3", "Edit", file_path="a"))
    talk.result("t1", REFUSAL, failed=True, version="1.0.60")
    talk.result("t1", f"Exit code 1\n{REFUSAL}", failed=True, version="2.0.64")
    talk.result("t2", REFUSAL, failed=True, toolUseResult=f"Error: {REFUSAL}")
    talk.result("t3", REFUSAL)
    assert {turn.role for turn in talk.history().turns[1:]} == {Role.TOOL}


def test_answers_to_the_agent_are_the_persons_words(talk: Conversation) -> None:
    talk.agent(calls("t1", "AskUserQuestion", questions=[{"question": "Which port?"}]), calls("t2", "mcp__x__ask"))
    for call in ("t1", "t2"):
        talk.result(call, 'Answered: "Which port?"="9090"', toolUseResult={"answers": {"Which port?": "9090"}})
    assert [turn.text for turn in talk.history().turns if turn.role is Role.USER] == ["9090"]


@pytest.mark.parametrize(
    "text",
    ["The user wants to clarify these questions.\n(No answer)", '{"task_id":"b1","description":"Run the tests"}'],
)
def test_what_claude_code_says_in_the_persons_place_is_no_persons_word(talk: Conversation, text: str) -> None:
    talk.user(text)
    assert [turn.role for turn in talk.history().turns] == [Role.TOOL]


# -- other records ----------------------------------------------------------------------------------------------------


def test_sidechains_are_left_out_but_their_answer_to_the_parent_stays(talk: Conversation) -> None:
    talk.agent(calls("t1", "Task", description="Survey", prompt="Survey all"))
    talk.user("Survey all", isSidechain=True, parent=None, agentId="a1")
    talk.agent("I survey.", isSidechain=True)
    talk.result("t1", [{"type": "text", "text": "Three modules."}])
    assert talk.told() == ["agent: ", "tool: Three modules."]


def test_a_record_that_comes_twice_counts_once(talk: Conversation) -> None:
    talk.user("Once.", id="same")
    talk.user("Once.", id="same")
    talk.user("Twice.")
    assert talk.told() == ["user: Once.", "user: Twice."]


def test_of_a_forked_file_only_the_part_of_this_session_is_read() -> None:
    parent, fork = Conversation("parent"), Conversation()
    parent.user("From the parent.", id="p1")
    parent.agent("Yes.", id="p2")
    fork.user("From the parent.", id="p3")
    fork.user("From the fork.", id="f1", parent="p2")
    fork.lines = parent.lines + fork.lines
    assert fork.told() == ["user: From the parent.", "user: From the fork."]


@pytest.mark.parametrize("first", ["Use tabs in this project.", "Implement the following plan:\n\nUse tabs."])
def test_a_first_message_under_the_id_of_the_session_before_is_this_ones(first: str) -> None:
    before, talk = Conversation("before"), Conversation()
    before.user(first, id="b1")
    before.record("attachment", id="b2", attachment={"type": "hook_success"})
    talk.user("And then?", parent="b2")
    talk.agent("Done.")
    talk.lines = before.lines + talk.lines
    speaker = "tool" if first.startswith("Implement") else "user"
    assert talk.told() == [f"{speaker}: {first}", "user: And then?", "agent: Done."]


def test_a_file_whose_records_all_name_another_session_is_read_as_a_whole() -> None:
    talk = Conversation("another")
    talk.user("Hello.")
    history = talk.fetched(talk.write(), SESSION).unwrap()
    assert (told(history), history.session_id) == (["user: Hello."], SESSION)


def test_retracted_messages_are_left_out(talk: Conversation) -> None:
    talk.user("Do it.")
    refused = talk.agent("I will not")
    talk.record("system", subtype="api_refusal", retractedMessageUuids=[refused])
    talk.agent("Here it is.")
    history = talk.history()
    assert told(history) == ["user: Do it.", "agent: Here it is."]
    assert numbers(history) == [1, 3]


def test_unknown_types_are_counted_by_their_names_but_not_a_thousand_of_them(talk: Conversation) -> None:
    talk.user("Hello.")
    talk.put({"no": "type"})
    talk.agent("Hello.")
    talk.record("hologram")
    talk.record("hologram")
    history = talk.history()
    assert (history.skipped, history.unknown_records) == ({"bad-record": 1, "unknown-type:hologram": 2}, 2)
    for number in range(1000):
        talk.record(f"type-{number}")
    history = talk.history()
    assert len(history.skipped) <= 61
    assert history.unknown_records == sum(history.skipped.values()) - 1 == 1002


def test_a_format_in_which_one_side_is_not_to_be_found_has_changed(talk: Conversation) -> None:
    talk.user("Hello.")
    talk.record("answer-v2")
    talk.record("answer-v2")
    error = talk.failure()
    assert isinstance(error, HistoryUnreadable)
    assert error.reason.startswith("2 of its 3 records are of kinds not known to this version")


def test_facts_of_the_session(talk: Conversation) -> None:
    talk.put(
        {"type": "queue-operation", "operation": "enqueue", "content": "Go on.", "timestamp": "2099-01-01T00:00:00Z"}
    )
    talk.put({"type": "summary", "summary": "Of another session", "leafUuid": "elsewhere"})
    leaf = talk.user("Hello.", gitBranch="main")
    talk.agent("Hi.", gitBranch="feature", cwd="/srv/harbour/src")
    talk.put({"type": "summary", "summary": "Greeting", "leafUuid": leaf})
    history = talk.history()
    assert (history.title, history.cwd, history.branch) == ("Greeting", "/srv/harbour", "feature")
    assert (history.agent, history.started_at_ms, history.ended_at_ms) == (
        "claude-opus-5",
        STARTED_MS + 1000,
        STARTED_MS + 2000,
    )
    talk.put({"type": "custom-title", "customTitle": "Mine"})
    talk.put({"type": "ai-title", "aiTitle": "Its"})
    talk.put({"type": "relocated", "relocatedCwd": "/new/place"})
    history = talk.history()
    assert (history.title, history.cwd) == ("Mine", "/new/place")


# -- branches ---------------------------------------------------------------------------------------------------------


def test_a_session_continued_on_both_branches_keeps_both(talk: Conversation) -> None:
    ready = talk.agent("Ready")
    talk.user("A")
    first = talk.agent("A1")
    talk.user("B", parent=ready)
    talk.agent("B1")
    talk.user("A again", parent=first)
    assert [turn.text for turn in talk.history().turns] == ["Ready", "A", "A1", "B", "B1", "A again"]


def test_compaction_cuts_nothing_off(talk: Conversation) -> None:
    talk.user("Start")
    last = talk.agent("Ready")
    talk.record("system", subtype="compact_boundary", parent=None, logicalParentUuid=last)
    talk.user("This session is being continued from a previous conversation.", isCompactSummary=True)
    talk.user("Go on")
    assert [turn.text for turn in talk.history().turns] == ["Start", "Ready", "Go on"]


# -- damage and bounds ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "record",
    [
        {"type": "user"},
        {"type": "user", "message": "error"},
        {"type": "user", "message": {"contents": []}},
        {"type": "user", "message": {"content": [7]}},
        {"type": "assistant", "message": {"content": 3}},
        {"type": "assistant"},
        {"type": "pr-link"},
        {"type": ["user"]},
        {"type": ""},
    ],
)
def test_a_record_of_the_wrong_shape_is_counted(talk: Conversation, record: dict[str, object]) -> None:
    talk.put(record)
    talk.user("Read.")
    history = talk.history()
    assert (told(history), history.skipped) == (["user: Read."], {"bad-record": 1})


def test_long_texts_are_clipped_in_the_middle_and_the_missing_characters_counted(talk: Conversation) -> None:
    talk.user("u" * 60_000)
    talk.agent("a" * 15_000, message="m")
    talk.agent("b" * 15_000, message="m")
    talk.result("t", "HEAD" + "t" * 10_000 + "TAIL")
    turns = talk.history().turns
    missing = [60_000 - USER_TEXT_CHARS, 30_002 - AGENT_TEXT_CHARS, 10_008 - TOOL_TEXT_CHARS]
    assert [turn.clipped_chars for turn in turns] == missing
    assert (turns[2].text[:4], turns[2].text[-4:]) == ("HEAD", "TAIL")
    assert f"\n[… {missing[2]} characters left out …]\n" in turns[2].text


def test_a_message_of_thousands_of_calls_keeps_a_thousand_p25(talk: Conversation) -> None:
    for part in range(4):
        talk.agent(*(calls(f"t{part}-{number}", "Bash", command="ls") for number in range(400)), message="m")
    assert len(talk.history().turns[0].tool_calls) == 1_000


def test_prompts_sent_through_the_sdk_are_nobodys_and_all_others_a_persons() -> None:
    script = Conversation()
    script.user("Review this diff.", entrypoint="sdk-py")
    script.agent("Fine.", entrypoint="sdk-py")
    history = script.history()
    assert history.automated
    assert [(turn.role, turn.tool_name) for turn in history.turns] == [(Role.TOOL, "script"), (Role.AGENT, None)]
    human = {"entrypoint": "sdk-py", "origin": {"kind": "human"}}
    for further in ({}, {"entrypoint": "cli"}, {"entrypoint": "claude-vscode", "promptSource": "sdk"}, human):
        talk = Conversation()
        talk.user("Review this diff.", **further)
        history = talk.history()
        assert (history.automated, history.turns[0].role) == (False, Role.USER), further


def test_of_a_message_that_grew_after_the_mark_the_rest_is_returned_under_its_number(talk: Conversation) -> None:
    talk.user("One.")
    talk.agent("Two,", message="m")
    first = talk.history()
    talk.agent("and more.", calls("t1", "Bash", command="ls"), message="m")
    talk.result("t1", "x")
    second = talk.history(mark_after(first))
    assert told(second) == ["agent: and more.", "tool: x"]
    assert numbers(second) == [2, 3]
    assert second.turns[0].tool_calls == (ToolCall("Bash", "ls"),)
