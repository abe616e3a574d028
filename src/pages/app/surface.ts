import { FORM_FIELD, isOwnForm, type People, type Person, signInAddress } from "../../access/sign-in/person.ts"
import { PROOF_CODE_FIELD, PROOF_FIELD } from "../../access/sign-in/proof.ts"
import type { AnswerOf, InputOf, OperationId } from "../../answers.ts"
import { checkInput } from "../../core/check-input.ts"
import type { Invoke } from "../../core/invoke.ts"
import type { Operation } from "../../core/operation.ts"
import { dayOf } from "../../lib/days.ts"
import { Fault } from "../../lib/faults.ts"
import type { PreparedAnswer } from "../../lib/prepared.ts"
import type { PictureCache } from "../../stores/pictures/picture-cache.ts"
import { type PageAnswer, seeOther } from "../../ui/answer.ts"
import { chartFile } from "../../ui/app/chart.ts"
import { attempted, isFault, MADE, type PageContext } from "../../ui/app/context.ts"
import { formProblemPage, notHerePage } from "../../ui/app/parts.ts"
import { fieldOf, readForm } from "../../ui/form.ts"
import { askProof } from "../../ui/proof-page.ts"
import type { PageRoute, PageVisit } from "../../ui/routes.ts"
import { schemeCookie, schemeOf } from "../../ui/scheme.ts"
import { pageAt } from "../pages.ts"
import type { SettingsPages } from "../settings/surface.ts"
import { pageAnswer } from "./page-answer.ts"
import { backIn, writeFromPage } from "./page-write.ts"
import { picturePath, pictureRoute } from "./pictures.ts"

interface AppParts {
  invoke: Invoke
  people: People
  /** All operations that pages may call. */
  operations: readonly Operation[]
  /** Returns answers of the sample data. */
  sampleAnswer: (operation: Operation, input: Record<string, unknown>) => PreparedAnswer
  settings: SettingsPages
  now: () => Date
  /** Icons and screenshots. Undefined if pictures are turned off. */
  pictures?: PictureCache | undefined
}

/** The pages of /app: the workspace's pages for a signed-in person, and the sample for everybody. */
export function appRoutes(parts: AppParts): PageRoute[] {
  const { invoke, people, operations, sampleAnswer, settings, pictures, now } = parts
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  const find = (id: string): Operation => {
    const operation = byId.get(id)
    if (!operation) throw new Fault("unknown_endpoint")
    return operation
  }
  const has = (id: OperationId) => byId.has(id)

  const sampleContext = (visit: PageVisit): PageContext => ({
    ...UNSENT,
    base: SAMPLE,
    isSample: true,
    visitor: null,
    person: null,
    formFields: [],
    editFields: [],
    has,
    isMetered: () => false,
    picture: () => null,
    scheme: schemeOf(visit.request),
    today: SAMPLE_DAY,
    path: visit.path,
    requestId: visit.requestId,
    query: new URLSearchParams(visit.query),
    async ask<Id extends OperationId>(id: Id, input: InputOf<Id> = {}) {
      const operation = find(id)
      const { body } = sampleAnswer(operation, checkInput(operation, input))
      return JSON.parse(new TextDecoder().decode(body)) as AnswerOf<Id>
    },
  })

  const personContext = ({ request, requestId, address, path, query }: PageVisit, person: Person): PageContext => {
    let isMetered = false
    const isOpened = request.method === "POST" && OPENED.test(path)
    const formFields = [[FORM_FIELD, person.formToken]] as const
    return {
      ...UNSENT,
      base: OWN,
      isSample: false,
      visitor: person.workspace,
      person,
      has,
      isMetered: () => isMetered,
      picture: (store, width) => (pictures && store !== null ? picturePath(store, width) : null),
      scheme: schemeOf(request),
      today: dayOf(now()),
      path,
      requestId,
      query: new URLSearchParams(query),
      formFields,
      editFields: person.scopes.includes("track:write") ? formFields : [],
      async ask<Id extends OperationId>(id: Id, input: InputOf<Id> = {}) {
        if (!person.isProved && find(id).asksProof?.(input)) throw new ProofNeeded()
        const credentials = { grant: person.keyId }
        const isLooking = find(id).hive !== undefined && !isOpened
        const operation = isLooking ? { ...find(id), price: 0 } : lookedAt(find(id), input)
        const target = async () => ({ operation, input })
        const call = { surface: "pages", requestId, credentials, keyInUrl: false, address, isLooking } as const
        const reply = await invoke({ ...call, target })
        isMetered = reply.caller !== undefined && reply.caller.plan !== "enterprise"
        if (reply.fault) throw reply.fault
        return reply.answer as AnswerOf<Id>
      },
    }
  }

  return [
    ...(pictures ? [pictureRoute({ people, pictures })] : []),
    { path: "/app/sample/*", methods: ["GET", "HEAD"], open: (visit) => shown(sampleContext(visit)) },
    {
      path: "/app/*",
      methods: ["GET", "HEAD", "POST"],
      async open(visit) {
        const person = await people.personOf(visit)
        if (!person) return seeOther(signInAddress(visit.query ? `${visit.path}?${visit.query}` : visit.path))
        const context = personContext(visit, person)
        if (settings.has(visit.path)) return await settings.open(context, person, visit)
        return visit.request.method === "POST" ? await sent(parts, context, person, visit) : await shown(context)
      },
    },
  ]
}

