"""Every page and API of the bots with every role: who is let in, and who sees contact details."""

from __future__ import annotations

import re

import pytest
from starlette.routing import Route

from noisybayes.bot.pages import pages
from noisybayes.bot.routes import bot_api
from noisybayes.web.store import ROLES

from ..web.desk_at_work import JSON, open_store
from .shop import client_of, service

TOKEN = "a long random text"
PHONE, ADDRESS = "555-0142-777", "jane@example.com"
#: What a contact would show of itself: whole, masked, or in part.
TRACES = ("0142-77", "***77", "jane", "example.com")

#: Each route of the bots, with the least role that may use it.
LEAST = {
    ("GET", "/chat"): "viewer",
    ("POST", "/chat"): "reviewer",
    ("GET", "/chat/{dialog_id}"): "viewer",
    ("POST", "/chat/{dialog_id}"): "reviewer",
    ("GET", "/handover"): "viewer",
    ("GET", "/handover/{handover_id}"): "viewer",
    ("POST", "/handover/{handover_id}"): "salesperson",
    ("GET", "/learn"): "viewer",
    ("POST", "/learn"): "reviewer",
    ("GET", "/leads"): "viewer",
    ("POST", "/leads.csv"): "salesperson",
    ("POST", "/leads/{lead_id}/remove"): "admin",
    ("GET", "/api/chat/{dialog_id}"): "viewer",
    ("POST", "/api/labels"): "reviewer",
    ("GET", "/api/bots"): "viewer",
    ("GET", "/api/bots/status"): "viewer",
    ("POST", "/api/bots/{bot}/messages"): "reviewer",
    ("GET", "/api/bots/{bot}/replies"): "viewer",
    ("GET", "/api/bots/{bot}/weeks"): "viewer",
    ("GET", "/api/handovers/events"): "viewer",
    ("GET", "/api/leads"): "viewer",
    ("DELETE", "/api/leads/{lead_id}"): "admin",
    ("GET", "/api/handovers"): "viewer",
    ("POST", "/api/handovers/{handover_id}/answer"): "salesperson",
}


@pytest.fixture
def asked(tmp_path):
    """A client, the tokens by role, and a dialog that left contact details and waits for a person."""
    with open_store(tmp_path) as store:
        made = service(store)
        tokens = {role: store.add_account(role, role) for role in ROLES}
        dialog = made.receive("shop", "1", "ann", f"call {PHONE} or {ADDRESS}, this is a scam").dialog_id
        with client_of(made, store, token=TOKEN) as client:
            yield client, tokens, dialog


def ask(asked, role, method, path):
    client, tokens, dialog = asked
    ids = {"dialog_id": dialog, "handover_id": "1", "lead_id": "1", "bot": "shop"}
    path = re.sub(r"\{(\w+)\}", lambda match: ids[match[1]], path)
    query = {"person": "ann"} if path.endswith("/replies") else None
    return client.request(method, path, params=query, headers={"Authorization": f"Bearer {tokens[role]}", **JSON})


def test_the_list_of_routes_is_complete():
    found = {
        (method, route.path)
        for router in (bot_api, pages)
        for route in router.routes
        if isinstance(route, Route) and re.match(r"(/api)?/(chat|handover|learn|leads|bots|labels)", route.path)
        for method in route.methods - {"HEAD"}
    }
    assert found == set(LEAST)


@pytest.mark.parametrize("role", ROLES)
def test_who_is_let_in(asked, role):
    for (method, path), least in LEAST.items():
        if method != "DELETE" and not path.endswith("/events"):  # the lead is for others too
            answer = ask(asked, role, method, path)
            refused = (
                answer.status_code == 403
                and f"this requires the role {least}; {role} has the role {role}" in answer.text
            )
            assert refused == (ROLES.index(role) < ROLES.index(least)), (method, path, answer.text)
    removed = ask(asked, role, "DELETE", "/api/leads/{lead_id}").status_code
    assert removed == (204 if role == "admin" else 403)


@pytest.mark.parametrize("role", ["viewer", "reviewer"])
def test_who_is_not_in_sales_sees_nothing_of_a_contact(asked, role):
    for method, path in LEAST:
        if method == "GET" and not path.endswith("/events"):
            answer = ask(asked, role, method, path)
            assert answer.status_code == 200, path
            assert [trace for trace in TRACES if trace in answer.text] == [], path
    assert [lead["masked"] for lead in ask(asked, role, "GET", "/api/leads").json()] == [None, None]
    page = ask(asked, role, "GET", "/leads").text
    assert "Export with contact details" not in page
    assert "Remove" not in page
    assert "Send" not in ask(asked, role, "GET", "/handover/{handover_id}").text


@pytest.mark.parametrize("role", ["salesperson", "admin"])
def test_sales_sees_masked_contacts_and_exports_whole_ones(asked, role):
    masks = {lead["masked"] for lead in ask(asked, role, "GET", "/api/leads").json()}
    assert masks == {"***77", "***@example.com"}
    page = ask(asked, role, "GET", "/leads").text
    assert "***77" in page
    assert PHONE not in page
    assert ("Remove" in page) == (role == "admin")
    client, tokens, _ = asked
    fields = {"csrf_token": client.cookies["noisybayes_csrf"]}
    exported = client.post("/leads.csv", data=fields, headers={"Authorization": f"Bearer {tokens[role]}"})
    assert PHONE in exported.text
    assert ADDRESS in exported.text
    page = ask(asked, role, "GET", "/handover/{handover_id}").text
    assert "Send" in page
    assert "0142-77" not in page  # messages are masked for everybody
