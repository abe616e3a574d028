import type { Sql, Tx } from "../database/types.ts"
import { type Balance, type BalanceRow, balanceColumns, toBalance } from "./credits.ts"
import { ENTITLEMENT_NAMES, type Entitlements, entitlementsOf, PLANS, type Plan } from "./plans.ts"
import { AccessProblem } from "./problem.ts"

/** Entitlements that differ from the plan's, by name. Null removes an override. */
export type Overrides = { [Name in keyof Entitlements]?: number | null }

export interface NewWorkspace {
  /** Unique among workspaces, 1 to 100 characters. */
  name: string
  plan: Plan
  explorer?: boolean
  overrides?: Overrides
  pack?: number
  ipListRequired?: boolean
}

interface WorkspaceChanges {
  plan?: Plan
  explorer?: boolean
  /** Merged into the existing overrides. */
  overrides?: Overrides
  addPack?: number
  ipListRequired?: boolean
  suspended?: boolean
  /** Resets a billing month that is ahead of today to the current month. */
  resetMonth?: boolean
}

export interface Workspace {
  id: number
  name: string
  plan: Plan
  explorer: boolean
  ipListRequired: boolean
  overrides: Partial<Entitlements>
  suspendedAt: Date | null
  createdAt: Date
  credits: Balance
}

/** Creates a workspace with its account. Throws AccessProblem when a value is invalid or the name is taken. */
export async function createWorkspace(sql: Sql, newWorkspace: NewWorkspace): Promise<Workspace> {
  const { plan, explorer = false, pack = 0, ipListRequired = false } = newWorkspace
  const name = checkName("workspace", newWorkspace.name)
  const overrides = checkChanges({ plan, overrides: newWorkspace.overrides }, {})
  if (pack !== 0) checkPack(pack)
  await sql.begin(async (tx) => {
    const [row] = await tx<{ id: number }[]>`
      insert into workspace (name, plan, explorer, ip_list_required, overrides)
      values (${name}, ${plan}, ${explorer}, ${ipListRequired}, ${tx.json(overrides)})
      on conflict (name) where deleted_at is null do nothing
      returning id`
    if (!row) throw new AccessProblem(`there is already a workspace named ${JSON.stringify(name)}`)
    await tx`
      insert into account (workspace_id, month, quota, pack, pack_bought_at)
      values (
        ${row.id}, date_trunc('month', now() at time zone 'utc')::date,
        ${entitlementsOf(plan, overrides).credits}, ${pack}, case when ${pack > 0} then now() end
      )`
  })
  return await findWorkspace(sql, name)
}

/** Changes a workspace. A changed plan or override changes the monthly quota at once. Throws AccessProblem. */
export async function setWorkspace(sql: Sql, name: string, changes: WorkspaceChanges): Promise<Workspace> {
  if (changes.addPack !== undefined) checkPack(changes.addPack)
  await sql.begin(async (tx) => {
    const locked = await lockWorkspace(tx, name)
    const plan = changes.plan ?? locked.plan
    const overrides = checkChanges(changes, locked.overrides)
    const suspended = changes.suspended ?? null
    await tx`
      update workspace set
        plan = ${plan},
        explorer = coalesce(${changes.explorer ?? null}, explorer),
        ip_list_required = coalesce(${changes.ipListRequired ?? null}, ip_list_required),
        overrides = ${tx.json(overrides)},
        suspended_at = case when coalesce(${suspended}, suspended_at is not null) then coalesce(suspended_at, now()) end
      where id = ${locked.id}`
    await tx`
      update account set
        quota = ${entitlementsOf(plan, overrides).credits},
        pack = pack + ${changes.addPack ?? 0},
        pack_bought_at = case when ${changes.addPack !== undefined} then now() else pack_bought_at end
      where workspace_id = ${locked.id}`
    if (changes.resetMonth) await resetMonth(tx, locked.id)
  })
  return await findWorkspace(sql, name)
}

/**
 * Repairs the billing month after a clock was far ahead. Moves charges of later months to the current month, so that
 * the ledger's sum still matches the account and nothing becomes free. Throws AccessProblem when the month is not
 * ahead.
 */
async function resetMonth(tx: Tx, workspaceId: number): Promise<void> {
  const [account] = await tx<{ thisMonth: string; isAhead: boolean }[]>`
    select date_trunc('month', now() at time zone 'utc')::date as "thisMonth",
      month > date_trunc('month', now() at time zone 'utc')::date as "isAhead"
    from account
    where workspace_id = ${workspaceId}
    for update`
  if (!account?.isAhead) throw new AccessProblem("the billing month of the workspace is not ahead of today")
  const { thisMonth } = account
  await tx`
    update ledger
    set month = ${thisMonth}
    where workspace_id = ${workspaceId} and month > ${thisMonth}`
  await tx`
    update account a
    set month = ${thisMonth}, used = l.used, from_pack = l.from_pack
    from (
      select coalesce(sum(cost), 0) as used, coalesce(sum(from_pack), 0) as from_pack
      from ledger
      where workspace_id = ${workspaceId} and month = ${thisMonth}
    ) l
    where a.workspace_id = ${workspaceId}`
  await tx`
    update key_month k
    set month = ${thisMonth}, used = coalesce((
        select sum(cost)
        from ledger
        where workspace_id = ${workspaceId} and month = ${thisMonth} and key_id = k.key_id
      ), 0)
    where k.workspace_id = ${workspaceId}`
}

