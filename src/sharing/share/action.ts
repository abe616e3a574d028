import * as v from "valibot"
import { hashPassword, isUsablePassword, LONGEST_PASSWORD } from "../../access/passwords.ts"
import { action } from "../../core/action.ts"
import { takeLock } from "../../database/locks.ts"
import { dayOf } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import { AppId, Country } from "../../lib/fields.ts"
import { coded, described } from "../../lib/schema.ts"
import { Count, Day, Store, Storefront, Time } from "../../lib/shapes.ts"
import { counted, keepApp } from "../../tracking/limits.ts"
import { findApp } from "../../tracking/tracked-app.ts"
import { STORE_NAMES } from "../../ui/source-names.ts"
import { MAX_LISTED, readReport, reportDays, type SharedReport, type SharedStore } from "./report.ts"
import { countShareLinks, createShareLink } from "./store.ts"

/** Maximum number of unexpired links per workspace. Each link stores a page of up to 1 MB. */
const MAX_LINKS = 200

export const shareLink = action({
  name: "create_share_link",
  summary: "Creates a public page with an app's current ranks and store pages.",
  description:
    "The confirm returns a link that needs no key: anyone with the link, and the password if one is set, can open " +
    "the page until it expires. The content is frozen at the confirm.",
  scope: "reports:write",
  plan: "free",
  credits: 1,
  destructive: false,
  args: v.strictObject({
    appId: AppId,
    country: v.pipe(
      coded(Country, "invalid_arguments"),
      v.description("Two-letter code of the storefront on the page."),
    ),
    days: v.optional(
      described(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(30)), "Days until the link expires."),
      7,
    ),
    password: v.optional(
      v.pipe(
        v.string(),
        v.minLength(1),
        // JSON Schema counts code points, valibot's maxLength UTF-16 units
        v.metadata({ maxLength: LONGEST_PASSWORD }),
        v.check(isUsablePassword),
        v.description("Password for readers of the page. Default: none. Only its hash is stored."),
      ),
    ),
  }),
  example: { appId: "app_4fD0Zs81hQbK", country: "us", days: 7 },
  state: v.strictObject({
    link: v.nullable(
      v.strictObject({
        days: Count,
        hasPassword: v.boolean(),
        shows: v.strictObject({
          app: v.string(),
          country: Storefront,
          from: Day,
          to: Day,
          stores: v.array(
            v.strictObject({ platform: Store, keywords: v.array(v.string()), charts: Count, storePage: v.boolean() }),
          ),
        }),
      }),
    ),
  }),
  result: v.strictObject({
    appId: v.string(),
    country: Storefront,
    days: Count,
    hasPassword: v.boolean(),
    url: described(v.string(), "The link. It is shown only once."),
    expiresAt: Time,
  }),
  refine: (args) => ({ ...args, country: args.country.toLowerCase() }),
  secrets: {
    toStored: async (args) =>
      args.password === undefined ? args : { ...args, password: await hashPassword(args.password) },
    audited: (args) => (args.password === undefined ? args : { ...args, password: "set" }),
  },
  target: ({ appId }) => `share ${appId}`,
  async look({ appId, country }, { sql, caller, lock, now }) {
    if (lock) await keepApp(sql, caller, appId)
    const app = await findApp(sql, caller, appId, country)
    const days = reportDays(dayOf(now), caller.entitlements.historyDays)
    const report = await readReport(sql, app, { storefront: country, ...days })
    // until the transaction ends, no other link of the workspace can be created; the lock is taken after the report was
    // read, so that the slow read does not hold it
    if (lock) await takeLock(sql, "share links", caller.workspaceId)
    return { app, report, links: await countShareLinks(sql, caller.workspaceId, MAX_LINKS) }
  },
  diff({ app, report, links }, { country, days, password }) {
    if (links >= MAX_LINKS) {
      const reason = `The workspace has ${MAX_LINKS} shared pages, the maximum. Withdraw one or wait until one expires.`
      throw new Fault("write_limit_reached", { reason })
    }
    const { from, to, stores } = report
    const hasPassword = password !== undefined
    const shared = { app: app.name, country, from, to, stores: stores.map(storeShown) }
    const holders = `everybody who has the link${hasPassword ? " and the password" : ""}`
    const duration = days === 1 ? "1 day" : `${days} days`
    return {
      summary: `Show ${JSON.stringify(app.name)} in ${country} to ${holders}, for ${duration}.`,
      target: { kind: "app", id: app.id, name: app.name },
      before: { link: null },
      after: { link: { days, hasPassword, shows: shared } },
      notes: notesOf(report, hasPassword),
    }
  },
  async write({ appId, country, days, password }, { report }, { tx, caller, publicUrl }) {
    const { workspaceId } = caller
    const link = { workspaceId, appId, days, password: password ?? null, content: report }
    const { token, expiresAt } = await createShareLink(tx, link)
    return {
      appId,
      country,
      days,
      hasPassword: password !== undefined,
      url: `${publicUrl}/share/${token}`,
      expiresAt: expiresAt.toISOString(),
    }
  },
  shownOnce: ["url"],
})

/**
 * Lists every name that becomes public and counts everything else. A keyword that is added after the preview changes
 * this text, so the confirm then requires a new preview.
 */
function storeShown({ platform, keywords, page }: SharedStore) {
  return {
    platform,
    keywords: keywords.map(({ term }) => term),
    charts: keywords.filter(({ points }) => points !== null).length,
    storePage: page.readAt !== null,
  }
}

function notesOf({ app, tracked, storefront, stores, from, to }: SharedReport, hasPassword: boolean): string[] {
  const parts = stores.map((store) => `${STORE_NAMES[store.platform]}: ${partsOf(store)}`)
  const more = stores.some(({ more }) => more > 0)
  return [
    `The page makes public the name ${JSON.stringify(app)}, the storefront, and for each store the keywords with ` +
      `their ranks, charts of ${from} to ${to}, and a summary of its page. ${parts.join(" ")}`,
    "The page is frozen at the confirm: it shows what is known then, and does not change when the app or its data " +
      "change.",
    hasPassword
      ? "A reader is asked for the password. It cannot be looked up later, here or anywhere."
      : "No password is set: whoever is given the link can read the page and pass it on.",
    ...(more ? [`Only the first ${MAX_LISTED} keywords of each store are shown.`] : []),
    ...(tracked ? [] : [`The app does not track ${storefront}: everything is shown as not measured.`]),
  ]
}

function partsOf({ keywords, page }: SharedStore): string {
  const present = keywords.filter(({ rank }) => rank !== null).length
  const absent = keywords.filter(({ measured, rank }) => measured && rank === null).length
  const unmeasured = keywords.length - present - absent
  const states = `${present} ranked, ${absent} absent, ${unmeasured} not measured`
  const read = page.readAt === null ? "never read" : `read ${page.readAt.slice(0, 10)}`
  return `${counted(keywords.length)} (${states}), store page ${read}.`
}
