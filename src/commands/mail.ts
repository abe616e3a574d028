import { confirmMailAddress, readMailAddress } from "../access/people/mail-addresses.ts"
import { findMember, listMembers } from "../access/people/people.ts"
import { mailCode, mailTest } from "../alerts/digest/letters.ts"
import { endDigest, parseSchedule, readLastDigest, readSchedule, setSchedule } from "../alerts/digest/preferences.ts"
import type { Sql } from "../database/types.ts"
import { createMailer, type Mailer } from "../outbound/mail/smtp.ts"
import { type Command, CommandProblem, type Invocation } from "./cli/command.ts"
import { printable, show, table } from "./cli/show.ts"
import { chooseWorkspace, useDatabase } from "./cli/with-database.ts"
import { addressOf } from "./sign-in.ts"

const WORKSPACE = { value: "NAME", meaning: "The workspace. Optional if there is only one." }

export const mailList: Command = {
  name: "mail list",
  summary: "List people with their mail address and summaries.",
  examples: [["mail list", "address, schedule and last summary of each person"]],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const people = await useDatabase(invocation, async (sql) => {
      const { id: workspaceId } = await chooseWorkspace(sql, invocation.text("workspace"))
      const members = await listMembers(sql, workspaceId)
      return await Promise.all(members.map(({ personId, name }) => readPerson(sql, { personId, workspaceId, name })))
    })
    show(invocation, { people }, () =>
      table(
        ["PERSON", "ADDRESS", "SUMMARY", "LAST", "STATE", "WHY"],
        people.map(({ name, address, pending, refused, digest, last }) => [
          printable(name),
          address ?? (pending === null ? null : `${pending} (not confirmed)`),
          digest && `${digest.every}, ${digest.hour}:00 ${digest.zone}`,
          last?.day ?? null,
          last?.state ?? null,
          refused ?? last?.failure ?? null,
        ]),
      ),
    )
    return 0
  },
}

export const mailAddress: Command = {
  name: "mail address",
  changes: true,
  summary: "Mail a code to a person's new mail address.",
  details: "Nothing else is sent there until the code is typed: on the page, or with appmeter mail confirm.",
  examples: [["mail address ada ada@example.com", "at most five codes per person and day"]],
  positionals: ["name", "address"],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const typed = invocation.positionals[1] ?? ""
    const address = await withPerson(invocation, (parts, person) => mailCode(parts, person, typed))
    show(invocation, { mailed: address }, () => [`mailed a code to ${address}`])
    return 0
  },
}

export const mailConfirm: Command = {
  name: "mail confirm",
  changes: true,
  summary: "Confirm a person's mail address with the code that was mailed.",
  examples: [["mail confirm ada BCDF-GHJK", "from then on mail for ada goes there"]],
  positionals: ["name", "code"],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const [name = "", code = ""] = invocation.positionals
    const address = await useDatabase(invocation, async (sql) => {
      const { id } = await chooseWorkspace(sql, invocation.text("workspace"))
      const { personId } = await findMember(sql, id, name)
      return await confirmMailAddress(sql, personId, code)
    })
    show(invocation, { confirmed: address }, () => [`confirmed ${address}`])
    return 0
  },
}

export const mailDigest: Command = {
  name: "mail digest",
  changes: true,
  summary: "Set when a person gets a summary of a workspace by mail.",
  details: "Weekly summaries are sent on Mondays, not before 09:00 UTC.",
  examples: [
    ["mail digest ada week --hour 8 --zone Europe/Berlin", "each Monday at 8"],
    ["mail digest ada off", "no more summaries"],
  ],
  positionals: ["name", "every"],
  options: {
    workspace: WORKSPACE,
    hour: { value: "HOUR", meaning: "0 to 23. Default: 8." },
    zone: { value: "ZONE", meaning: "Time zone of the hour, such as Europe/Berlin. Default: UTC." },
  },
  async run(invocation) {
    const { positionals, text } = invocation
    const [name = "", every = ""] = positionals
    const typed = { every, hour: text("hour") ?? "8", zone: text("zone") ?? "UTC" }
    const person = await useDatabase(invocation, async (sql) => {
      const { id: workspaceId } = await chooseWorkspace(sql, text("workspace"))
      const member = await findMember(sql, workspaceId, name)
      const subscription = { personId: member.personId, workspaceId }
      if (every === "off") await endDigest(sql, subscription)
      else await setSchedule(sql, subscription, parseSchedule(typed))
      return await readPerson(sql, { ...subscription, name: member.name })
    })
    show(invocation, { person }, () => [
      person.digest
        ? `${person.name}: every ${person.digest.every} at ${person.digest.hour}:00 ${person.digest.zone}`
        : `${person.name}: no summaries`,
      ...(person.digest && person.address === null ? ["confirm an address first: appmeter mail address"] : []),
    ])
    return 0
  },
}

export const mailTestCommand: Command = {
  name: "mail test",
  summary: "Mail a test message to a person's confirmed address.",
  details: "An address that the mail server refused is used again once it accepts the test message.",
  examples: [["mail test ada", "exit code 1 if the mail server does not accept it"]],
  positionals: ["name"],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const address = await withPerson(invocation, (parts, person) => mailTest(parts, person))
    show(invocation, { accepted: address }, () => [`the mail server accepted the message for ${address}`])
    return 0
  },
}

interface MailParts {
  sql: Sql
  mailer: Mailer
  publicUrl: string
}

async function withPerson<T>(
  invocation: Invocation,
  work: (parts: MailParts, person: { personId: number; person: string }) => Promise<T>,
): Promise<T> {
  const { settings, positionals, text } = invocation
  if (!settings.mail)
    throw new CommandProblem("no mail server is set up; set SMTP_URL and MAIL_FROM, then check with: appmeter doctor")
  const mailer = createMailer(settings.mail)
  return await useDatabase(invocation, async (sql) => {
    const { id } = await chooseWorkspace(sql, text("workspace"))
    const { personId, name } = await findMember(sql, id, positionals[0] ?? "")
    return await work({ sql, mailer, publicUrl: addressOf(settings) }, { personId, person: name })
  })
}

async function readPerson(
  sql: Sql,
  { name, ...subscription }: { personId: number; workspaceId: number; name: string },
) {
  const { address, pending, refused } = await readMailAddress(sql, subscription.personId)
  const digest = await readSchedule(sql, subscription)
  return { name, address, pending, refused, digest, last: await readLastDigest(sql, subscription) }
}
