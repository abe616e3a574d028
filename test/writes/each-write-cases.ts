import { deleteWorkspace } from "../../src/access/workspaces.ts"
import type { Sql } from "../../src/database/types.ts"
import { removeApp } from "../../src/tracking/apps.ts"
import { addTerms } from "../../src/tracking/terms.ts"
import { reading } from "../measuring/record/measured.ts"
import { record } from "../record.ts"
import type { Service } from "../service.ts"
import { dayAgo } from "../world/clock.ts"
import { tellAlerts } from "./feed-alerts.ts"
import { type Books, booksAt, someWriter, type Writer } from "./writer.ts"

type Doing = (sql: Sql, writer: Writer) => Promise<unknown>

/** A write with its preparation and its expected result. */
export interface Write {
  action: string
  args(writer: Writer): object
  credits: number
  /** Prepares more than the writer's one app, which tracks "tea". */
  prepare?: Doing
  /** The parts of the state that differ afterwards. */
  after: Partial<State>
  /** True if each token creates a separate object, so that all tokens can be applied. */
  another?: true
  /** Changes that others make to the target, and the confirm's answer after each change. */
  changes: Record<string, [change: Doing, answer: string]>
}

const MISMATCH = "409 confirm_token_mismatch"
const GONE = "404 not_found"
const DELETED = "401 account_deleted"

const storeAlerts =
  (read: boolean): Doing =>
  (sql, { workspace, app }) =>
    tellAlerts(sql, [
      { workspace, app, read },
      { workspace, app, read },
      { workspace, app: null, read },
      { workspace, app, read: !read },
    ])
const markFirst: Doing = (sql, { workspace }) => sql`
  update alert
  set read_at = case when read_at is null then now() end
  where id = (select min(id) from alert where workspace_id = ${workspace})`
const ruled: Doing = (sql, { workspace }) => sql`
  insert into alert_rule (workspace_id, type, channels, drop_by, keyword_scope, created_by)
  select ${workspace}, 'rank_drop', '{slack}', 5, 'all', min(id)
  from api_key
  where workspace_id = ${workspace}`
const loosened: Doing = (sql, { workspace }) => sql`
  update alert_rule
  set drop_by = 3
  where workspace_id = ${workspace}`
const named: Doing = (sql, { app }) => sql`
  update tracked_app
  set manual_rivals = array_append(manual_rivals, 'ios:30001')
  where id = ${app}`
const hidden: Doing = (sql, { app }) => sql`
  update tracked_app
  set hidden_rivals = array_append(hidden_rivals, 'ios:30002')
  where id = ${app} and 'ios:30002' <> all(coalesce(manual_rivals, '{}'))`
const removed: Doing = (sql, { app }) => sql.begin((tx) => removeApp(tx, app))
export const deleted: Doing = async (sql, { workspace }) => {
  const [{ name }] = await sql<[{ name: string }]>`select name from workspace where id = ${workspace}`
  await deleteWorkspace(sql, name)
}

// all workspaces share lists, so each writer uses a term that no other writer has
const ownTerm = ({ app }: Writer) => `tea of ${app.toLowerCase()}`
const adds =
  (term: (writer: Writer) => string): Doing =>
  (sql, writer) =>
    sql.begin((tx) => addTerms(tx, writer.app, "all", [term(writer)]))
const DAYS = [0, 1, 2].map(dayAgo) as [string, string, string]
const measured =
  (daysAgo: 1 | 2): Doing =>
  (sql, writer) =>
    record(sql, [reading(ownTerm(writer), `${DAYS[daysAgo]}T01:00:00Z`, ["10007"])])
const rivals = ({ app }: Writer) => ({ appId: app, rivals: ["ios:30001", "ios:30002"] })

const fourAlerts = (state: string) => Array<string>(4).fill(state)

