import { beginOperatorAction, endOperatorAction } from "../../access/operator-actions.ts"
import { AccessProblem } from "../../access/problem.ts"
import { isOwnForm, type People, type Person } from "../../access/sign-in/person.ts"
import { ConsoleProblem } from "../../consoles/console.ts"
import type { Gate } from "../../database/gate.ts"
import type { Sql } from "../../database/types.ts"
import { Fault } from "../../lib/faults.ts"
import { ownValue } from "../../lib/objects.ts"
import { type PageAnswer, seeOther } from "../../ui/answer.ts"
import { address, type Page, type PageContext, type RefusedForm } from "../../ui/app/context.ts"
import { empty, notHerePage } from "../../ui/app/parts.ts"
import {
  type FormOutcome,
  formId,
  isSensitive,
  mayOpen,
  SETTINGS,
  type SettingsForm,
  type SettingsSection,
  type SettingsVisit,
  sectionAddress,
} from "../../ui/app/settings.ts"
import { FormProblem } from "../../ui/fields.ts"
import { fieldOf, readForm } from "../../ui/form.ts"
import { type Html, html } from "../../ui/html.ts"
import { askProof } from "../../ui/proof-page.ts"
import type { PageVisit } from "../../ui/routes.ts"
import { pageAnswer } from "../app/page-answer.ts"

export interface SettingsPages {
  /** Returns whether the path is one of the settings. */
  has(path: string): boolean
  open(context: PageContext, person: Person, visit: PageVisit): Promise<PageAnswer>
}

interface SettingsParts {
  sql: Sql
  gate: Pick<Gate, "run">
  people: People
  publicUrl: string
  sections: readonly SettingsSection[]
}

/** Earlier addresses of pages, with their present ones. */
const MOVED = { "/app/usage": sectionAddress("usage"), "/app/sources": sectionAddress("health") }

/** Forms carry at most one file, such as a key. */
const MAX_BYTES = 131_072

/** The pages below /app/settings. Each section brings its page and its forms; this file checks who may use them. */
export function createSettingsPages({ sql, gate, people, publicUrl, sections }: SettingsParts): SettingsPages {
  const find = (path: string) => sections.find((section) => sectionAddress(section.path) === path.replace(/\/$/, ""))

  async function framedPage(section: SettingsSection, visit: SettingsVisit): Promise<Page> {
    const listed = sections.filter((other) => mayOpen(visit.person, other))
    const notice = section.notices[visit.context.query.get("done") ?? ""]
    const body = await gate.run(() => section.show(visit))
    return {
      title: section.path === "" ? "Settings" : `${section.name} · Settings`,
      at: "/settings",
      body: html`${sectionTabs(listed, section)}${notice && noticePart(notice)}${body}`,
    }
  }

  async function sent(section: SettingsSection, settingsVisit: SettingsVisit, fields: URLSearchParams) {
    const name = fieldOf(fields, "do") ?? ""
    const form = Object.hasOwn(section.forms, name) ? section.forms[name] : undefined
    if (!form) throw new Fault("invalid_arguments", { detail: "This page has no such form." })
    try {
      return outcomeAnswer(settingsVisit.context, await performed(form, settingsVisit, fields))
    } catch (error) {
      const problem = problemIn(error)
      if (!problem) throw error
      const refused = { id: formId(name, fieldOf(fields, "id")), values: fields, ...problem }
      const context = { ...settingsVisit.context, refused }
      return pageAnswer(context, 400, await framedPage(section, { ...settingsVisit, context }))
    }
  }

  /** Performs the change. Records it first, so that an interrupted change is listed too. */
  async function performed({ audit, send, limitMs }: SettingsForm, visit: SettingsVisit, fields: URLSearchParams) {
    if (audit === null) return await gate.run(() => send(visit, fields), limitMs)
    const actor = `${visit.person.person}, on a page`
    const action = { actor, command: audit, typed: fieldOf(fields, "id") ?? "" }
    const id = await gate.run(() => beginOperatorAction(sql, action))
    let exitCode = 1
    try {
      const outcome = await gate.run(() => send(visit, fields), limitMs)
      exitCode = 0
      return outcome
    } finally {
      await gate.run(() => endOperatorAction(sql, id, exitCode))
    }
  }

  return {
    has: (path) => path === SETTINGS || path.startsWith(`${SETTINGS}/`) || Object.hasOwn(MOVED, path),
    async open(context, person, visit) {
      const { path, request, address: from } = visit
      const moved = ownValue(MOVED, path)
      if (moved) return seeOther(moved)
      const section = find(path)
      if (!section) return pageAnswer(context, 404, notHerePage(context, new Fault("unknown_endpoint")))
      if (!mayOpen(person, section)) return pageAnswer(context, 403, notAllowedPage(section))
      const { workspaceId, workspace } = person
      const query = Object.fromEntries([...context.query].filter(([name]) => name !== "done"))
      const here = address(path, query)
      const settingsVisit = { context, workspaceId, workspace, person, publicUrl, here, from }
      try {
        if (request.method !== "POST") return pageAnswer(context, 200, await framedPage(section, settingsVisit))
        const fields = await readForm(request, MAX_BYTES)
        if (typeof fields !== "string" && isOwnForm(person, fields)) {
          const proofQuestion = isSensitive(section) ? await askProof({ people }, person, visit, fields) : null
          return proofQuestion ?? (await sent(section, settingsVisit, fields))
        }
        const detail = fields === "size" ? "The form is too large." : "Send the form of the page as it was shown."
        const fault = new Fault("invalid_arguments", { detail })
        return pageAnswer(context, fields === "text" || fields === "size" ? 400 : 403, notHerePage(context, fault))
      } catch (error) {
        if (error instanceof AccessProblem) {
          const fault = new Fault("not_found", { detail: sentence(error.message) })
          return pageAnswer(context, 404, notHerePage(context, fault))
        }
        if (!(error instanceof Fault) || error.status === 503) throw error
        return pageAnswer(context, error.status, notHerePage(context, error), error)
      }
    },
  }
}

