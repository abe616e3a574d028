import { describe, expect, setDefaultTimeout } from "bun:test"
import type { Role } from "../../src/access/people/roles.ts"
import { APP_PAGES, WORKSPACE_PAGES } from "../../src/pages/pages.ts"
import { sectionAddress } from "../../src/ui/app/settings.ts"
import { type Member, memberOf } from "../access/people/scene.ts"
import { type Browser, fieldIn, type Page } from "../access/sign-in/browser.ts"
import { reachOf, TEA } from "../consoles/scene.ts"
import { type StandIn, startStandIn } from "../consoles/stand-in.ts"
import { freshDatabase } from "../database.ts"
import { everyRow } from "../every-row.ts"
import { afterSlow, beforeSlow, cases, LONG, slow } from "../long.ts"
import { openService, type Service } from "../service.ts"
import { readPage, type Sharing, sharing } from "../sharing/share-scene.ts"
import { tellAlerts } from "../writes/feed-alerts.ts"
import { ownerOf, settingsPages } from "./app-scene.ts"
import { expectWellFormed, HOSTILE_MARKUP } from "./markup.ts"
import { NO_PORTS } from "./settings/ports.ts"
import { settingsBrowser } from "./settings/settings-browser.ts"
import { type FoundForm, formsIn, sendForm, walkPages } from "./walk.ts"

setDefaultTimeout(LONG ? 600_000 : 240_000)

// Collects every form of every page that an owner of a workspace with data can open, and attacks each form. Hostile
// pictures are tested where pictures are read: test/stores/pictures/, test/pages/pictures.test.ts.

let service: Service
let standIn: StandIn
let tea: Sharing
let owner: Browser
let pages: Map<string, Page>
let forms: FoundForm[]
type LesserRole = Exclude<Role, "owner">
let lesser: Record<LesserRole, Member>
let before: Set<string>

/**
 * Tables that any request may change: the use of sessions, and the log of commands, which also lists refused commands.
 */
const VOLATILE = ["person_session", "operator_action", "secret_try"]

beforeSlow(async () => {
  standIn = startStandIn()
  standIn.apps.push(TEA)
  const outbound = async (url: string) => ({ url, status: 200, headers: new Headers(), bytes: Buffer.from("ok") })
  const settingsPorts = { ...NO_PORTS, outbound, reach: reachOf(standIn.url) }
  const sql = await freshDatabase()
  service = openService({ sql, settingsPorts })
  tea = await sharing(service, { name: "Tea Secret", keywords: ["tea", "green tea"] })
  await tea.measure("tea", 1, 12)
  await tea.measure("tea", 0, 4)
  await readPage(service, tea.iosId)
  const { workspace } = tea.writer
  await sql`
    update tracked_app
    set manual_rivals = '{ios:1200000009}', hidden_rivals = '{ios:1200000010}'
    where id = ${tea.app}`
  await tellAlerts(sql, [{ workspace, app: tea.app }])
  await sql`update workspace set approve_outside = '{all}' where id = ${workspace}`
  await tea.writer.token("add_keywords", { appId: tea.app, keywords: ["oolong"] })
  await sql`update workspace set approve_outside = '{}' where id = ${workspace}`
  await tea.share()
  owner = await ownerOf(service, workspace)
  await fillSettings()
  // another person, whom the forms of the people page change
  await memberOf(service, workspace, "viewer")
  const seeds = [
    ...Object.keys(WORKSPACE_PAGES).map((path) => `/app${path}`),
    ...Object.keys(APP_PAGES).map((path) => `/app/apps/${tea.app}${path && `/${path}`}`),
    ...(await settingsPages(owner)),
    `/app/add?app=ios%3A1234567890`,
    `/app/apps/${tea.app}/ranks?terms=tea`,
    `/app/apps/${tea.app}/reply?review=1`,
    "/sign-in",
    "/sign-in/passphrase",
  ]
  pages = await walkPages(owner, seeds)
  forms = byKind([...pages].flatMap(([address, { text }]) => formsIn(address, text)))
  // forms of previews and of questions
  for (const form of forms.filter(({ kind }) => / (?:action=(?!compare|undo)|do=\w)/.test(kind))) {
    const { status, text } = await sendForm(owner, form, TYPED)
    if (status === 200) forms.push(...formsIn(form.to, text))
  }
  forms = byKind(forms)
  lesser = {
    editor: await memberOf(service, workspace, "editor"),
    viewer: await memberOf(service, workspace, "viewer"),
    "viewer-without-money": await memberOf(service, workspace, "viewer-without-money"),
  }
  before = new Set(await everyRow(sql, ...VOLATILE))
})
afterSlow(() => standIn.stop())

