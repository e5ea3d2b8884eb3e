"""Sends each request until its outcome is final, and remembers what the run has just created.

A session is about one repository, except one that lists and reads many repositories. All sessions
share the facts about the token (`TokenLimits`), the waiting (`RetryPolicy`) and the connections
(`Transport`).

A request goes through these steps, again and again, until one of them ends it:

1. **Wait for the turn.** A write waits for the pace of the token. Every request waits for the end
   of a pause, even if another thread has begun it. A signal ends the waiting with `Cancelled`.
2. **Attempt.** The request's ``call`` asks PyGithub for one thing, and reads our model from the
   object that it gets.
3. **Classify.** A refusal of GitHub reaches us as `GithubException`. One table says what it means,
   and how often the request may be sent. Any other exception from such a call is an answer that
   cannot be used, because PyGithub checks little of what it reads.
4. **End, or pause and begin again.** A success ends the request. A failure ends it with
   `GitHubError` if another try cannot succeed, or if all tries are used up. Each pause is longer
   than the one before, and at least as long as GitHub asks for. If it would exceed the time that
   the run may wait, the request ends with `OutOfTime`. Tries that met a limit or lag have counters
   of their own.

These things may happen in between:

- **The answer to a write is lost** (time-out, server error, broken connection), so the write may
  have been applied. It is sent again all the same, because GitHub refuses to create a thing twice;
  only a write that is not ``idempotent`` is not repeated. If it fails in the end, the failure says
  ``may_have_been_applied``: "already exists" may be about our own thing, so the caller looks.
- **A signal, or the end of the time, interrupts a write.** Then there is no failure that could say
  it, so `Session.may_have_been_applied` does.
- **Not all of GitHub's servers know a new thing.** This is lag. For `LAG_SECONDS` after this run
  has created something, or GitHub has said that it exists (another run may have created it), "not
  found" may be lag, and the request is repeated. This holds only for requests about such a thing
  (``may_lag``). A path of a commit, or a branch that nobody has named, is missing as soon as GitHub
  says it.
- **A limit stops a part of a GraphQL request.** The request is a success, and the next one waits.
- **A write is right only as long as nobody changes something.** `Request.look` reads this right
  before the write, and after each pause.
- **Other threads send requests, too.** Pauses hold for all of them, and only one request to GraphQL
  is under way (``one_at_a_time``). The callers see to it that writes follow each other.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from github import GithubException, IncompletableObject

from registrar.errors import Cause, Failure, GitHubError, Kind, OutOfTime, RegistrarError
from registrar.github.answer import Response, Unanswered, UnexpectedRequest
from registrar.github.case import Case, Context, Meaning, RefusalRow
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
from registrar.texts.escaping import Lines
from registrar.texts.messages import Message, msg

if TYPE_CHECKING:
    from registrar.github.transport import Attempt, Transport

Model = TypeVar("Model")
TRIES_BEFORE_LESS = 2
"""How often a request is sent if its caller can ask for less."""
_COUNTED_APART = frozenset({Kind.LAG, Kind.LIMIT})


class Request(NamedTuple, Generic[Model]):
    """One request, and the function that makes our model from its answer."""

    operation: Message
    """Describes the request for people."""
    call: Callable[["Attempt"], Model]
    """Asks PyGithub, which sends exactly one request, and makes our model from the result.

    Raises `UnusableAnswer` if the result has a wrong form."""
    writes: bool = False
    creates_content: bool = True
    """Whether a write counts against GitHub's limits on content."""
    asks_less_after: frozenset[Kind] = frozenset()
    """Failures that may be temporary, but after which the caller will ask for less: the request is
    sent only once more.
    """
    idempotent: bool = True
    """Whether the request may be sent again if it may have been applied."""
    may_lag: bool = False
    """Whether the request is about something that this run has created, or that GitHub has said to
    exist. Right after that, "not found" may mean "not known everywhere yet"."""
    is_worth_waiting: Callable[[], bool] = lambda: True
    """Called at the first "not found" that may be lag. If it returns false, the request is not
    repeated.
    """
    one_at_a_time: bool = False
    """Whether only one such request with the token may be under way."""
    look: Callable[[], object] = lambda: None
    """Called right before each try, after all waiting, to read the things on which a write depends.
    An error that it raises ends the request.
    """
    has_looked: bool = False
    """Whether the caller has looked already, so that ``look`` is called only after a pause."""


class _FailedAttempt(Exception):
    """One attempt failed; ``meaning`` says why."""

    def __init__(self, meaning: Meaning) -> None:
        super().__init__(meaning.row.name)
        self.meaning = meaning