function outcomeAnswer(context: PageContext, outcome: FormOutcome): PageAnswer {
  if ("file" in outcome) return outcome.file
  if ("page" in outcome) return pageAnswer(context, 200, outcome.page)
  const [path = "", query] = outcome.to.split("?")
  return seeOther(address(path, { ...Object.fromEntries(new URLSearchParams(query)), done: outcome.done }))
}

/** Returns why the form is refused. Undefined if the error is not about the form. */
function problemIn(error: unknown): Pick<RefusedForm, "errors" | "message"> | undefined {
  if (error instanceof FormProblem) {
    const { "": message = MARKED, ...errors } = error.errors
    return { errors, message }
  }
  if (error instanceof AccessProblem) return problemAt(error.field, sentence(error.message))
  if (error instanceof ConsoleProblem) return { errors: {}, message: sentence(error.message) }
  if (!(error instanceof Fault) || error.status >= 500 || error.status === 401 || error.status === 429) return undefined
  const { field, detail, reason } = error.extra as { field?: string; detail?: string; reason?: string }
  return problemAt(field, detail ?? reason ?? error.message)
}

const MARKED = "Nothing was changed. Please check the marked fields."

function problemAt(field: string | undefined, text: string): Pick<RefusedForm, "errors" | "message"> {
  return field === undefined ? { errors: {}, message: text } : { errors: { [field]: text }, message: MARKED }
}

/** Turns a message of the command line into a sentence. */
function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1)
  return /[.!?]$/.test(text) ? text : `${text}.`
}

function sectionTabs(sections: readonly SettingsSection[], shown: SettingsSection): Html {
  return html`<nav class="tabs" aria-label="Settings">${sections.map(
    ({ name, path }) =>
      html`<a href="${sectionAddress(path)}"${path === shown.path && html` aria-current="page"`}>${name}</a>`,
  )}</nav>
`
}

function noticePart(text: string): Html {
  return html`<p class="notice" role="status">${text}</p>
`
}

function notAllowedPage({ name, needs }: SettingsSection): Page {
  const [title, text] =
    needs === "server:operate"
      ? ["Only the operator of this server can see this", "It is about the machine, not about your workspace."]
      : ["You may not open this page", "An owner of the workspace can do this, or give you the right."]
  return {
    title: name,
    at: "/settings",
    body: html`<section class="card">${empty(title, text)}<p class="pages"><a href="${SETTINGS}">Settings</a></p>
</section>`,
  }
}
