"""Says what a list needs in a repository. No other module looks at all of its entries for this."""

from registrar.models.paths import CannotCreate, ListedPath
from registrar.models.settings import Mode
from registrar.models.spec import RegistrationSpec
from registrar.models.standing import Standing
from registrar.models.status import Need
from registrar.registration.plan import Plan


def need_of(spec: RegistrationSpec, plan: Plan) -> Need:
    """Return the need of the list: the first of these that is the case."""
    pull, told, standings = plan.pull_request, plan.told, {each.standing for each in plan.paths}
    withdraws = spec.settings.mode is Mode.WITHDRAW
    is_missing = not standings.isdisjoint({Standing.TO_CREATE, Standing.PROPOSED})
    is_unopened = pull is None and Standing.PROPOSED in standings
    is_to_write = is_unopened or any(each.is_to_write for each in plan.paths)
    needs = {
        Need.WITHDRAW: withdraws and bool(plan.closes if spec.withdraws else told.withdrawable),
        Need.OPEN: spec.proposes and is_to_write and pull is None,
        Need.UPDATE: spec.proposes and is_to_write,
        Need.CLOSE: told.to_close > 0,
        Need.CONFLICTING: pull is not None and is_missing and bool(told.conflicts),
        Need.WAITING: pull is not None and is_missing,
        Need.CANNOT: any(map(cannot, plan.paths)),
        Need.NOT_NAMED: is_missing and spec.opens_nothing,
        Need.NOT_PROPOSED: is_missing or (withdraws and Standing.BLOCKED in standings),
        Need.BLOCKED: Standing.BLOCKED in standings,
        Need.UNSET: Standing.UNSET in standings,
        Need.DECLINED: Standing.DECLINED in standings,
        Need.COMPLETE: True,
    }
    return next(need for need, is_so in needs.items() if is_so)


def cannot(listed: ListedPath) -> bool:
    """Whether it is known of a missing file that it cannot be created."""
    return isinstance(listed.plan, CannotCreate) and listed.standing is Standing.TO_CREATE