/** Every action. confirm-drift.test.ts tests changes for keywords and apps. */
export const WRITES: Record<string, Write> = {
  add_app: {
    action: "add_app",
    // an app and a keyword that are not in the database, so that the write creates both
    args: (writer) => ({ androidPkg: `com.example.kettle${writer.workspace}`, keywords: [ownTerm(writer)] }),
    credits: 2,
    after: { apps: ["us tea", "us tea of its app"] },
    changes: {},
  },
  add_keywords: {
    action: "add_keywords",
    args: (writer) => ({ appId: writer.app, keywords: [ownTerm(writer), "coffee"] }),
    credits: 1,
    after: { apps: ["us coffee, us tea, us tea of its app"] },
    changes: {},
  },
  remove_keywords: {
    action: "remove_keywords",
    args: ({ app }) => ({ appId: app, keywords: ["tea", "milk"] }),
    credits: 1,
    after: { apps: [""] },
    changes: {},
  },
  add_rivals: {
    action: "add_rivals",
    args: rivals,
    credits: 1,
    after: { named: ["ios:30001", "ios:30002"] },
    changes: { "one of them named": [named, MISMATCH], "one of them hidden": [hidden, MISMATCH] },
  },
  remove_rivals: {
    action: "remove_rivals",
    args: rivals,
    credits: 1,
    prepare: named,
    after: { named: [], hidden: ["ios:30001", "ios:30002"] },
    changes: { "one of them hidden": [hidden, MISMATCH], "the app removed": [removed, GONE] },
  },
  create_share_link: {
    action: "create_share_link",
    args: ({ app }) => ({ appId: app, country: "us" }),
    credits: 1,
    after: { links: ['Kettle ["tea"]'] },
    another: true,
    changes: {
      "a keyword added": [adds(() => "coffee"), MISMATCH],
      "the app removed": [removed, GONE],
      "the workspace deleted": [deleted, DELETED],
    },
  },
  export_data: {
    action: "export_data",
    args: ({ app }) => ({ appId: app, dataset: "history", from: DAYS[2], to: DAYS[1] }),
    credits: 20,
    async prepare(sql, writer) {
      await adds(ownTerm)(sql, writer)
      await measured(1)(sql, writer)
    },
    after: { exports: ["history: rows 1, parts 1"] },
    another: true,
    changes: {
      "another day measured": [measured(2), MISMATCH],
      "the app removed": [removed, GONE],
    },
  },
  mark_alerts_read: {
    action: "mark_alerts_read",
    args: () => ({}),
    credits: 0,
    prepare: storeAlerts(false),
    after: { alerts: fourAlerts("read") },
    changes: { "one of them marked": [markFirst, MISMATCH], "an app removed": [removed, MISMATCH] },
  },
  "mark_alerts_read as unread": {
    action: "mark_alerts_read",
    args: () => ({ read: false }),
    credits: 0,
    prepare: storeAlerts(true),
    after: { alerts: fourAlerts("unread") },
    changes: { "one of them marked": [markFirst, MISMATCH] },
  },
  "mark_alerts_read of an app": {
    action: "mark_alerts_read",
    args: ({ app }) => ({ appId: app }),
    credits: 0,
    prepare: storeAlerts(false),
    after: { alerts: ["read", "read", "unread", "read"] },
    changes: { "the app removed": [removed, GONE] },
  },
  create_alert_rule: {
    action: "create_alert_rule",
    args: () => ({ type: "rank_drop", dropBy: 9 }),
    credits: 2,
    prepare: ruled,
    after: { rules: ["rank_drop 9 all {}"] },
    changes: { "the rule changed": [loosened, MISMATCH] },
  },
  delete_alert_rule: {
    action: "delete_alert_rule",
    args: () => ({ type: "rank_drop" }),
    credits: 0,
    prepare: ruled,
    after: { rules: [] },
    changes: { "the rule changed": [loosened, MISMATCH] },
  },
}

export interface Prepared extends Writer {
  confirmToken: string
}

/** Creates a writer with a previewed write. */
export async function prepared(service: Service, write: Write, overrides?: Record<string, number>): Promise<Prepared> {
  const writer = await someWriter(service, { keywords: ["tea"], ...(overrides && { overrides }) })
  await write.prepare?.(service.sql, writer)
  return { ...writer, confirmToken: await writer.token(write.action, write.args(writer)) }
}

/** Everything in a workspace that the writes may change, without ids and times. */
export interface State {
  /** The keywords of each app, oldest app first. */
  apps: string[]
  named: string[]
  hidden: string[]
  alerts: string[]
  rules: string[]
  /** The content of each link. */
  links: string[]
  exports: string[]
}

export async function stateOf(sql: Sql, { workspace, app }: Writer): Promise<State> {
  const [state] = await sql`
    select
      array(
        select coalesce(string_agg(country || ' ' || term, ', ' order by country, term), '')
        from tracked_app a
        left join tracked_term t on t.app_id = a.id
        where workspace_id = ${workspace}
        group by a.id
        order by a.created_at, a.id
      ) as apps,
      array(select unnest(manual_rivals) from tracked_app where workspace_id = ${workspace} order by 1) as named,
      array(select unnest(hidden_rivals) from tracked_app where workspace_id = ${workspace} order by 1) as hidden,
      array(
        select case when read_at is null then 'unread' else 'read' end
        from alert
        where workspace_id = ${workspace}
        order by id
      ) as alerts,
      array(
        select concat_ws(' ', type, drop_by, keyword_scope, rival_scope, channels::text)
        from alert_rule
        where workspace_id = ${workspace}
        order by 1
      ) as rules,
      array(
        select (content ->> 'app') || ' ' || jsonb_path_query_array(content, '$.stores[*].keywords[*].term')
        from share_link
        where workspace_id = ${workspace}
        order by 1
      ) as links,
      array(
        select format('%s: rows %s, parts %s', dataset, rows, (select count(*) from export_part where export_id = e.id))
        from export e
        where workspace_id = ${workspace}
        order by 1
      ) as exports`
  return JSON.parse(JSON.stringify(state).replaceAll(app.toLowerCase(), "its app"))
}

/** Returns the state after a number of these writes, calculated from the state before. */
export function stateAfter({ after }: Write, before: State, times = 1): State {
  const each = Object.entries(after).map(([name, rows]) => [name, Array(times).fill(rows).flat()])
  return { ...before, ...Object.fromEntries(each) }
}

/** Returns the expected books after a number of these writes. Free writes have no ledger row. */
export function booksAfter({ credits }: Write, times = 1): Books {
  return { ...booksAt(times, times * credits), ...(credits === 0 && { ledger: 0 }) }
}
