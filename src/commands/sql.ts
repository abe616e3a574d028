import {
  DEFAULT_SQL_CONNECTIONS,
  grantSqlRole,
  listSqlRoles,
  MONEY_VIEWS,
  REPORT_VIEWS,
  revokeSqlRole,
  SQL_STATEMENT_SECONDS,
} from "../access/sql-roles.ts"
import { findWorkspace } from "../access/workspaces.ts"
import type { Database, Sql } from "../database/types.ts"
import { type Command, CommandProblem, firstArgument, type Invocation } from "./cli/command.ts"
import { show, table } from "./cli/show.ts"
import { useDatabase } from "./cli/with-database.ts"

export const sqlGrant: Command = {
  name: "sql grant",
  changes: true,
  summary: "Create a PostgreSQL role that reads a workspace's reports.",
  details:
    "For Metabase, Grafana and spreadsheets. The password is shown once. Without --money the role reads no revenue " +
    "and no ads. Granting a role again gives it a new password.",
  examples: [
    ["sql grant acme", "ranks, reviews and charts"],
    ["sql grant acme --money --connections 5", "revenue and ads as well"],
  ],
  positionals: ["workspace"],
  options: {
    role: { value: "NAME", meaning: "The role's name, which every role can read. Default: a random one." },
    connections: { value: "N", meaning: `Connections at a time. Default: ${DEFAULT_SQL_CONNECTIONS}.` },
    money: { meaning: "Also read revenue and ads." },
  },
  async run(invocation) {
    const name = firstArgument(invocation)
    const isMoney = invocation.has("money")
    const connections = invocation.amount("connections") ?? DEFAULT_SQL_CONNECTIONS
    const granted = await usePostgres(invocation, async (sql) => {
      const { id } = await findWorkspace(sql, name)
      const made = await grantSqlRole(sql, { workspaceId: id, role: invocation.text("role"), isMoney, connections })
      return { workspace: name, ...made, url: addressOf(sql, made) }
    })
    const views = [...REPORT_VIEWS, ...(isMoney ? MONEY_VIEWS : [])]
    show(invocation, { ...granted, views, connections, statementSeconds: SQL_STATEMENT_SECONDS }, () => [
      `role      ${granted.role}`,
      `password  ${granted.password}  (shown once)`,
      `connect   ${granted.url}`,
      `reads     ${views.join(", ")}`,
      `limits    ${connections} connections, ${SQL_STATEMENT_SECONDS} s per statement, read-only`,
    ])
    return 0
  },
}

export const sqlList: Command = {
  name: "sql list",
  summary: "List the PostgreSQL roles that read reports.",
  examples: [["sql list", "role, workspace, rights and open connections"]],
  async run(invocation) {
    const roles = await usePostgres(invocation, listSqlRoles)
    show(invocation, { roles }, () =>
      table(
        ["ROLE", "WORKSPACE", "MONEY", "OPEN", "OF", "STATE"],
        roles.map(({ role, workspace, money, openConnections, connectionLimit }) => [
          role,
          workspace,
          money ? "yes" : "no",
          openConnections,
          connectionLimit,
          connectionLimit === null ? "not on this server: grant it again, or revoke it" : "ready",
        ]),
        "no roles; create one with: appmeter sql grant WORKSPACE",
      ),
    )
    return 0
  },
}

export const sqlRevoke: Command = {
  name: "sql revoke",
  changes: true,
  summary: "End a PostgreSQL role's access to reports and drop it.",
  details: "Its open sessions are ended; one that the database user may not end reads nothing from then on.",
  examples: [["sql revoke appmeter_report_1f0c9a2e", "see the names with: appmeter sql list"]],
  positionals: ["role"],
  async run(invocation) {
    const role = firstArgument(invocation)
    const isDropped = await usePostgres(invocation, (sql) => revokeSqlRole(sql, role))
    show(invocation, { revoked: role, dropped: isDropped }, () => [revokedLine(role, isDropped)])
    return 0
  },
}

/** Returns the result of a revocation as a line. */
export function revokedLine(role: string, isDropped: boolean): string {
  if (isDropped) return `revoked and dropped the database role ${role}`
  return `revoked the database role ${role}; it reads nothing. Drop it as an administrator: drop role ${role}`
}

function usePostgres<T>(invocation: Invocation, work: (sql: Sql) => Promise<T>): Promise<T> {
  if (!invocation.settings.databaseUrl) throw new CommandProblem(NEEDS_POSTGRES)
  return useDatabase(invocation, (sql, { kind }: Database) => {
    if (kind === "embedded") throw new CommandProblem(NEEDS_POSTGRES)
    return work(sql)
  })
}

const NEEDS_POSTGRES =
  "the embedded database has no roles and accepts no connections. Copy it to PostgreSQL and grant there: " +
  "appmeter backup copy.backup; DATABASE_URL=postgres://… appmeter restore copy.backup; " +
  "DATABASE_URL=postgres://… appmeter sql grant WORKSPACE"

/** Returns the database address for a reporting tool, with the host and port that this command used. */
function addressOf(sql: Sql, { role, password }: { role: string; password: string }): string {
  const { host, port, database } = sql.options
  const hosts = host.map((name, i) => `${name}:${port[i] ?? port[0]}`).join(",")
  return `postgresql://${role}:${password}@${hosts}/${encodeURIComponent(database)}`
}
