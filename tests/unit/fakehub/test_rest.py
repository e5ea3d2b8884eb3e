"""What the stand-in answers over REST, through HTTP."""

from __future__ import annotations

import base64
import subprocess
import threading

import pytest
import requests

from tests.fakehub import Pace, Repository, Request, StandInHost
from tests.fakehub.representations import Representations

from .conftest import Client

REPO = "/repos/octo/example"


def refusal(answer: requests.Response) -> tuple[int, str]:
    """Status and message, after a look at the form of every error body."""
    body = answer.json()
    assert body["status"] == str(answer.status_code)
    assert body["documentation_url"].startswith("https://docs.github.com/")
    return answer.status_code, body["message"]


def reason(answer: requests.Response) -> str | None:
    """`errors[0].message`, or its code, of a validation error."""
    assert refusal(answer) == (422, "Validation Failed")
    error = answer.json()["errors"][0]
    return error.get("message") or f"{error['field']} {error['code']}"


def ask(method: str, path: str, body: object = None, error: Exception | None = None) -> None:
    """One request to a host of its own, and perhaps an error before that host is left."""
    with StandInHost() as host:
        host.create_repository("octo/example")
        Client(host, host.create_token())(method, path, body)
        if error is not None:
            raise error


class TestReading:
    @pytest.mark.parametrize("prefix", ["", "/api/v3"])
    def test_repository(self, client: Client, prefix: str) -> None:
        body = client("GET", prefix + REPO).json()
        assert body["default_branch"] == "main"
        assert body["url"] == client.host.url + prefix + REPO
        assert body["permissions"]["push"] is True

    def test_references(self, client: Client, repository: Repository) -> None:
        repository.create_branch("topic/one")
        found = client("GET", f"{REPO}/git/ref/heads/main").json()
        assert found["object"]["sha"] == repository.head()
        assert refusal(client("GET", f"{REPO}/git/ref/heads/topic")) == (404, "Not Found")
        listed = client("GET", f"{REPO}/git/matching-refs/heads/to").json()
        assert [each["ref"] for each in listed] == ["refs/heads/topic/one"]
        assert client("GET", f"{REPO}/git/matching-refs/heads/nope").json() == []

    @pytest.mark.parametrize(
        ("path", "kind"),
        [
            ("README.md", "file"),
            ("link", "file"),
            ("docs/up", "symlink"),
            ("module", "submodule"),
        ],
    )
    def test_entries(self, client: Client, path: str, kind: str) -> None:
        body = client("GET", f"{REPO}/contents/{path}").json()
        assert (body["path"], body["type"]) == (path, kind)

    def test_a_link_to_a_file_reads_as_the_file(self, client: Client) -> None:
        body = client("GET", f"{REPO}/contents/link").json()
        assert base64.b64decode(body["content"]) == b"guide\n"

    def test_directory(self, client: Client) -> None:
        body = client("GET", f"{REPO}/contents/docs").json()
        assert [(each["path"], each["type"]) for each in body] == [
            ("docs/guide.md", "file"),
            ("docs/up", "symlink"),
        ]
        root = client("GET", f"{REPO}/contents?ref=main").json()
        assert {each["name"]: each["type"] for each in root}["module"] == "file"

    @pytest.mark.parametrize("place", ["", "/docs", "/README.md", "/none"])
    def test_a_slash_at_the_end_leads_elsewhere(self, client: Client, place: str) -> None:
        answer = client("GET", f"{REPO}/contents{place}/?ref=main")
        assert answer.status_code == 302
        assert answer.headers["Location"].endswith(f"/contents{place}")

    def test_a_large_file_has_no_content(self, client: Client, repository: Repository) -> None:
        repository.commit({"large": b"x" * 1_000_001})
        body = client("GET", f"{REPO}/contents/large").json()
        assert (body["encoding"], body["content"], body["size"]) == ("none", "", 1_000_001)

    def test_a_404_has_many_reasons(self, client: Client, host: StandInHost) -> None:
        host.create_repository("octo/empty", empty=True)
        unknown = "f" * 40
        for path, message in (
            (f"{REPO}/contents/none", "Not Found"),
            (f"{REPO}/contents/README.md/below", "Not Found"),
            (f"{REPO}/contents/none?ref={unknown}", f"No commit found for the ref {unknown}"),
            ("/repos/octo/empty/contents/none", "This repository is empty."),
            ("/repos/octo/none", "Not Found"),
        ):
            assert refusal(client("GET", path)) == (404, message)

    def test_ref_pins_a_commit(self, client: Client, repository: Repository) -> None:
        before = repository.head()
        repository.commit({"later": b"x"})
        assert client("GET", f"{REPO}/contents/later?ref={before}").status_code == 404
        assert client("GET", f"{REPO}/contents/later?ref=main").status_code == 200

    @pytest.mark.parametrize("path", ["a//b", "/a", "%2e%2e/a", ".git/config"])
    def test_malformed_paths(self, client: Client, path: str) -> None:
        expected = (422, "path contains a malformed path component")
        assert refusal(client("GET", f"{REPO}/contents/{path}")) == expected
        assert refusal(client.put(path)) == expected

    def test_trees_and_commits(self, client: Client, repository: Repository) -> None:
        body = client("GET", f"{REPO}/git/trees/main?recursive=1").json()
        assert {each["path"]: each["mode"] for each in body["tree"]} == {
            "README.md": "100644",
            "docs": "040000",
            "docs/guide.md": "100644",
            "docs/up": "120000",
            "link": "120000",
            "module": "160000",
        }
        commit = client("GET", f"{REPO}/git/commits/{repository.head()}").json()
        assert commit["tree"]["sha"] == body["sha"]

    def test_compare(self, client: Client, repository: Repository) -> None:
        repository.commit({"a": b"a\n", "README.md": None}, branch="topic/one")
        repository.commit({"b": b"b\n"})
        body = client("GET", f"{REPO}/compare/main...topic/one").json()
        assert (body["status"], body["ahead_by"], body["behind_by"]) == ("diverged", 1, 1)
        assert {each["filename"]: each["status"] for each in body["files"]} == {
            "README.md": "removed",
            "a": "added",
        }
        assert len(body["commits"]) == 1

    def test_empty_repository(self, client: Client, host: StandInHost) -> None:
        host.create_repository("octo/empty", empty=True)
        expected = (409, "Git Repository is empty.")
        assert refusal(client("GET", "/repos/octo/empty/git/ref/heads/main")) == expected
        body = {"ref": "refs/heads/x", "sha": "1" * 40}
        assert refusal(client("POST", "/repos/octo/empty/git/refs", body)) == expected


