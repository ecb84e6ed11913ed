"""What /api/openapi.json says is what the server does: asked by schemathesis, with requests that it makes up."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings

from .desk_at_work import JSON, add_table, messages, open_client, open_store


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    store = open_store(tmp_path_factory.mktemp("desk"))
    with open_client(store, requests_per_second=1e9) as client:
        add_table(client, messages()[0])
        yield schemathesis.openapi.from_asgi("/api/openapi.json", client.app)
    store.close()


schema = schemathesis.pytest.from_fixture("described")


@schema.parametrize()
@settings(
    max_examples=10, deadline=None, database=None, derandomize=True, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
def test_every_operation_does_what_its_description_says(case):
    case.call_and_validate(headers=JSON)
