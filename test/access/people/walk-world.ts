import { createKey } from "../../../src/access/key-register.ts"
import { addPerson } from "../../../src/access/people/people.ts"
import { scopesOf } from "../../../src/access/people/roles.ts"
import type { Sql } from "../../../src/database/types.ts"
import { addDays, dayOf } from "../../../src/lib/days.ts"
import { type PrivateKind, reported } from "../../consoles/reported.ts"
import { record } from "../../record.ts"
import { trackOwn } from "../../world/tracked.ts"

// A workspace with money of every kind, for tests that open all pages and make all calls as each role. Names and
// amounts contain the workspace and app that they belong to, so that a page that shows too much is found by its text.

/** Text that only the scopes for money may show. Amounts, as figures and as pages write them. */
export const MONEY = /moneymark|(?<![\w.])(?:6,?173|7,?351)(?![\d])/i

/** Text of another workspace. */
export const FOREIGN = /foreignmark/i

/** Text of an app that a person limited to other apps may not see. */
export const SECOND = /secondmark/i

const AMOUNT = "7351.93"
const AD_AMOUNT = "6173.25"
const STORE_ID = "1437843273"
const SKU = "TEA01"
const CAMPAIGN = "444555666"

export interface WalkWorkspace {
  workspaceId: number
  app: string
  secondApp: string
  approval: string
  job: string
}

/** Fills a workspace. The names of everything in it contain `mark`. */
export async function fillWorkspace(
  sql: Sql,
  { workspaceId, workspace, mark, iosIds }: WorkspaceNames,
): Promise<WalkWorkspace> {
  const [first, second] = iosIds
  const app = await trackOwn(sql, { workspaceId, iosId: first, name: `${mark} App`, keywords: [`${mark} term`] })
  const secondMark = mark === "ownmark" ? "secondmark" : mark
  const settings = { iosId: second, name: `${secondMark} App`, keywords: [`${secondMark} term`] }
  const secondApp = await trackOwn(sql, { workspaceId, ...settings })
  const rights = { scopes: scopesOf("owner"), appList: null }
  const named = { workspaceId, name: `${mark} person`, ...rights }
  const personId = await sql.begin((tx) => addPerson(tx, named))
  const key = { workspace, kind: "live" as const, name: `${mark} key`, personId }
  const { id: keyId } = (await createKey(sql, key, (count) => crypto.getRandomValues(Buffer.alloc(count)))).key
  const ids = { workspaceId, keyId, mark, secondMark, secondApp }
  return { workspaceId, app, secondApp, ...(await addWrites(sql, ids, app)) }
}

interface WorkspaceNames {
  workspaceId: number
  workspace: string
  mark: string
  iosIds: [string, string]
}

interface About {
  workspaceId: number
  keyId: number
  mark: string
  secondMark: string
  secondApp: string
}

/** Adds applied and waiting writes of ads, of the second app and of links, and alerts about ads. */
async function addWrites(sql: Sql, { workspaceId, keyId, mark, secondMark, secondApp }: About, app: string) {
  const ads = `Set the budget of "moneymark ${mark}" to 6173.50 EUR.`
  const tracked = `Track "${secondMark} term".`
  const target = { kind: "campaign", id: CAMPAIGN, name: `moneymark ${mark}` }
  const diff = { summary: ads, target, before: { budget: 1 }, after: { budget: 6173.5 }, notes: [] }
  const approval = `ap_${Buffer.from(crypto.getRandomValues(new Uint8Array(9))).toString("hex")}`
  const job = `job_walk${workspaceId}`
  const preview = { ...diff, credits: 2, destructive: false }
  await sql`
    insert into audit (workspace_id, key_id, request_id, action, scope, target, app_id, args, preview, credits)
    values (${workspaceId}, ${keyId}, 'r1', 'set_daily_budget', 'ads:write', 'campaign', ${app}, '{}',
        ${sql.json(diff)}, 2),
      (${workspaceId}, ${keyId}, 'r2', 'add_keywords', 'track:write', 'app', ${secondApp}, '{}',
        ${sql.json({ ...diff, summary: tracked })}, 1)`
  await sql`
    with token as (
      insert into confirm_token (sha256, workspace_id, key_id, action, args, seen)
      values (sha256(${approval}::bytea), ${workspaceId}, ${keyId}, 'set_daily_budget', '{}', '')
      returning sha256
    )
    insert into approval (id, token_sha256, workspace_id, shown, scope)
    select ${approval}, sha256, ${workspaceId}, ${sql.json(preview)}, 'ads:write' from token`
  await sql`
    insert into job (id, workspace_id, key_id, request_id, action, scope, target, app_id, shown, args)
    values (${job}, ${workspaceId}, ${keyId}, 'r3', 'set_daily_budget', 'ads:write', ${CAMPAIGN}, ${app},
      ${sql.json({ summary: ads, target })}, '{}')`
  const changed = { event: "UPDATE", entity: "Keyword", name: "tea", field: "bid", from: "1.20", to: "6173.50" }
  const facts = {
    ads: {
      account: "ac_x",
      campaign: CAMPAIGN,
      campaignName: `moneymark ${mark}`,
      count: 1,
      from: null,
      shown: [changed],
    },
    ids: ["1"],
  }
  await sql`
    insert into alert (workspace_id, app_id, type, platform, subject, day, at, facts)
    values (${workspaceId}, ${app}, 'asa_rule', 'ios', '444555666 1', current_date, now(), ${sql.json(facts)})`
  return { approval, job }
}

