import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto"
import type { Sql, Tx } from "../database/types.ts"
import { AccessProblem } from "./problem.ts"

/** The views of every role: sql/schema/90-reports.sql. */
export const REPORT_VIEWS = ["report_apps", "report_ranks", "report_reviews", "report_charts"] as const

/** The views of roles that may read money. */
export const MONEY_VIEWS = ["report_revenue", "report_ads", "report_ad_keywords"] as const

export const DEFAULT_SQL_CONNECTIONS = 3
const MAX_SQL_CONNECTIONS = 100

/**
 * Timeout of a statement in seconds. A reporting tool may raise it, because PostgreSQL lets every role change its own
 * timeouts.
 */
export const SQL_STATEMENT_SECONDS = 60

interface SqlGrant {
  workspaceId: number
  /** The role's name. Undefined for a new role with a random name. */
  role?: string | undefined
  isMoney: boolean
  connections: number
}

interface GrantedRole {
  role: string
  /** The only copy of the password, because the database stores a hash. */
  password: string
  schema: string
}

/**
 * Creates a database role that reads the workspace's reports, or gives a role of the workspace new rights and a new
 * password. Throws AccessProblem, also if the role could read anything else.
 */
export async function grantSqlRole(
  sql: Sql,
  { workspaceId, role = randomName(), isMoney, connections }: SqlGrant,
): Promise<GrantedRole> {
  checkName(role)
  if (!Number.isInteger(connections) || connections < 1 || connections > MAX_SQL_CONNECTIONS)
    throw new AccessProblem(`--connections must be from 1 to ${MAX_SQL_CONNECTIONS}`)
  const password = randomBytes(24).toString("base64url")
  return await sql.begin(async (tx) => {
    await assertMayCreateRoles(tx)
    const exists = await claimName(tx, role, workspaceId)
    await tx`
      insert into sql_role (role, workspace_id, money)
      values (${role}, ${workspaceId}, ${isMoney})
      on conflict (role) do update set money = excluded.money`
    const verb = exists ? tx`alter role` : tx`create role`
    await tx`
      ${verb} ${tx(role)} login nosuperuser nocreatedb nocreaterole noinherit
      connection limit ${tx.unsafe(`${connections}`)}
      password ${tx.unsafe(`'${scramVerifier(password)}'`)}`
    const [{ schema, database }] = await tx<[{ schema: string; database: string }]>`
      select current_schema() as schema, current_database() as database`
    await setDefaults(tx, role, database, schema)
    await tx`grant connect on database ${tx(database)} to ${tx(role)}`
    await tx`grant usage on schema ${tx(schema)} to ${tx(role)}`
    for (const view of REPORT_VIEWS) await tx`grant select on ${tx(view)} to ${tx(role)}`
    for (const view of MONEY_VIEWS) {
      if (isMoney) await tx`grant select on ${tx(view)} to ${tx(role)}`
      else await tx`revoke select on ${tx(view)} from ${tx(role)}`
    }
    await assertReadsOnlyReports(tx, role, { schema, database })
    return { role, password, schema }
  })
}

/** Every role can read the names of all roles, so a name must not contain the workspace's. */
function randomName(): string {
  return `appmeter_report_${randomBytes(4).toString("hex")}`
}

function checkName(role: string): void {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(role) && !role.startsWith("pg_")) return
  throw new AccessProblem(
    "the name of a role must have 1 to 63 lower-case letters, digits and underscores, begin with a letter and not " +
      "begin with pg_",
  )
}

async function assertMayCreateRoles(tx: Tx): Promise<void> {
  const [me] = await tx<[{ name: string; may: boolean }]>`
    select rolname::text as name, rolsuper or rolcreaterole as may
    from pg_roles
    where rolname = current_user`
  if (!me.may)
    throw new AccessProblem(
      `the database user ${me.name} may not create roles; ask an administrator for: alter role ${me.name} createrole`,
    )
}

/**
 * Returns whether the role already exists. Throws AccessProblem unless its name is free or belongs to the workspace.
 */
