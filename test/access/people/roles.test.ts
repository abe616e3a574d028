import { beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { ROLES, type Role, scopesOf } from "../../../src/access/people/roles.ts"
import { actions, catalog } from "../../../src/catalog.ts"
import type { Operation } from "../../../src/core/operation.ts"
import { readTree } from "../../../src/database/assets.ts"
import { freshDatabase } from "../../database.ts"
import { cells, pageOf } from "../../docs/pages.ts"
import { cases, slow } from "../../long.ts"
import { NO_PORTS } from "../../pages/settings/ports.ts"
import { openService, type Service } from "../../service.ts"
import { trackOwn } from "../../world/tracked.ts"
import { fieldIn } from "../sign-in/browser.ts"
import { type Member, memberOf } from "./scene.ts"

setDefaultTimeout(120_000)

// The tables of the manual's page People, compared with what people of each role get from pages and calls.

let service: Service
let app: string
const members = new Map<Role, Member & { keyId: number }>()

beforeAll(async () => {
  const sql = await freshDatabase()
  service = openService({ sql, settingsPorts: NO_PORTS })
  const workspaceId = await service.workspace({ plan: "enterprise", explorer: true })
  // The first person operates the server, which none of the people below may do.
  await memberOf(service, workspaceId, "owner")
  app = await trackOwn(sql, { workspaceId, iosId: "2000000001" })
  for (const role of ROLES) {
    const member = await memberOf(service, workspaceId, role)
    const [row] = await sql<{ keyId: number }[]>`
      select key_id as "keyId"
      from membership
      where person_id = ${member.personId}`
    members.set(role, { ...member, keyId: row?.keyId ?? 0 })
  }
})

const memberIn = (role: Role) => members.get(role) as Member & { keyId: number }

/** Calls an operation as this person's pages do. Returns the missing right, or null. */
async function missingRight(role: Role, operation: Operation, input: Record<string, unknown>): Promise<string | null> {
  const { fault } = await service.app.invoke({
    surface: "pages",
    requestId: crypto.randomUUID(),
    credentials: { grant: memberIn(role).keyId },
    keyInUrl: false,
    address: "192.0.2.1",
    target: async () => ({ operation, input }),
  })
  if (fault?.code === "invalid_arguments") throw new Error(`${operation.id}: ${JSON.stringify(fault.extra)}`)
  return fault?.code === "scope_required" ? String(fault.extra.scope) : null
}

const inputs = new Map(
  [...readTree("fixtures/sandbox", ".json")].map(([file, text]) => [file.replace(".json", ""), JSON.parse(text).input]),
)
const find = (id: string) => catalog.find((operation) => operation.id === id) as Operation

const [head = [], , ...rows] = cells(pageOf("people")).slice(
  cells(pageOf("people")).findIndex(([cell]) => cell === "scope"),
)
const scopeRows = rows.filter(([cell = ""]) => /^`[a-z]+:[a-z]+`$/.test(cell))
const names = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name)

test("the manual's table of scopes lists every role, every write, and every call that needs a scope", () => {
  expect(head.slice(2)).toEqual([...ROLES])
  const listed = scopeRows.flatMap(([, cell]) => names(cell))
  const needing = catalog.filter(({ scope }) => scope !== null).map(({ id }) => id)
  expect(listed.toSorted()).toEqual([...needing, ...actions.map(({ name }) => name)].toSorted())
})

test("each role has exactly the scopes listed in the manual", () => {
  for (const [scope, , ...may] of scopeRows)
    for (const [at, role] of ROLES.entries())
      expect([
        role,
        scope,
        scopesOf(role)
          .map(String)
          .includes(String(names(scope)[0])),
      ]).toEqual([role, scope, may[at] === "yes"])
})

test("each role can make exactly the calls listed in the manual", async () => {
  const listed = scopeRows.flatMap(([scope, cell, ...may]) => {
    const ids = names(cell).filter((name) => catalog.some((operation) => operation.id === name))
    return ids.map((id) => ({ id, scope, may }))
  })
  for (const { id, scope, may } of listed.filter((_, at) => at % cases(10, 1) === 0))
    for (const [at, role] of ROLES.entries()) {
      const missing = await missingRight(role, find(id), inputs.get(id))
      expect([role, id, missing]).toEqual([role, id, may[at] === "yes" ? null : String(names(scope)[0])])
    }
})

test("each role can preview exactly the writes listed in the manual", async () => {
  for (const [scope, cell, ...may] of scopeRows)
    for (const name of names(cell).filter((write) => actions.some((action) => action.name === write)))
      for (const [at, role] of ROLES.entries()) {
        const args = actions.find((action) => action.name === name)?.example as Record<string, unknown>
        const missing = await missingRight(role, find("preview_action"), { action: name, args })
        expect([role, name, missing]).toEqual([role, name, may[at] === "yes" ? null : String(names(scope)[0])])
      }
})

slow("each role sees exactly the pages and edit forms listed in the manual", async () => {
  const base = `/app/apps/${app}`
  const pages: Record<string, string[]> = {
    "Apps, keywords, rivals, charts, alerts": ["/app", base, `${base}/rivals`, `${base}/charts`, "/app/alerts"],
    "Keys, channels, connected accounts, people": ["/app/settings/keys", "/app/settings/channels"],
    "Sources and health, data and backups": ["/app/settings/health"],
    "Alert rules, shared links": ["/app/settings/rules", "/app/settings/sharing"],
    "Revenue, ads": [`${base}/revenue`, `${base}/ads`],
  }
  const table = cells(pageOf("people"))
  for (const [label, paths] of Object.entries(pages)) {
    const may = table.find(([cell]) => cell === label)?.slice(1)
    for (const [at, role] of ROLES.entries())
      for (const path of paths) {
        const { status, text } = await memberIn(role).browser.open(path)
        const isShown = status === 200 && !text.includes("You lack the right")
        expect([role, path, isShown]).toEqual([role, path, may?.[at] === "yes"])
      }
  }
  for (const role of ROLES) {
    const { browser } = memberIn(role)
    const form = fieldIn(await browser.open(`${base}/edit`), "form") ?? fieldIn(await browser.open("/sign-in"), "form")
    const fields = { form: form ?? "", action: "add_keywords", appId: app, keywords: "tea", back: "/app" }
    const may = table.find(([cell]) => cell === "Edit, add an app")?.[ROLES.indexOf(role) + 1]
    expect([role, (await browser.send("/app/write", fields)).status]).toEqual([role, may === "yes" ? 200 : 403])
  }
})