/** Creates one entry of every kind that the settings list. */
async function fillSettings(): Promise<void> {
  const send = async (path: string, form: string, fields: Record<string, string>) => {
    const { status } = await settingsBrowser(owner, sectionAddress(path)).send(form, fields)
    if (status >= 400) throw new Error(`${path} ${form} answered ${status}`)
  }
  const { keyId, pem: privateKey } = standIn.key("ADMIN")
  const { issuer, vendor: part } = standIn
  await send("keys", "create", { name: "CI", kind: "live", scopes: "apps:read" })
  await send("channels", "slack", { url: "https://hooks.slack.example/services/T000/B000/secretsecret" })
  await send("rules", "save", { type: "rank_drop", channels: "slack", keywordScope: "tagged", dropBy: "7" })
  await send("accounts", "add", { kind: "app-store-connect", issuer, keyId, privateKey, part })
  await send("people", "invite", { name: "Bo", role: "viewer" })
}

/** Valid values. */
const TYPED: Record<string, string> = {
  app: "com.example.kettle",
  keywords: "matcha",
  rivals: "ios:1200000011",
  more: "Germany",
  tag: "core",
}

function byKind(list: readonly FoundForm[]): FoundForm[] {
  return [...new Map(list.map((form) => [form.kind, form])).values()]
}

/** Returns the rows that existed before the attacks and are missing now. */
const lostRows = async () => {
  const now = new Set(await everyRow(service.sql, ...VOLATILE))
  return [...before].filter((row) => !now.has(row)).map((row) => row.slice(0, 120))
}

const tokenOf = async (browser: Browser) => fieldIn(await browser.open("/app/settings/profile"), "form") as string

slow("following all links finds every expected page and form", () => {
  // some pages of the route list need a parameter
  for (const [address, { status }] of pages) expect([address, status < 500]).toEqual([address, true])
  expect(pages.size).toBeGreaterThan(50)
  const kinds = forms.map(({ kind }) => kind)
  for (const deed of ["remove_app", "do=revoked", "do=leaked", "do=withdrawn", "do=removed", "do=invite", "approved"])
    expect([deed, kinds.some((kind) => kind.includes(deed))]).toEqual([deed, true])
  expect(forms.length).toBeGreaterThan(60)
})

