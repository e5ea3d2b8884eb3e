"""Sends each request until its outcome is final, and knows what the run has just made.

A session is about one repository; the one that lists and reads many only reads. All sessions share
what is known of the token (`TokenLimits`), the waiting (`RetryPolicy`) and the connections
(`Transport`).

A request goes through these steps, again and again, until one of them ends it:

1. **Wait for the turn.** A write waits for the pace of the token, every request for the end of a
   pause, whichever thread has begun it. A signal ends the waiting with `Cancelled`.
2. **Attempt.** The request's ``call`` asks PyGithub for one thing, and reads our model from the
   object that it gets.
3. **Classify.** What GitHub refuses reaches us as `GithubException`: one table says what the answer
   means, and how often the request may be sent. Any other exception out of such a call is an answer
   that cannot be used: PyGithub checks little of what it reads.
4. **End, or pause and begin again.** A success ends it. So does, as `GitHubError`, a failure that
   trying again does not mend, or that has lasted for all tries. Each pause is longer than the last
   one, and never shorter than GitHub asks for; one that would exceed what the run may wait ends the
   request with `OutOfTime`. Tries that a limit stopped, or that met lag, count apart.

What may happen in between:

- **The answer to a write is lost** (time-out, server error, broken connection): perhaps it was
  applied. It is sent again all the same, unless it is not ``idempotent``: GitHub refuses to make a
  thing twice. Whatever is answered then, the failure says ``may_have_been_applied``: "already
  exists" may mean our own, and the caller looks.
- **A signal, or the end of the time, while a write is under way**: there is no failure to ask, so
  `Session.may_have_been_applied` says it.
- **GitHub does not know everywhere what was made.** For `LAG_SECONDS` after this run made
  something, or GitHub said that it exists (another run may have made it), "not there" may be lag,
  and is asked again. This holds only for requests that are about such a thing (``may_lag``). A path
  of a commit, or a branch that nobody has named, is missing as soon as GitHub says so.
- **A limit stops a part of a GraphQL request**: what was done is a success, and the next request
  waits.
- **A write that is right only as long as nobody changes something**: that is looked at right before
  the write, and before each repetition of it (`Request.look`).
- **Other threads send requests, too**: pauses hold for all of them, and only one request to GraphQL
  is under way (``one_at_a_time``). That writes follow each other is up to the callers.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from github import GithubException, IncompletableObject

from registrar.errors import Cause, Failure, GitHubError, Kind, OutOfTime, RegistrarError
from registrar.github.answer import Response, Unanswered, UnexpectedRequest
from registrar.github.case import Case, Context, Outcome, Row
from registrar.github.classify import (
    CONTRADICTION,
    NOT_LISTED,
    UNUSABLE,
    classify,
    classify_no_answer,
    limit_beside_data,
)
from registrar.github.fields import Absent, Contradiction
from registrar.github.limits import (
    LAG_SECONDS,
    SHORTEST_LAG_PAUSE,
    RetryPolicy,
    TokenLimits,
    pause_before,
)
from registrar.models.repository import Repository
from registrar.texts.escaping import Lines
from registrar.texts.messages import Message, msg

if TYPE_CHECKING:
    from registrar.github.transport import Attempt, Transport

Model = TypeVar("Model")
TRIES_BEFORE_LESS = 2
"""How often a request is sent whose caller can ask for less."""
_COUNTED_APART = frozenset({Kind.LAG, Kind.LIMIT})


class Request(NamedTuple, Generic[Model]):
    """One request, and what is made of its answer."""

    operation: Message
    """Describes it for people."""
    call: Callable[["Attempt"], Model]
    """Asks PyGithub, which sends exactly one request, and builds our model of what it gives.

    Raises `UnusableAnswer` if that has another shape than it must have."""
    writes: bool = False
    creates_content: bool = True
    """Whether a write counts against GitHub's limits on content."""
    asks_less_after: frozenset[Kind] = frozenset()
    """Failures that may be temporary, but after which the caller will ask for less: the request is
    sent only once more.
    """
    idempotent: bool = True
    """Whether it may be sent again when it may have been applied."""
    may_lag: bool = False
    """Whether it is about what this run has made, or GitHub has said to exist: right after that,
    "not there" may mean "not known everywhere yet"."""
    is_worth_waiting: Callable[[], bool] = lambda: True
    """Called at the first "not there" that may be lag. If it returns false, the request is not
    repeated.
    """
    one_at_a_time: bool = False
    """Whether no other such request with the token may be under way."""
    look: Callable[[], object] = lambda: None
    """Called right before each try, once all waiting is over: reads what a write depends on. What
    it raises ends the request.
    """
    has_looked: bool = False
    """Whether that was done before, so that it is called before a repetition only."""