/** Connects a console, an ads account and a billing service of an app, which all report the amounts. */
export async function connectAll(sql: Sql, { workspaceId, app }: Pick<WalkWorkspace, "workspaceId" | "app">) {
  const connect = async (kind: string, outside: string, currency: string | null) => {
    const account = `ac_${Buffer.from(crypto.getRandomValues(new Uint8Array(9))).toString("hex")}`
    await sql`
      insert into connected_account (id, workspace_id, kind, shown, part, sealed, next_at, state, zone, currency)
      values (${account}, ${workspaceId}, ${kind}, 'key …1', ${outside}, 'v1.a.b.c', null, 'ok', 'UTC', ${currency})`
    await sql`
      insert into account_app (account_id, outside_id, sku, name, bundle_id, app_id)
      values (${account}, ${outside}, ${SKU}, 'moneymark app', '', ${app})`
    return account
  }
  const seenAt = new Date()
  const day = addDays(dayOf(seenAt), -2)
  const console = await connect("app-store-connect", STORE_ID, null)
  const money = { price: AMOUNT, proceeds: AMOUNT, currency: "USD", proceedsCurrency: "USD" }
  const console_ = { account: console, day, seenAt }
  await record(sql, [
    alterExample("sales", console_, { ...money, units: 1, title: "moneymark pro", country: "us" }),
    alterExample("subscriptions", console_, { price: AMOUNT, currency: "USD", name: "moneymark pro", app: STORE_ID }),
    alterExample("subscription_events", console_, { name: "moneymark pro", app: STORE_ID }),
  ])
  const ads = await connect("apple-ads", "310633997", "EUR")
  const advertised = { account: ads, day, seenAt }
  const spent = { spend: AD_AMOUNT }
  await record(sql, [
    alterExample("ads_campaigns", advertised, { name: "moneymark campaign", budget: AD_AMOUNT }),
    alterExample("ads_keywords", advertised, { bid: AD_AMOUNT }),
    alterExample("ads_days", advertised, spent),
    alterExample("ads_terms", advertised, spent),
    alterExample("ads_changes", advertised, { to: AD_AMOUNT, at: `${day}T10:00:00.000Z` }),
  ])
  await sql`
    insert into account_task (account_id, task, subject, state, read_at)
    values (${ads}, 'campaigns', '', 'read', now()), (${ads}, 'changes', '', 'read', now()),
      (${ads}, 'keywords', ${CAMPAIGN}, 'read', now()), (${ads}, 'days', ${CAMPAIGN}, 'read', now()),
      (${ads}, 'terms', ${CAMPAIGN}, 'read', now())`
  const billing = await connect("revenuecat", STORE_ID, null)
  const event = { account: billing, seenAt, happenedAt: new Date(seenAt.getTime() - 2 * 86_400_000) }
  await record(sql, [reported("billing_event", { ...event, price: AMOUNT, priceUsd: AMOUNT, currency: "USD" })])
}

/** Returns the example of a kind. Sets these fields in each of its rows that has them. */
function alterExample(name: PrivateKind, rest: object, fields: Record<string, unknown>) {
  const example = reported(name, rest) as ReturnType<typeof reported> & { rows: Record<string, unknown>[] }
  const rows = example.rows.map((row) => {
    const present = Object.entries(fields).filter(([field]) => field in row)
    return { ...row, ...Object.fromEntries(present) }
  })
  return { ...example, rows } as ReturnType<typeof reported>
}