export async function listWorkspaces(sql: Sql): Promise<Workspace[]> {
  const rows = await sql<WorkspaceRow[]>`
    ${columns(sql)}
    where w.deleted_at is null
    order by w.id
    limit 1000`
  return rows.map(workspaceOf)
}

export async function findWorkspace(sql: Sql, name: string): Promise<Workspace> {
  const [row] = await sql<WorkspaceRow[]>`
    ${columns(sql)}
    where w.deleted_at is null and w.name = ${name}`
  if (!row) throw noWorkspace(name)
  return workspaceOf(row)
}

/**
 * Deletes a workspace: its keys get account_deleted, its apps are deleted, its name becomes available, and the ledger
 * is kept. Returns the number of deleted apps.
 */
export async function deleteWorkspace(sql: Sql, name: string): Promise<{ id: number; apps: number }> {
  return await sql.begin(async (tx) => {
    const { id } = await lockWorkspace(tx, name)
    await tx`
      update workspace set deleted_at = now()
      where id = ${id}`
    const { count } = await tx`
      delete from tracked_app
      where workspace_id = ${id}`
    return { id, apps: count }
  })
}

/** Returns the trimmed name. Throws AccessProblem unless it has 1 to 100 printable characters. */
export function checkName(what: "workspace" | "key" | "person", text: string): string {
  const name = text.trim()
  // A control character in a name could redraw the terminal that lists it.
  if (!/^\P{C}{1,100}$/u.test(name))
    throw new AccessProblem(`a ${what}'s name has 1 to 100 printable characters`, "name")
  return name
}

/** Throws AccessProblem unless the amount is a whole number from `least` to 10^12. Sums of such amounts stay exact. */
export function checkAmount(what: string, amount: number, least: number, field?: string): void {
  if (Number.isSafeInteger(amount) && amount >= least && amount <= 1e12) return
  throw new AccessProblem(`${what} must be a whole number from ${least} to 1,000,000,000,000`, field)
}

function checkPack(credits: number): void {
  checkAmount("a credit pack", credits, 1)
}

function checkChanges(
  { plan, overrides = {} }: WorkspaceChanges,
  storedOverrides: Partial<Entitlements>,
): Partial<Entitlements> {
  if (plan !== undefined && !PLANS.includes(plan))
    throw new AccessProblem(`the plan must be one of ${PLANS.join(", ")}`)
  const merged: Overrides = { ...storedOverrides, ...overrides }
  for (const [name, amount] of Object.entries(merged)) {
    if (!ENTITLEMENT_NAMES.includes(name as keyof Entitlements)) {
      throw new AccessProblem(
        `there is no entitlement of that name; the entitlements are ${ENTITLEMENT_NAMES.join(", ")}`,
      )
    }
    if (amount !== null) checkAmount(name, amount, 0)
  }
  return Object.fromEntries(Object.entries(merged).filter(([, amount]) => amount !== null))
}

type WorkspaceRow = Omit<Workspace, "credits"> & BalanceRow

function columns(sql: Sql) {
  return sql`
    select w.id, w.name, w.plan, w.explorer, w.ip_list_required as "ipListRequired", w.overrides,
      w.suspended_at as "suspendedAt", w.created_at as "createdAt",
      ${balanceColumns(sql)}
    from workspace w
    join account a on a.workspace_id = w.id
    cross join lateral balance(a, null) b`
}

function workspaceOf(row: WorkspaceRow): Workspace {
  const { id, name, plan, explorer, ipListRequired, overrides, suspendedAt, createdAt } = row
  return { id, name, plan, explorer, ipListRequired, overrides, suspendedAt, createdAt, credits: toBalance(row) }
}

async function lockWorkspace(tx: Tx, name: string) {
  const [row] = await tx<{ id: number; plan: Plan; overrides: Partial<Entitlements> }[]>`
    select id, plan, overrides
    from workspace
    where deleted_at is null and name = ${name}
    for update`
  if (!row) throw noWorkspace(name)
  return row
}

function noWorkspace(name: string): AccessProblem {
  return new AccessProblem(`there is no workspace named ${JSON.stringify(name.slice(0, 100))}`)
}