class TestWriting:
    def test_a_file_is_a_commit(self, client: Client, repository: Repository) -> None:
        answer = client.put("new/file.txt", content=base64.b64encode(b"text\n").decode())
        assert answer.status_code == 201
        assert repository.files()["new/file.txt"] == b"text\n"
        newest = repository.log()[0]
        assert answer.json()["commit"]["sha"] == newest.sha == repository.head()
        assert (newest.paths, newest.author) == (("new/file.txt",), "octocat")
        shown = subprocess.run(
            ["git", "-C", repository.path, "log", "-1", "--format=%H %s", "main"],
            check=True,
            capture_output=True,
            text=True,
        )
        assert shown.stdout == f"{newest.sha} chore: add\n"

    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            ("README.md", (422, 'Invalid request.\n\n"sha" wasn\'t supplied.')),
            ("docs", (422, 'Invalid request.\n\n"sha" wasn\'t supplied.')),
            ("README.md/x", (409, "Sorry, a file exists where you’re trying")),
            ("docs/up/x", (409, "Sorry, a file exists where you’re trying")),
        ],
    )
    def test_never_overwritten(
        self, client: Client, repository: Repository, path: str, expected: tuple[int, str]
    ) -> None:
        before = repository.head()
        status, message = refusal(client.put(path))
        assert (status, message[: len(expected[1])]) == expected
        assert repository.head() == before

    def test_with_its_sha_a_file_is_replaced(self, client: Client, repository: Repository) -> None:
        sha = client("GET", f"{REPO}/contents/README.md").json()["sha"]
        assert client.put("README.md", sha=sha).status_code == 200
        assert repository.files()["README.md"] == b"x"
        assert client.put("README.md", sha=sha).status_code == 409

    def test_missing_branch(self, client: Client) -> None:
        assert refusal(client.put("x", branch="none")) == (404, "Branch none not found")

    def test_content_is_strict_base64(self, client: Client) -> None:
        assert refusal(client.put("x", content="e A=")) == (422, "content is not valid Base64")

    def test_two_at_once_overlap(self, client: Client, host: StandInHost) -> None:
        host.latency = 0.1
        answers: list[int] = []
        message = []

        def put(name: str) -> None:
            answer = client.put(name)
            answers.append(answer.status_code)
            message.append(answer.json().get("message", ""))

        threads = [threading.Thread(target=put, args=(name,)) for name in ("a", "b")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(answers) == [201, 409]
        assert any(" but expected " in each for each in message)

    def test_create_reference(self, client: Client, repository: Repository) -> None:
        def create(name: str, sha: str | None = None) -> requests.Response:
            body = {"ref": name, "sha": sha or repository.head()}
            return client("POST", f"{REPO}/git/refs", body)

        assert create("refs/heads/topic/one").status_code == 201
        assert repository.branches == ["main", "topic/one"]
        exists, failed = (422, "Reference already exists"), (422, "Reference update failed")
        assert refusal(create("refs/heads/topic/one")) == exists
        assert refusal(create("refs/heads/topic")) == failed
        assert refusal(create("refs/heads/topic/one/more")) == failed
        assert refusal(create("refs/heads/new", "1" * 40)) == (422, "Object does not exist")
        assert create("heads/new").status_code == 422

    def test_rules(self, client: Client, repository: Repository) -> None:
        repository.protect("main")
        assert refusal(client.put("x"))[1].startswith("Could not create file: ")
        repository.protect("topic/*", "ruleset")
        body = {"ref": "refs/heads/topic/one", "sha": repository.head()}
        answer = client("POST", f"{REPO}/git/refs", body)
        assert refusal(answer) == (422, "Reference update failed")
        repository.create_branch("topic/two")
        status, message = refusal(client.put("x", branch="topic/two"))
        assert status == 409
        assert message.startswith("Repository rule violations found\n\n")

    def test_archived(self, client: Client, repository: Repository) -> None:
        repository.archived = True
        assert refusal(client.put("x")) == (403, "Repository was archived so is read-only.")
        assert client("GET", REPO).json()["archived"] is True

    def test_the_first_commit_of_an_empty_repository(
        self, client: Client, host: StandInHost
    ) -> None:
        empty = host.create_repository("octo/empty", empty=True)
        body = {"message": "m", "content": "eA=="}
        assert client("PUT", "/repos/octo/empty/contents/x", body).status_code == 201
        assert empty.files() == {"x": b"x"}

    def test_missing_fields(self, client: Client, host: StandInHost) -> None:
        answer = client("PUT", f"{REPO}/contents/x", {"message": "m"})
        assert refusal(answer) == (422, 'Invalid request.\n\n"content" wasn\'t supplied.')
        assert len(host.mismatches) == 1
        host.mismatches.clear()


class TestPullRequests:
    @pytest.fixture(autouse=True)
    def branch(self, repository: Repository) -> None:
        repository.commit({"new": b"x\n"}, branch="topic")

    def opened(self, client: Client, **more: object) -> requests.Response:
        body = {"title": "t", "head": "topic", "base": "main", "body": "b"} | more
        return client("POST", f"{REPO}/pulls", body)

    def test_open_and_read(self, client: Client, repository: Repository) -> None:
        body = self.opened(client, draft=True).json()
        assert (body["number"], body["changed_files"], body["draft"]) == (1, 1, True)
        assert body["head"]["repo"]["full_name"] == "octo/example"
        assert client("GET", f"{REPO}/pulls/1").json()["head"]["sha"] == repository.head("topic")
        assert repository.pull_requests[0].title == "t"
        assert client("GET", f"{REPO}/pulls/2").status_code == 404

    def test_refused(self, client: Client, repository: Repository) -> None:
        assert reason(self.opened(client, head="none")) == "head invalid"
        assert reason(self.opened(client, base="none")) == "base invalid"
        assert reason(self.opened(client, head="fork:topic")) == "head invalid"
        repository.create_branch("same")
        assert reason(self.opened(client, head="same")) == "No commits between main and same"
        assert self.opened(client).status_code == 201
        exists = "A pull request already exists for octo:topic."
        assert reason(self.opened(client)) == exists
        too_long = reason(self.opened(client, head="octo:topic", body="x" * 65_537))
        assert too_long == "body is too long (maximum is 65536 characters)"

    def test_by_a_workflow_where_that_is_off(self, client: Client, host: StandInHost) -> None:
        host.actions_may_create_pull_requests = False
        assert self.opened(client).status_code == 201
        answer = self.opened(Client(host, host.create_token("installation")))
        assert refusal(answer) == (
            403,
            "GitHub Actions is not permitted to create or approve pull requests.",
        )

    def test_list(self, client: Client, repository: Repository) -> None:
        repository.open_pull_request(head="topic", head_repository="fork/example")
        self.opened(client)
        repository.commit({"more": b""}, branch="other")
        repository.open_pull_request(head="other")
        repository.close(3)

        def listed(query: str = "") -> list[int]:
            answer = client("GET", f"{REPO}/pulls?{query}")
            return [each["number"] for each in answer.json()]

        assert listed() == [2, 1]
        assert listed("head=octo:topic") == [2]
        assert listed("head=fork:topic") == [1]
        assert listed("state=all&direction=asc") == [1, 2, 3]
        assert listed("state=closed&base=main") == [3]
        assert listed("state=all&base=none") == []
        first = client("GET", f"{REPO}/pulls?state=all&per_page=2")
        following = client("GET", first.links["next"]["url"].removeprefix(client.host.url))
        assert [each["number"] for each in following.json()] == [1]
        assert "next" not in following.links

    def test_update(self, client: Client, repository: Repository) -> None:
        self.opened(client)
        assert client("PATCH", f"{REPO}/pulls/1", {"body": "new"}).json()["body"] == "new"
        body = client("PATCH", f"{REPO}/pulls/1", {"state": "closed"}).json()
        assert (body["state"], body["merged"]) == ("closed", False)
        assert client("PATCH", f"{REPO}/pulls/1", {"state": "open"}).json()["state"] == "open"
        repository.merge(1)
        assert client("GET", f"{REPO}/pulls/1").json()["merged"] is True
        assert repository.files()["new"] == b"x\n"
        assert reason(client("PATCH", f"{REPO}/pulls/1", {"state": "open"})) == "state invalid"

    def test_deleting_the_branch_closes_it(self, client: Client, repository: Repository) -> None:
        self.opened(client)
        head = repository.head("topic")
        repository.delete_branch("topic")
        repository.create_branch("topic")
        body = client("GET", f"{REPO}/pulls/1").json()
        assert (body["state"], body["head"]["sha"]) == ("closed", head)

    def test_labels_assignees_reviewers(self, client: Client, repository: Repository) -> None:
        self.opened(client)
        labels = client("POST", f"{REPO}/issues/1/labels", {"labels": ["new label"]}).json()
        assert [each["name"] for each in labels] == ["new label"]
        assert client("POST", f"{REPO}/issues/1/labels", ["other"]).status_code == 200
        people = {"assignees": ["hubot", "nobody"]}
        issue = client("POST", f"{REPO}/issues/1/assignees", people).json()
        assert [each["login"] for each in issue["assignees"]] == ["hubot"]
        reviewers = f"{REPO}/pulls/1/requested_reviewers"
        for bad in ({"reviewers": ["hubot", "nobody"]}, {"team_reviewers": ["none"]}):
            assert refusal(client("POST", reviewers, bad))[0] == 422
        assert "author" in refusal(client("POST", reviewers, {"reviewers": ["octocat"]}))[1]
        assert repository.pull_requests[0].reviewers == []
        good = {"reviewers": ["hubot"], "team_reviewers": ["maintainers"]}
        assert client("POST", reviewers, good).status_code == 201
        assert repository.pull_requests[0].team_reviewers == ["maintainers"]


class TestTokens:
    def test_credentials(self, host: StandInHost, repository: Repository) -> None:
        assert refusal(Client(host, None)("GET", REPO)) == (401, "Requires authentication")
        token = host.create_token()
        host.revoke_token(token)
        bad = Client(host, token)
        for _ in range(10):
            assert refusal(bad("GET", "/rate_limit")) == (401, "Bad credentials")
        assert bad("GET", "/rate_limit").status_code == 403

    def test_scopes(self, host: StandInHost, repository: Repository) -> None:
        client = Client(host, host.create_token(scopes=("repo",)))
        assert client("GET", REPO).headers["X-OAuth-Scopes"] == "repo"
        assert client.put("x").status_code == 201
        assert refusal(client.put(".github/workflows/x.yml")) == (404, "Not Found")
        none = Client(host, host.create_token(scopes=()))
        assert none("GET", REPO).headers["X-OAuth-Scopes"] == ""
        assert none.put("y").status_code == 404
        repository.private = True
        assert none("GET", REPO).status_code == 404
        public = Client(host, host.create_token(scopes=("public_repo",)))
        assert public("GET", REPO).status_code == 404

    @pytest.mark.parametrize(
        ("kind", "prefix", "whom"),
        [
            ("fine-grained", "github_pat_", "personal access token"),
            ("installation", "ghs_", "integration"),
        ],
    )
    def test_permissions(
        self, host: StandInHost, repository: Repository, kind: str, prefix: str, whom: str
    ) -> None:
        reader = host.create_token(kind, permissions={"contents": "read"})  # type: ignore[arg-type]
        assert reader.startswith(prefix)
        answer = Client(host, reader).put("x")
        assert refusal(answer) == (403, f"Resource not accessible by {whom}")
        assert answer.headers["X-Accepted-GitHub-Permissions"] == "contents=write"
        assert "X-OAuth-Scopes" not in answer.headers
        writer = Client(host, host.create_token(kind))  # type: ignore[arg-type]
        assert writer.put("x").status_code == 201
        assert writer.put(".github/workflows/x.yml").status_code == 403

    def test_installation(self, host: StandInHost, repository: Repository) -> None:
        own = Client(host, host.create_token("installation"))
        assert own("GET", REPO).json()["permissions"]["push"] is False
        commit = own.put("x").json()["commit"]
        assert commit["author"]["name"] == "github-actions[bot]"
        assert commit["verification"]["verified"] is True
        person = {"name": "n", "email": "e@example.com"}
        unsigned = own.put("y", author=person).json()["commit"]
        assert unsigned["verification"]["verified"] is False
        other = Client(host, host.create_token("installation", repositories=["octo/other"]))
        assert other("GET", f"{REPO}/contents/README.md").status_code == 200
        assert other.put("z").status_code == 403
        repository.private = True
        assert other("GET", REPO).status_code == 404

    def test_role(self, host: StandInHost, repository: Repository) -> None:
        client = Client(host, host.create_token(push=False))
        assert client("GET", REPO).json()["permissions"]["push"] is False
        assert client.put("x").status_code == 404

    def test_single_sign_on(self, host: StandInHost, repository: Repository) -> None:
        answer = Client(host, host.create_token(sso=True))("GET", REPO)
        assert answer.status_code == 403
        assert answer.headers["X-GitHub-SSO"].startswith("required; url=")


class TestHost:
    def test_renamed(self, client: Client, host: StandInHost, repository: Repository) -> None:
        repository.rename("octo/renamed")
        answer = client("GET", f"{REPO}/contents/README.md?ref=main")
        assert answer.status_code == 301
        target = f"/repositories/{repository.id}/contents/README.md?ref=main"
        assert answer.headers["Location"] == host.url + target
        assert client("GET", target).status_code == 200
        assert client.put("x").status_code == 307
        assert client("GET", f"/repositories/{repository.id}").json()["name"] == "renamed"

    def test_rate_limit(self, client: Client, host: StandInHost) -> None:
        assert host.rate_limit is not None
        host.rate_limit.remaining = 1
        assert client("GET", "/rate_limit").json()["rate"]["remaining"] == 1
        assert client("GET", REPO).headers["x-ratelimit-remaining"] == "0"
        answer = client("GET", REPO)
        assert refusal(answer)[0] == 403
        assert answer.headers["x-ratelimit-reset"] == str(host.rate_limit.reset)
        host.rate_limit.reset = 0
        assert client("GET", REPO).status_code == 200
        host.rate_limit = None
        expected = (404, "Rate limiting is not enabled.")
        assert refusal(client("GET", "/rate_limit")) == expected

    def test_pace(self, client: Client, host: StandInHost) -> None:
        host.pace = Pace(per_minute=2, minute=1)
        assert [client.put(name).status_code for name in "abc"] == [201, 201, 403]
        assert client("GET", REPO).status_code == 200
        answer = client.put("c")
        assert answer.headers["Retry-After"] == "1"
        assert "secondary-rate-limits" in answer.json()["documentation_url"]

    @pytest.mark.parametrize(
        ("method", "path", "body", "expected"),
        [
            ("GET", "/user", None, "no such operation"),
            ("GET", f"{REPO}/contents/README.md?branch=main", None, "undocumented query"),
            ("GET", f"{REPO}/pulls?state=merged", None, "is not one of"),
            ("POST", f"{REPO}/git/refs", {"ref": "refs/heads/x"}, "required property"),
            ("POST", f"{REPO}/git/refs", None, "body is missing"),
            ("PATCH", f"{REPO}/pulls/1", {"description": "x"}, "undocumented property"),
        ],
    )
    def test_what_is_not_described_fails(
        self, method: str, path: str, body: object, expected: str
    ) -> None:
        with pytest.raises(AssertionError, match=expected):
            ask(method, path, body)

    def test_a_wrong_answer_of_its_own_fails(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Representations, "file", lambda *_: {"type": "file"})
        with pytest.raises(AssertionError, match="answer 200"):
            ask("GET", f"{REPO}/contents/README.md")

    def test_an_exception_is_not_replaced(self) -> None:
        with pytest.raises(ZeroDivisionError):
            ask("GET", "/user", error=ZeroDivisionError())

    def test_log(self, client: Client, host: StandInHost) -> None:
        seen: list[Request] = []
        host.on_request = seen.append
        client("GET", f"{REPO}/contents/docs%2Fguide.md?ref=main")
        client.put("x y")
        first, second = host.requests
        assert [each.number for each in seen] == [1, 2]
        assert (first.path, first.query) == (f"{REPO}/contents/docs/guide.md", {"ref": "main"})
        assert (second.raw_target, second.status) == (f"{REPO}/contents/x%20y", 201)
        assert second.json["content"] == "eA=="
        assert second.token is not None
        assert second.ended is not None
        assert second.ended >= second.started

    def test_settle(self, client: Client, host: StandInHost, repository: Repository) -> None:
        host.latency = 1.0
        with pytest.raises(requests.ReadTimeout):
            client("PUT", f"{REPO}/contents/x", {"message": "m", "content": "eA=="}, timeout=0.05)
        host.settle()
        assert repository.files()["x"] == b"x"

    def test_closing_twice(self) -> None:
        host = StandInHost()
        path = host.create_repository("octo/example").path
        host.close()
        host.close()
        assert not path.exists()


class TestReleasing:
    def test_a_commit_from_its_parts(self, client: Client, repository: Repository) -> None:
        head = repository.head()
        base = client("GET", f"{REPO}/git/commits/{head}").json()["tree"]["sha"]
        file = {"path": "a/b.yml", "mode": "100644", "type": "blob", "content": "x\n"}
        tree = client("POST", f"{REPO}/git/trees", {"base_tree": base, "tree": [file]}).json()
        given = {"message": "Release", "tree": tree["sha"], "parents": [head]}
        made = client("POST", f"{REPO}/git/commits", given).json()
        assert [each["sha"] for each in made["parents"]] == [head]
        assert made["tree"]["sha"] == tree["sha"]
        client("POST", f"{REPO}/git/refs", {"ref": "refs/tags/v1", "sha": made["sha"]})
        shown = client("GET", f"{REPO}/contents/a/b.yml?ref=v1").json()
        assert base64.b64decode(shown["content"]) == b"x\n"
        assert repository.head() == head

    def test_a_reference_is_moved(self, client: Client, repository: Repository) -> None:
        first = repository.head()
        second = repository.commit({"new": b""})
        client("POST", f"{REPO}/git/refs", {"ref": "refs/tags/v1", "sha": first})
        place = f"{REPO}/git/refs/tags/v1"
        assert client("PATCH", place, {"sha": second}).json()["object"]["sha"] == second
        back = client("PATCH", place, {"sha": first})
        assert refusal(back) == (422, "Update is not a fast forward")
        assert client("PATCH", place, {"sha": first, "force": True}).status_code == 200
        missing = client("PATCH", f"{REPO}/git/refs/tags/v2", {"sha": first})
        assert refusal(missing) == (422, "Reference does not exist")

    def test_a_reference_to_other_workflows_needs_the_permission(
        self, host: StandInHost, repository: Repository
    ) -> None:
        old = repository.commit({".github/workflows/ci.yml": b"old\n"})
        client = Client(host, host.create_token("installation"))
        made = client("POST", f"{REPO}/git/refs", {"ref": "refs/tags/v1", "sha": old})
        assert made.status_code == 201
        repository.commit({".github/workflows/ci.yml": b"new\n"})
        refused = client("POST", f"{REPO}/git/refs", {"ref": "refs/tags/v2", "sha": old})
        assert refusal(refused) == (403, "Resource not accessible by integration")

    def test_a_release_of_a_tag(self, client: Client, repository: Repository) -> None:
        place = f"{REPO}/releases/tags/v1.0.0"
        assert refusal(client("GET", place)) == (404, "Not Found")
        given = {"tag_name": "v1.0.0", "name": "1.0.0", "body": "Notes", "prerelease": True}
        made = client("POST", f"{REPO}/releases", given).json()
        assert client("GET", place).json() == made
        assert (made["body"], made["prerelease"]) == ("Notes", True)
        again = client("POST", f"{REPO}/releases", given)
        assert reason(again) == "tag_name already_exists"