class _FailedAttempt(Exception):
    """One attempt was no success; ``outcome`` says why."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.row.name)
        self.outcome = outcome


@dataclass(slots=True)
class _Attempts(Generic[Model]):
    request: Request[Model]
    began: float
    """On the monotonic clock, in seconds."""
    failed: Counter[Kind] = field(default_factory=Counter[Kind])
    """Failed tries: those that ended with lag or a limit by their kind, all others together."""
    lag_until: float = 0.0
    """Until when "not there" may be because GitHub does not know it everywhere yet."""
    may_have_been_applied: bool = False
    """Whether one of its tries may have been applied."""
    outcome: Outcome | None = None
    """Of the last try, if there was one."""

    def count(self, kind: Kind) -> int:
        """Count a failure; gives how many of its kind there were."""
        counted = kind if kind in _COUNTED_APART else Kind.OTHER
        self.failed[counted] += 1
        return self.failed[counted]


class Session:
    """May be used from several threads."""

    def __init__(
        self,
        transport: "Transport",
        limits: TokenLimits,
        policy: RetryPolicy,
        context: Context,
    ) -> None:
        self._transport = transport
        self.limits = limits
        """What GitHub has reported about the token."""
        self._policy = policy
        self._clock = policy.clock
        self.context = context
        """What the meaning of an answer depends on."""
        self.branches: dict[str, str] = {}
        """Branches that GitHub has said to exist, with what GraphQL calls them; empty if no
        answer said it."""
        self._last_made: float | None = None
        """When something was last made, or said to exist (monotonic clock, in seconds)."""
        self.described: Repository | None = None
        """The repository as the last answer describes it that does so."""
        self.wrote = False
        """Whether any write has succeeded."""
        self.may_have_been_applied = False
        """Whether the last write may have been applied, also if it never ended."""
        self.has_lost_answer = False
        """Whether any write ended without an answer that says whether it was applied."""

    def require_time(self) -> None:
        """Raise `OutOfTime` if the run has come to its end."""
        if self.limits.pace.is_over:
            message = msg("limit.over")
            raise OutOfTime(Failure.of(message, Kind.OUT_OF_TIME), message)

    def note_made(self) -> None:
        """Remember that something was made now, or that GitHub has said that it exists.

        Labels and people of a pull request do not count: nothing is asked about them later.
        """
        self._last_made = self._clock.monotonic()

    def note_branch(self, name: str, node_id: str = "") -> None:
        """Remember that a branch exists, and what GraphQL calls it where the answer says so."""
        self.branches[name] = node_id or self.branches.get(name, "")
        self.note_made()

    def note_described(self, repository: Repository | None) -> None:
        """Remember how an answer describes the repository, if it does."""
        if repository and repository.visibility:
            self.described = repository
            if not repository.is_public:
                self.limits.not_public.add(repository.id)

    def request(self, request: Request[Model]) -> Model:
        """Send a request until its outcome is final, and give our model of the answer."""
        attempts = _Attempts(request, self._clock.monotonic())
        if request.writes:
            self.may_have_been_applied = False
        turn = self.limits.query if request.one_at_a_time else nullcontext()
        while True:
            # Until the pause has begun, because the next request has to wait for its end
            with turn:
                self._wait(attempts)
                began = self._clock.monotonic()
                try:
                    model = self._attempt(attempts)
                except _FailedAttempt as failed:
                    outcome = failed.outcome
                else:
                    self._note_success(request)
                    return model
                self._end_or_pause(attempts, outcome, began)

    def _end_or_pause(self, attempts: _Attempts[Model], outcome: Outcome, began: float) -> None:
        """Raise what ends a request after a try that ``began`` then, or begin a pause."""
        request, attempts.outcome = attempts.request, outcome
        if request.writes:
            attempts.may_have_been_applied |= outcome.row.may_have_been_applied
            self.may_have_been_applied = attempts.may_have_been_applied
            self.limits.pace.writes += outcome.kind is not Kind.LIMIT
        self._policy.count_failed(began)
        number = attempts.count(outcome.kind)
        if outcome.kind is Kind.LIMIT and number == 1:
            self.limits.pace.note_limit()
        if outcome.kind is Kind.ALREADY_EXISTS:
            self.note_made()
        if not _is_worth_another(attempts, outcome, began):
            self.has_lost_answer |= attempts.may_have_been_applied
            raise self._error(attempts, outcome)
        self._begin_pause(attempts, outcome, number)

    def note_limit_beside(self, answer: Response) -> None:
        """Let the next request wait where a limit stopped a part of a GraphQL request."""
        if limit := limit_beside_data(answer, self.context, self._clock.time()):
            self._policy.begin_pause_after_success(limit.pause or 0.0, limit.reason)

    def _wait(self, attempts: _Attempts[Model]) -> None:
        request = attempts.request
        if request.writes:
            self._policy.wait_for_turn(self.limits.pace, creates_content=request.creates_content)
        self._policy.wait()
        if attempts.outcome or not request.has_looked:
            self._look(attempts)
        if request.writes:
            self.limits.pace.note_sent(creates_content=request.creates_content)

    def _look(self, attempts: _Attempts[Model]) -> None:
        try:
            attempts.request.look()
        except RegistrarError as error:
            self.has_lost_answer |= attempts.may_have_been_applied
            is_unclear = attempts.may_have_been_applied and isinstance(error, GitHubError)
            if attempts.outcome and is_unclear:
                # It says nothing about what became of the write
                raise self._error(attempts, attempts.outcome) from error
            raise

    def _attempt(self, attempts: _Attempts[Model]) -> Model:
        """Make one attempt; raises `_FailedAttempt`."""
        request = attempts.request
        self.limits.note_sent()
        # Also where a signal gives the answer up
        self.may_have_been_applied |= request.writes
        with self._transport.attempt(self._policy.answer_seconds()) as attempt:
            try:
                return request.call(attempt)
            except RegistrarError:
                raise
            except Exception as error:
                if not (attempt.status or isinstance(error, Unanswered)):
                    # A mistake of ours, not of an answer
                    raise
                raise _FailedAttempt(self._outcome(attempts, attempt, error)) from error
            finally:
                self.limits.note(attempt.headers)

    def _outcome(self, attempts: _Attempts[Model], attempt: "Attempt", error: Exception) -> Outcome:
        request, sent = attempts.request, attempt.sent
        assert sent is not None  # noqa: S101 (for the type checker)
        context = self.context._replace(
            was_accepted=self.limits.was_accepted, rejections=self.limits.rejections
        )
        if isinstance(error, UnexpectedRequest):
            row = UNUSABLE._replace(text="fault.unexpected_request")
            return Outcome(row, msg(row.text, address=Lines(str(error))), row.name)
        if isinstance(error, Unanswered):
            return classify_no_answer(error.why, sent, context, writes=request.writes)
        attempts.lag_until = (self._last_made or 0.0) + LAG_SECONDS
        data: object = None
        judged: Row | None = None
        if isinstance(error, GithubException) and not isinstance(error, IncompletableObject):
            data = error.data
        else:
            judged = _meaning(error, attempt.status)
        answer = attempt.response(data)
        case = Case(
            answer.status,
            answer.headers,
            answer.data,
            sent,
            request.writes,
            context,
            may_lag=request.may_lag and self._last_made is not None,
        )
        outcome = classify(case, self._clock.time(), judged)
        if context.was_accepted and outcome.kind is Kind.TOKEN_REJECTED:
            self.limits.rejections += 1
        return outcome

    def _note_success(self, request: Request[Model]) -> None:
        self.limits.was_accepted = True
        self.wrote |= request.writes
        if request.writes:
            self.may_have_been_applied = True
            self.limits.pace.writes += 1

    def _begin_pause(self, attempts: _Attempts[Model], outcome: Outcome, number: int) -> None:
        seconds, announcement = pause_before(outcome, number), None
        if outcome.kind is Kind.LAG:
            left = max(attempts.lag_until - self._clock.monotonic(), 0.0)
            seconds = min(seconds, left + SHORTEST_LAG_PAUSE)
            announcement = msg("wait.lag")
        self._policy.begin_pause(seconds, outcome.reason, announcement=announcement)

    def _error(self, attempts: _Attempts[Model], outcome: Outcome) -> GitHubError:
        reason = outcome.reason
        if outcome.row.gave_up:
            reason = msg(
                outcome.row.gave_up,
                reason=reason,
                count=attempts.failed[Kind.OTHER],
                seconds=round(self._clock.monotonic() - attempts.began),
            )
        return GitHubError(
            Failure(
                outcome.kind,
                msg("host.failed", operation=attempts.request.operation, reason=reason),
                Cause(reason, outcome.cause, outcome.told),
                attempts.may_have_been_applied,
            )
        )


def _meaning(error: Exception, status: int) -> Row | None:
    """What an answer means that PyGithub or we could not read; ``None``: its status decides."""
    if isinstance(error, Contradiction):
        return CONTRADICTION
    if isinstance(error, Absent):
        return NOT_LISTED
    return None if status >= 300 else UNUSABLE  # noqa: PLR2004


def _is_worth_another(attempts: _Attempts[Model], outcome: Outcome, began: float) -> bool:
    """Whether the request is to be sent again, after a try that ``began`` then."""
    if attempts.may_have_been_applied and not attempts.request.idempotent:
        return False
    if outcome.kind is Kind.LAG:
        is_first = attempts.failed[Kind.LAG] == 1
        may_be_lag = not is_first or attempts.request.is_worth_waiting()
        return may_be_lag and began < attempts.lag_until
    asks_less = outcome.kind in attempts.request.asks_less_after
    tries = min(outcome.row.tries, TRIES_BEFORE_LESS) if asks_less else outcome.row.tries
    return outcome.kind is Kind.LIMIT or attempts.failed[Kind.OTHER] < tries