async function claimName(tx: Tx, role: string, workspaceId: number): Promise<boolean> {
  const [row] = await tx<[{ exists: boolean; workspaceId: number | null; isShared: boolean }]>`
    select exists (select from pg_roles where rolname = ${role}) as exists,
      (select workspace_id from sql_role where role = ${role}) as "workspaceId",
      exists (
        select
        from pg_shdepend d
        join pg_roles r on r.oid = d.refobjid
        where d.refclassid = 'pg_authid'::regclass and r.rolname = ${role}
          and d.dbid not in (select oid from pg_database where datname = current_database()) and d.dbid <> 0
      ) as "isShared"`
  if (row.workspaceId === null ? row.exists : row.workspaceId !== workspaceId)
    throw new AccessProblem(`the role ${role} exists already and does not read this workspace; choose another --role`)
  // This database may be a copy on the same server as the original, and the tools of the original would lose their
  // password.
  if (row.isShared)
    throw new AccessProblem(`another database of this server uses the role ${role}; choose another --role`)
  return row.exists
}

async function setDefaults(tx: Tx, role: string, database: string, schema: string): Promise<void> {
  const seconds = `${SQL_STATEMENT_SECONDS}s`
  const settings: [name: string, value: string][] = [
    ["default_transaction_read_only", "on"],
    ["statement_timeout", seconds],
    ["idle_in_transaction_session_timeout", seconds],
    ["lock_timeout", "5s"],
    ["max_parallel_workers_per_gather", "0"],
  ]
  for (const [name, value] of settings)
    await tx`alter role ${tx(role)} in database ${tx(database)} set ${tx.unsafe(`${name} = '${value}'`)}`
  await tx`alter role ${tx(role)} in database ${tx(database)} set search_path = ${tx(schema)}`
  const [me] = await tx<[{ isSuper: boolean }]>`
    select rolsuper as "isSuper"
    from pg_roles
    where rolname = current_user`
  // Only a superuser may set it, and the role cannot raise it.
  if (me.isSuper) await tx`alter role ${tx(role)} in database ${tx(database)} set temp_file_limit = '1GB'`
}

/** Throws AccessProblem if rights of PUBLIC would let the role read or change more than the reports. */
async function assertReadsOnlyReports(
  tx: Tx,
  role: string,
  { schema, database }: { schema: string; database: string },
): Promise<void> {
  const [may] = await tx<[{ connects: boolean; sees: boolean }]>`
    select has_database_privilege(${role}, current_database(), 'connect') as connects,
      has_schema_privilege(${role}, current_schema(), 'usage') as sees`
  if (!may.connects || !may.sees)
    throw new AccessProblem(
      "this database user may not grant access; ask an administrator for: " +
        `grant connect on database ${database} to ${role}; grant usage on schema ${schema} to ${role}`,
    )
  const excess = await tx<{ remedy: string }[]>`
    with schema as materialized (
      select oid, nspname as name
      from pg_namespace
      where nspname <> 'information_schema' and nspname !~ '^pg_'
    ), extension as materialized (
      select classid, objid
      from pg_depend
      where deptype = 'e'
    )
    select format('revoke create on schema %I from public', s.name) as remedy
    from schema s
    where has_schema_privilege(${role}, s.oid, 'create')
    union all
    select format('revoke all on %I.%I from public', s.name, c.relname)
    from schema s
    join pg_class c on c.relnamespace = s.oid
    where c.relkind in ('r', 'p', 'v', 'm', 'f')
      and not (s.oid = current_schema()::regnamespace
        and c.relname = any(${[...REPORT_VIEWS, ...MONEY_VIEWS]}::text[]))
      and (
        has_any_column_privilege(${role}, c.oid, 'select, insert, update, references')
        or has_table_privilege(${role}, c.oid, 'delete, truncate, trigger')
      )
      and not exists (select from extension e where e.classid = 'pg_class'::regclass and e.objid = c.oid)
    union all
    select format('revoke all on sequence %I.%I from public', s.name, c.relname)
    from schema s
    join pg_class c on c.relnamespace = s.oid
    where case when c.relkind = 'S' then has_sequence_privilege(${role}, c.oid, 'select, usage, update') end
    union all
    select format('revoke execute on function %s from public', p.oid::regprocedure)
    from schema s
    join pg_proc p on p.pronamespace = s.oid
    where p.prosecdef and has_function_privilege(${role}, p.oid, 'execute')
      and not exists (select from extension e where e.classid = 'pg_proc'::regclass and e.objid = p.oid)
    limit 3`
  if (excess.length === 0) return
  throw new AccessProblem(
    "PUBLIC has more rights in this database than reading the reports; run as the owner: " +
      `${excess.map(({ remedy }) => remedy).join("; ")}. Then grant again. The user of Appmeter keeps its rights on ` +
      "what it owns",
  )
}