describe("every form", () => {
  slow("a form without a token, or with another session's token, is refused and changes nothing", async () => {
    const foreign = await tokenOf(lesser.viewer.browser)
    const accepted: unknown[] = []
    for (const form of forms)
      for (const token of [null, foreign]) {
        const { status } = await sendForm(owner, form, { form: token })
        if (status < 400 || status > 403) accepted.push([form.kind, status])
      }
    expect([accepted, await lostRows()]).toEqual([[], []])
    expect((await everyRow(service.sql, ...VOLATILE)).length).toBe(before.size)
  })

  slow("a form sent by another workspace's owner changes no data of this workspace and shows none of it", async () => {
    const { browser: stranger } = await memberOf(service, await service.workspace(), "owner")
    const token = await tokenOf(stranger)
    const accepted: unknown[] = []
    for (const form of forms.filter(({ to }) => to !== "/sign-out")) {
      const { status, text } = await sendForm(stranger, form, { form: token })
      if (status >= 500 || text.includes("Tea Secret")) accepted.push([form.kind, status])
      const isOfMachine = /^\/app\/settings\/(?:data|health)/.test(form.kind)
      const isAbout = form.fields.some(([name, value]) => SUBJECTS.includes(name) && value !== "")
      if ((isOfMachine || (isAbout && !LEADING_ON.test(form.kind))) && status < 400) accepted.push([form.kind, status])
    }
    expect([accepted, await lostRows()]).toEqual([[], []])
  })

  slow("a form that a person's role may not send is refused", async () => {
    const accepted: unknown[] = []
    for (const [role, { browser }] of Object.entries(lesser)) {
      const token = await tokenOf(browser)
      for (const form of forms.filter(({ kind }) => isRefused(kind, role as LesserRole))) {
        // complete, so that the refusal has no other reason
        const { status } = await sendForm(browser, form, { ...TYPED, form: token })
        if (status !== 403) accepted.push([role, form.kind, status])
      }
    }
    expect([accepted, await lostRows()]).toEqual([[], []])
  })

  slow("the pages of a viewer show no form that a viewer may not send", async () => {
    const { browser } = lesser.viewer
    const refused: string[] = []
    let count = 0
    for (const address of pages.keys()) {
      const { status, text } = await browser.open(address)
      if (status !== 200 || address.startsWith("/app/settings")) continue
      const found = formsIn(address, text)
      count += found.length
      refused.push(...found.flatMap(({ kind }) => (isRefused(kind, "viewer") ? [`${address}: ${kind}`] : [])))
    }
    expect([count > 50, refused]).toEqual([true, []])
  })

  slow("a hostile text in a form is escaped in the response and on every page", async () => {
    const token = await tokenOf(owner)
    for (const form of forms.filter(({ texts }) => texts.length > 0))
      for (const hostile of HOSTILE) {
        const changes = { form: token, ...Object.fromEntries(form.texts.map((name) => [name, hostile])) }
        const { status, text, headers } = await sendForm(owner, form, changes)
        expect([form.kind, hostile.slice(0, 40), status < 500]).toEqual([form.kind, hostile.slice(0, 40), true])
        if (headers.get("content-type")?.startsWith("text/html")) expectWellFormed(form.kind, text)
      }
    for (const address of [...pages.keys()].filter((_, at) => at % cases(3, 1) === 0)) {
      const { status, text } = await owner.open(address)
      expect([address, status < 500]).toEqual([address, true])
      expectWellFormed(address, text)
    }
  })
})

/**
 * Forms that open another page (the chart of keywords, the list of changes) or delete a rule, whose id is its type and
 * exists in every workspace.
 */
const LEADING_ON = /^\/app\/(?:changes|write action=compare_keywords|settings\/rules do=delete)/

/** Fields with an id of this workspace. */
const SUBJECTS = ["appId", "appList", "id", "confirmToken"]

/**
 * Returns whether a form is refused to a role. Forms of the whole workspace or the machine are for owners; forms of
 * apps are for people who may change apps.
 */
function isRefused(kind: string, role: LesserRole): boolean {
  if (/^\/app\/settings\/(?:keys|channels|accounts|people|data|health)/.test(kind)) return true
  if (role === "editor") return false
  if (/^\/app\/settings\/(?:rules|sharing)/.test(kind)) return true
  return /^\/app\/write .*action=(?!compare|undo)/.test(kind) || kind.startsWith("/app/changes")
}

const HOSTILE = [
  HOSTILE_MARKUP,
  `tab\tline\r\nbell\u0007 nul\u0000 ${HOSTILE_MARKUP}`,
  ...(LONG ? [`${HOSTILE_MARKUP}${"x".repeat(100_000)}`] : []),
]