/** The part of a context that is the same for every page opened by its address only. */
const UNSENT = { isSent: false, refused: null, made: [] }
/** Thrown if an operation of a page is sensitive and the person has not recently entered the passphrase. */
class ProofNeeded extends Error {}

const OWN = "/app"
const SAMPLE = "/app/sample"
/** The day on which the sample was made. */
const SAMPLE_DAY = "2026-11-02"

/** Returns the operation, free of charge if it reads or polls. On pages only changes are charged. */
function lookedAt(operation: Operation, { poll }: Record<string, unknown>): Operation {
  return operation.effect === "reads" || poll === true ? { ...operation, price: 0 } : operation
}

/** Opens the page at a path. If a form was refused, the response has the status of the refusal. */
async function shown(context: PageContext, status = 200): Promise<PageAnswer> {
  const { path } = context
  const page = pageAt(path.slice(context.base.length).replace(/\/$/, ""))
  if (!page) return pageAnswer(context, 404, notHerePage(context, new Fault("unknown_endpoint")))
  try {
    const made = await readMade(context)
    const opened = await page(context)
    const chart = opened.charts?.find(({ id }) => id === context.query.get("csv"))
    return pageAnswer({ ...context, made }, status, chart ? { ...opened, file: chartFile(chart) } : opened)
  } catch (error) {
    // faults that end the session lead to the sign-in, and temporary faults are answered as on other surfaces
    if (!(error instanceof Fault) || error.status === 503) throw error
    if (error.status === 401) return seeOther(signInAddress(path))
    return pageAnswer(context, error.status, notHerePage(context, error), error)
  }
}

/** Returns the changes of the request that the address names. Empty if it names an unknown request. */
async function readMade(context: PageContext): Promise<PageContext["made"]> {
  const requestId = context.query.get(MADE)
  if (requestId === null || context.isSample) return []
  const answer = await attempted(context.ask("get_made_change", { requestId }))
  return isFault(answer) ? [] : answer.changes
}

/** Enough for a file of some thousand keywords. */
const MAX_FORM_BYTES = 1_000_000

/**
 * Pages with a button that uses up a monthly limit, or spends credits to read the market. A link to such a page opens
 * it without pressing the button.
 */
const OPENED = /^\/app\/(?:apps\/[^/]+\/(?:rival|summary|reply|draft|ideas|localize|shots)|market\/[a-z]+)$/

/** Handles changes that are sent from pages: forms, and the approval or refusal of a waiting write. */
async function sent(parts: AppParts, context: PageContext, person: Person, visit: PageVisit): Promise<PageAnswer> {
  const { path, request } = visit
  const fields = await readForm(request, MAX_FORM_BYTES)
  const isOpened = OPENED.test(path)
  if (!isOpened && ![`${OWN}/changes`, `${OWN}/scheme`, `${OWN}/write`].includes(path))
    throw new Fault("method_not_allowed", {}, { allow: "GET, HEAD" })
  if (typeof fields === "string" || !isOwnForm(person, fields))
    return pageAnswer(context, fields === "text" ? 400 : 403, formProblemPage(context, fields === "size"))
  if (isOpened) return await shown({ ...context, isSent: true })
  if (path === `${OWN}/scheme`)
    return seeOther(backIn(context, fields, "to"), { "set-cookie": schemeCookie(fields.get("scheme")) })
  if (fields.has(PROOF_FIELD)) {
    const proofQuestion = await askProof(parts, person, visit, fields)
    if (proofQuestion) return proofQuestion
    for (const name of [PROOF_FIELD, PROOF_CODE_FIELD]) fields.delete(name)
  }
  try {
    if (path === `${OWN}/changes`) {
      await context.ask("settle_approval", {
        id: fieldOf(fields, "id") ?? "",
        verdict: fieldOf(fields, "verdict") ?? "",
      })
      return seeOther(path)
    }
    const answer = await writeFromPage(context, fields)
    if ("refused" in answer)
      return await shown({ ...context, ...placeOf(answer.back), refused: answer.refused }, answer.status)
    return "status" in answer ? answer : pageAnswer({ ...context, ...placeOf(backIn(context, fields)) }, 200, answer)
  } catch (error) {
    if (error instanceof ProofNeeded) return (await askProof(parts, person, visit, fields)) ?? seeOther(path)
    if (!(error instanceof Fault) || error.status === 503 || error.status === 401) throw error
    return pageAnswer(context, error.status, notHerePage(context, error), error)
  }
}

function placeOf(address: string): Pick<PageContext, "path" | "query"> {
  const { pathname, searchParams } = new URL(address, "http://here.invalid")
  return { path: pathname, query: searchParams }
}