@dataclass(slots=True)
class _Attempts(Generic[Model]):
    request: Request[Model]
    began: float
    """On the monotonic clock, in seconds."""
    failed: Counter[Kind] = field(default_factory=Counter[Kind])
    """Number of failed tries: with lag and with a limit by their kind, all others together."""
    lag_until: float = 0.0
    """The moment (monotonic clock, in seconds) until which "not found" may be lag."""
    may_have_been_applied: bool = False
    """Whether one of the tries may have been applied."""
    meaning: Meaning | None = None
    """The failure of the last try; ``None`` before the first one."""

    def add(self, kind: Kind) -> int:
        """Count a failure, and return how many of its kind there were."""
        counted = kind if kind in _COUNTED_APART else Kind.OTHER
        self.failed[counted] += 1
        return self.failed[counted]


class Session:
    """The requests about one repository, or about many. May be used from several threads."""

    def __init__(
        self,
        transport: "Transport",
        limits: TokenLimits,
        policy: RetryPolicy,
        context: Context,
    ) -> None:
        self._transport = transport
        self.limits = limits
        """Limits and scopes of the token, as GitHub has reported them."""
        self._policy = policy
        self._clock = policy.clock
        self.context = context
        """The facts about the run and its token on which the meaning of an answer depends."""
        self.branches: dict[str, str] = {}
        """The names of branches that GitHub has said to exist, with their GraphQL ids; the id is
        empty if no answer has named it."""
        self._last_made: float | None = None
        """When something was last created, or said to exist (monotonic clock, in seconds)."""
        self.wrote = False
        """Whether any write has succeeded."""
        self.may_have_been_applied = False
        """Whether the last write may have been applied. True also after a success, and if the write
        was interrupted."""
        self.has_lost_answer = False
        """Whether any write ended without an answer that says whether it was applied."""

    def require_time(self) -> None:
        """Raise `OutOfTime` if the run has come to its end."""
        if self.limits.pace.is_over:
            message = msg("limit.over")
            raise OutOfTime(Failure.of(message, Kind.OUT_OF_TIME), message)

    def note_made(self) -> None:
        """Remember that something was created just now, or that GitHub has said that it exists.

        Labels and people of a pull request do not count, because no later request is about them.
        """
        self._last_made = self._clock.monotonic()

    def note_branch(self, name: str, node_id: str = "") -> None:
        """Remember that a branch exists, and its GraphQL id if the answer has it."""
        self.branches[name] = node_id or self.branches.get(name, "")
        self.note_made()

    def request(self, request: Request[Model]) -> Model:
        """Send a request until its outcome is final, and return our model of the answer.

        Raises `GitHubError` if the request has failed for good, and `OutOfTime` if a pause would
        exceed the time that the run may wait.
        """
        attempts = _Attempts(request, self._clock.monotonic())
        if request.writes:
            self.may_have_been_applied = False
        turn = self.limits.query if request.one_at_a_time else nullcontext()
        while True:
            # Held until the pause has begun, because the next request has to wait for its end
            with turn:
                self._wait(attempts)
                began = self._clock.monotonic()
                try:
                    model = self._attempt(attempts)
                except _FailedAttempt as failed:
                    meaning = failed.meaning
                else:
                    self._note_success(request)
                    return model
                self._end_or_pause(attempts, meaning, began)

    def _end_or_pause(self, attempts: _Attempts[Model], meaning: Meaning, began: float) -> None:
        """Raise the error that ends a request after a failed try, or begin a pause.

        ``began`` is when the try began (monotonic clock, in seconds).
        """
        request, attempts.meaning = attempts.request, meaning
        if request.writes:
            attempts.may_have_been_applied |= meaning.row.may_have_been_applied
            self.may_have_been_applied = attempts.may_have_been_applied
            self.limits.pace.writes += meaning.kind is not Kind.LIMIT
        self._policy.count_failed(began)
        number = attempts.add(meaning.kind)
        if meaning.kind is Kind.LIMIT and number == 1:
            self.limits.pace.note_limit()
        if meaning.kind is Kind.ALREADY_EXISTS:
            self.note_made()
        if not _is_worth_another(attempts, meaning, began):
            self.has_lost_answer |= attempts.may_have_been_applied
            raise self._error(attempts, meaning)
        self._begin_pause(attempts, meaning, number)

    def note_limit_beside(self, answer: Response) -> None:
        """Let the next request wait if a limit has stopped a part of a GraphQL request."""
        if limit := limit_beside_data(answer, self.context, self._clock.time()):
            self._policy.begin_pause_after_success(limit.pause or 0.0, limit.reason)

    def _wait(self, attempts: _Attempts[Model]) -> None:
        request, has_waited = attempts.request, attempts.meaning is not None
        if request.writes:
            has_waited |= self.wait_for_turn(creates_content=request.creates_content)
        has_waited |= self._policy.wait()
        if has_waited or not request.has_looked:
            self._look(attempts)
        if request.writes:
            self.limits.pace.note_sent(creates_content=request.creates_content)

    def wait_for_turn(self, *, creates_content: bool = True) -> bool:
        """Wait until another write may be sent; return whether GitHub's limits have asked for it.

        A caller that looks right before a write waits before the look.
        """
        return self._policy.wait_for_turn(self.limits.pace, creates_content=creates_content)

    def _look(self, attempts: _Attempts[Model]) -> None:
        try:
            attempts.request.look()
        except RegistrarError as error:
            self.has_lost_answer |= attempts.may_have_been_applied
            is_unclear = attempts.may_have_been_applied and isinstance(error, GitHubError)
            if attempts.meaning and is_unclear:
                # This error does not say what became of the write
                raise self._error(attempts, attempts.meaning) from error
            raise

    def _attempt(self, attempts: _Attempts[Model]) -> Model:
        """Make one attempt; raises `_FailedAttempt`."""
        request = attempts.request
        self.limits.note_sent()
        # Set here, because a signal may interrupt the attempt
        self.may_have_been_applied |= request.writes
        with self._transport.attempt(self._policy.answer_seconds()) as attempt:
            try:
                return request.call(attempt)
            except RegistrarError:
                raise
            except Exception as error:
                if not (attempt.status or isinstance(error, Unanswered)):
                    # Without an answer, this is a mistake of our own
                    raise
                raise _FailedAttempt(self._meaning(attempts, attempt, error)) from error
            finally:
                self.limits.note(attempt.headers)

    def _meaning(self, attempts: _Attempts[Model], attempt: "Attempt", error: Exception) -> Meaning:
        request, sent = attempts.request, attempt.sent
        assert sent is not None  # noqa: S101 (for the type checker)
        context = self.context._replace(
            was_accepted=self.limits.was_accepted, rejections=self.limits.rejections
        )
        if isinstance(error, UnexpectedRequest):
            row = UNUSABLE._replace(text="fault.unexpected_request")
            return Meaning(row, msg(row.text, address=Lines(str(error))), row.name)
        if isinstance(error, Unanswered):
            return classify_no_answer(error.why, sent, context, writes=request.writes)
        attempts.lag_until = (self._last_made or 0.0) + LAG_SECONDS
        data: object = None
        judged: RefusalRow | None = None
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
        meaning = classify(case, self._clock.time(), judged)
        if meaning.kind is Kind.TOKEN_REJECTED:
            self.limits.rejections += 1
        return meaning

    def _note_success(self, request: Request[Model]) -> None:
        self.limits.was_accepted, self.limits.rejections = True, 0
        self.wrote |= request.writes
        if request.writes:
            self.may_have_been_applied = True
            self.limits.pace.note_accepted()

    def _begin_pause(self, attempts: _Attempts[Model], meaning: Meaning, number: int) -> None:
        seconds, announcement = pause_before(meaning, number), None
        if meaning.kind is Kind.LAG:
            left = max(attempts.lag_until - self._clock.monotonic(), 0.0)
            seconds = min(seconds, left + SHORTEST_LAG_PAUSE)
            announcement = msg("wait.lag")
        self._policy.begin_pause(seconds, meaning.reason, announcement=announcement)

    def _error(self, attempts: _Attempts[Model], meaning: Meaning) -> GitHubError:
        reason = meaning.reason
        if meaning.row.gave_up:
            reason = msg(
                meaning.row.gave_up,
                reason=reason,
                count=attempts.failed[Kind.OTHER],
                seconds=round(self._clock.monotonic() - attempts.began),
            )
        return GitHubError(
            Failure(
                meaning.kind,
                msg("host.failed", operation=attempts.request.operation, reason=reason),
                Cause(reason, meaning.cause),
                attempts.may_have_been_applied,
            )
        )


def _meaning(error: Exception, status: int) -> RefusalRow | None:
    """Return the row for an answer that PyGithub or we could not read.

    ``None`` if the status of the answer decides.
    """
    if isinstance(error, Contradiction):
        return CONTRADICTION
    if isinstance(error, Absent):
        return NOT_LISTED
    return None if status >= 300 else UNUSABLE  # noqa: PLR2004


def _is_worth_another(attempts: _Attempts[Model], meaning: Meaning, began: float) -> bool:
    """Whether the request is to be sent again after a failed try.

    ``began`` is when the try began (monotonic clock, in seconds).
    """
    if attempts.may_have_been_applied and not attempts.request.idempotent:
        return False
    if meaning.kind is Kind.LAG:
        is_first = attempts.failed[Kind.LAG] == 1
        may_be_lag = not is_first or attempts.request.is_worth_waiting()
        return may_be_lag and began < attempts.lag_until
    asks_less = meaning.kind in attempts.request.asks_less_after
    tries = min(meaning.row.tries, TRIES_BEFORE_LESS) if asks_less else meaning.row.tries
    return meaning.kind is Kind.LIMIT or attempts.failed[Kind.OTHER] < tries