/** Returns what PostgreSQL stores of a password (RFC 5803), so that the password itself is in no log of the server. */
function scramVerifier(password: string): string {
  const ITERATIONS = 4096
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, "sha256")
  const keyOf = (label: string) => createHmac("sha256", salted).update(label).digest()
  const stored = createHash("sha256").update(keyOf("Client Key")).digest()
  const parts = [stored, keyOf("Server Key")].map((part) => part.toString("base64"))
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString("base64")}$${parts.join(":")}`
}

interface SqlRole {
  role: string
  workspace: string
  money: boolean
  createdAt: Date
  /** Null if this server has no such role, as after a restore on another one. */
  connectionLimit: number | null
  openConnections: number
}

export async function listSqlRoles(sql: Sql): Promise<SqlRole[]> {
  return await sql<SqlRole[]>`
    select r.role, w.name as workspace, r.money, r.created_at as "createdAt", p.rolconnlimit as "connectionLimit",
      (select count(*)::int from pg_stat_activity a where a.usename = r.role) as "openConnections"
    from sql_role r
    join workspace w on w.id = r.workspace_id
    left join pg_roles p on p.rolname = r.role
    order by w.name, r.role
    limit 1000`
}

export async function findSqlRolesOf(sql: Sql, workspaceId: number): Promise<string[]> {
  const rows = await sql<{ role: string }[]>`
    select role
    from sql_role
    where workspace_id = ${workspaceId}
    order by role
    limit 1000`
  return rows.map(({ role }) => role)
}

/**
 * Ends a role's access at once, also for its open sessions, and drops it. Returns whether it was dropped: a role that
 * owns something, or that the database user may not drop, stays without rights. Throws AccessProblem if no workspace
 * has the role.
 */
export async function revokeSqlRole(sql: Sql, role: string): Promise<boolean> {
  const { count } = await sql`
    delete from sql_role
    where role = ${role}`
  if (count === 0)
    throw new AccessProblem(`no workspace has the role ${JSON.stringify(role.slice(0, 63))}; see: appmeter sql list`)
  const [row] = await sql<[{ exists: boolean; schema: string; database: string }]>`
    select exists (select from pg_roles where rolname = ${role}) as exists, current_schema() as schema,
      current_database() as database`
  if (!row.exists) return true
  await sql`
    select pg_terminate_backend(pid)
    from pg_stat_activity
    where usename = ${role} and datname = current_database()`.catch((error) => {
    // Without the right to end them they stay open, but they can no longer read anything.
    if (error.code !== "42501") throw error
  })
  try {
    await sql.begin(async (tx) => {
      for (const view of [...REPORT_VIEWS, ...MONEY_VIEWS]) await tx`revoke all on ${tx(view)} from ${tx(role)}`
      await tx`revoke all on schema ${tx(row.schema)} from ${tx(role)}`
      await tx`revoke all on database ${tx(row.database)} from ${tx(role)}`
      await tx`drop role ${tx(role)}`
    })
    return true
  } catch (error) {
    if (CANNOT_DROP.has((error as { code?: string }).code ?? "")) return false
    throw error
  }
}

/** insufficient_privilege, dependent_objects_still_exist, object_in_use */
const CANNOT_DROP = new Set(["42501", "2BP01", "55006"])
