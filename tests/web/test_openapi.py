"""What /api/openapi.json says is what the server does: asked by schemathesis, with requests that it makes up."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from noisybayes.web import limited_process

from .desk_at_work import JSON, add_fitted_table, messages, open_client, open_store, run_here

HOST = {"Host": "127.0.0.1:8000"}
MODES = {"as described": GenerationMode.POSITIVE, "otherwise": GenerationMode.NEGATIVE}
EXAMPLES = 5  # of each operation and mode


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched, open_store(tmp_path_factory.mktemp("desk")) as store:
        patched.setattr(limited_process, "_run", run_here)
        add_fitted_table(store)
        with open_client(store, requests_per_second=1e9) as client:
            yield client


def operations(client):
    described = schemathesis.openapi.from_asgi("/api/openapi.json", client.app, headers=HOST)
    return [found.ok() for found in described.get_all_operations()]


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_every_operation_does_what_its_description_says(client, mode):
    failed = []
    for operation in operations(client):
        try:
            _ask(operation, mode)
        except Unsatisfiable:  # nothing can be asked otherwise than described
            pass
        except BaseExceptionGroup as error:  # all of them at once: each says what was asked and what came
            failed.append(f"{operation.label}: {error}")
    assert not failed, "\n\n".join(failed)


def _ask(operation, mode):
    @settings(
        max_examples=EXAMPLES, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case):
        # that a file holds a table, and a label is one of the table's, no schema can say: such input is 422
        case.call_and_validate(headers=HOST | JSON, excluded_checks=[positive_data_acceptance])

    ask()


def test_a_method_that_is_not_there_names_those_that_are(client):
    for path, allowed in (("/api/tables", "GET, POST"), ("/api/tables/1", "DELETE, GET"), ("/api/health", "GET")):
        answer = client.patch(path, headers=JSON)
        assert answer.status_code == 405
        assert answer.headers["allow"] == allowed
        assert answer.json() == {"detail": "Method Not Allowed"}


def test_errors_speak_of_fields_not_of_options(client):
    made = client.post("/api/tables?name=a.csv", content=messages()[0].encode(), headers={"Content-Type": "text/csv"})
    answer = client.put(f"/api/tables/{made.json()['id']}/columns", json={"label": "lable"})
    assert answer.status_code == 422
    assert answer.json() == {
        "detail": "“label”: there is no column 'lable'; did you mean 'label'? The columns are 'id', 'message', 'label'"
    }
