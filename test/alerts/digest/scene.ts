import { removeMember } from "../../../src/access/people/people.ts"
import { createDigests, type Digests } from "../../../src/alerts/digest/worker.ts"
import { askAs } from "../../../src/commands/process/digests.ts"
import type { Sql } from "../../../src/database/types.ts"
import { silentLog } from "../../../src/lib/log.ts"
import { createMailer, type Mailer } from "../../../src/outbound/mail/smtp.ts"
import { type Member, memberOf } from "../../access/people/scene.ts"
import { reviewed } from "../../measuring/record/reviewed.ts"
import { type MailServer, parsed, plainServer, startMailServer } from "../../outbound/mail/mail-server.ts"
import { NO_PORTS } from "../../pages/settings/ports.ts"
import { settingsBrowser } from "../../pages/settings/settings-browser.ts"
import { record } from "../../record.ts"
import { openService, type Service } from "../../service.ts"
import { type Sharing, sharing } from "../../sharing/share-scene.ts"
import { tellAlerts } from "../../writes/feed-alerts.ts"

export const MAIL = "/app/settings/mail"
export const PUBLIC = "https://ranks.example.com"

const DAY_MS = 86_400_000
const midnight = Date.parse(new Date().toISOString().slice(0, 10))

/** The UTC day that the digests of these tests cover. */
export const TODAY = new Date(midnight).toISOString().slice(0, 10)
/** Half past midnight after it, when a daily digest for 00:00 UTC is due. */
export const AFTER = new Date(midnight + DAY_MS + 1_800_000)

export interface MailScene {
  sql: Sql
  service: Service
  mailServer: MailServer
  mailer: Mailer
  tea: Sharing
  /** The time of the service. */
  clock: { now: Date }
}

/** Creates a service with a mail server, and a workspace whose app was measured. */
export async function mailScene(sql: Sql, name = "Tea <Timer>"): Promise<MailScene> {
  const mailServer = await startMailServer()
  const mailer = createMailer(plainServer(mailServer))
  const clock = { now: AFTER }
  const service = openService({ sql, now: () => clock.now, settingsPorts: { ...NO_PORTS, mailer } })
  const tea = await sharing(service, { name, keywords: ["tea", "mate"] })
  await tea.measureAll([
    ["tea", 1, 5],
    ["tea", 0, 12],
  ])
  return { sql, service, mailServer, mailer, tea, clock }
}

/** Adds an alert of today and reviews with these texts. */
export async function addNews({ sql, tea }: MailScene, texts: readonly string[] = []): Promise<void> {
  const at = `${TODAY}T10:00:00Z`
  await tellAlerts(sql, [{ workspace: tea.writer.workspace, app: tea.app, at }])
  if (texts.length === 0) return
  const reviews = texts.map((text, at) => ({
    id: String(at + 1),
    title: "Title",
    text,
    stars: (at % 5) + 1,
    at: new Date(midnight + 3_600_000 + at),
  }))
  await record(sql, [reviewed(`${TODAY}T23:00:00Z`, reviews, { storeId: tea.iosId })], () => AFTER)
}

/** Adds a person with a confirmed address and a daily digest, set on the page. */
export async function subscriber(
  { service, mailServer, tea }: MailScene,
  role = "owner",
  address = "ada@example.org",
): Promise<Member> {
  const member = await memberOf(service, tea.writer.workspace, role as never)
  const { send } = settingsBrowser(member.browser, MAIL)
  await send("address", { address })
  await send("confirm", { code: await codeIn(mailServer) })
  await send("schedule", { every: "day", hour: "0", zone: "UTC" })
  return member
}

/** Returns the code of the last mail. */
export async function codeIn({ received }: MailServer): Promise<string> {
  const { text } = await parsed(received.at(-1)!)
  return /[B-Z]{4}-[B-Z]{4}/.exec(text ?? "")![0]
}

export function digests(
  { sql, service, mailer, clock }: MailScene,
  options: Partial<Parameters<typeof createDigests>[0]> = {},
): Digests {
  const callAs = (keyId: number) => askAs(service.app.invoke, keyId)
  return createDigests({
    sql,
    log: silentLog,
    mailer,
    publicUrl: PUBLIC,
    askAs: callAs,
    now: () => clock.now,
    ...options,
  })
}

export const remove = ({ sql, tea }: MailScene, personId: number) =>
  sql.begin((tx) => removeMember(tx, tea.writer.workspace, personId))
