import { FORM_FIELD, isOwnForm, type Owner, type Owners, signInAddress } from "../../access/sign-in/owner.ts"
import type { AnswerOf, InputOf, OperationId } from "../../answers.ts"
import { checkInput } from "../../core/check-input.ts"
import type { Invoke } from "../../core/invoke.ts"
import type { Operation } from "../../core/operation.ts"
import { Fault } from "../../lib/faults.ts"
import type { PreparedAnswer } from "../../lib/prepared.ts"
import { type PageAnswer, seeOther } from "../../ui/answer.ts"
import type { Desk } from "../../ui/app/desk.ts"
import { APP_POLICY, framed } from "../../ui/app/frame.ts"
import { notHerePage } from "../../ui/app/parts.ts"
import { fieldOf, readForm } from "../../ui/form.ts"
import type { PageRoute, PageVisit } from "../../ui/routes.ts"
import { pageAt } from "../pages.ts"
import { writeFromPage } from "./page-write.ts"

interface DeskParts {
  invoke: Invoke
  owners: Owners
  /** All operations that pages may call. */
  operations: readonly Operation[]
  /** Returns answers of the sample data. */
  sampleAnswer: (operation: Operation, input: Record<string, unknown>) => PreparedAnswer
}

/** The pages of /app: for the signed-in owner, and with sample data for everybody. */
export function deskRoutes({ invoke, owners, operations, sampleAnswer }: DeskParts): PageRoute[] {
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  const find = (id: string): Operation => {
    const operation = byId.get(id)
    if (!operation) throw new Fault("unknown_endpoint")
    return operation
  }
  const has = (id: OperationId) => byId.has(id)

  const sampleDesk = (visit: PageVisit): Desk => ({
    ...{ base: SAMPLE, isSample: true, isSent: false, visitor: null, formFields: [], has },
    query: new URLSearchParams(visit.query),
    async ask<Id extends OperationId>(id: Id, input: InputOf<Id> = {}) {
      const operation = find(id)
      const { body } = sampleAnswer(operation, checkInput(operation, input))
      return JSON.parse(new TextDecoder().decode(body)) as AnswerOf<Id>
    },
  })

  const ownDesk = ({ requestId, address, query }: PageVisit, owner: Owner): Desk => ({
    ...{ base: OWN, isSample: false, isSent: false, visitor: owner.workspace, has },
    query: new URLSearchParams(query),
    formFields: [[FORM_FIELD, owner.formToken]],
    async ask<Id extends OperationId>(id: Id, input: InputOf<Id> = {}) {
      const credentials = { grant: owner.keyId }
      const target = async () => ({ operation: lookedAt(find(id), input), input })
      const reply = await invoke({ surface: "pages", requestId, credentials, keyInUrl: false, address, target })
      if (reply.fault) throw reply.fault
      return reply.answer as AnswerOf<Id>
    },
  })

  return [
    { path: "/app/sample/*", methods: ["GET", "HEAD"], open: (visit) => shown(sampleDesk(visit), visit) },
    {
      path: "/app/*",
      methods: ["GET", "HEAD", "POST"],
      async open(visit) {
        const owner = await owners.ownerOf(visit.request)
        if (!owner) return seeOther(signInAddress(visit.query ? `${visit.path}?${visit.query}` : visit.path))
        const desk = ownDesk(visit, owner)
        return visit.request.method === "POST" ? await sent(desk, owner, visit) : await shown(desk, visit)
      },
    },
  ]
}

const OWN = "/app"
const SAMPLE = "/app/sample"

/** Makes reads and polls free on pages. Only changes are charged. */
function lookedAt(operation: Operation, { poll }: Record<string, unknown>): Operation {
  return operation.effect === "reads" || poll === true ? { ...operation, price: 0 } : operation
}

async function shown(desk: Desk, { path }: PageVisit): Promise<PageAnswer> {
  const page = pageAt(path.slice(desk.base.length).replace(/\/$/, ""))
  if (!page) return pageAnswer(desk, 404, notHerePage(desk, new Fault("unknown_endpoint")))
  try {
    return pageAnswer(desk, 200, await page(desk))
  } catch (error) {
    // faults that end the session lead to the sign-in, and temporary faults are answered as on other surfaces
    if (!(error instanceof Fault) || error.status === 503) throw error
    if (error.status === 401) return seeOther(signInAddress(path))
    return pageAnswer(desk, error.status, notHerePage(desk, error), error)
  }
}

function pageAnswer(desk: Desk, status: number, page: Parameters<typeof framed>[1], fault?: Fault): PageAnswer {
  const { retryAfter } = fault ?? {}
  const headers = {
    "content-security-policy": APP_POLICY,
    "cross-origin-resource-policy": "same-origin",
    ...(retryAfter && { "retry-after": String(retryAfter) }),
  }
  const body = framed(desk, page)
  // A page with a form's token is not compressed, because its compressed size would reveal information about the token.
  return { status, headers, body, isCompressible: !desk.formFields.some(([, token]) => body.includes(token)) }
}

const MAX_BYTES = 65_536

/** Pages whose button uses up a monthly limit. Opening such a page by a link does not press the button. */
const OPENED = /^\/app\/apps\/[^/]+\/(?:rival|summary|reply|draft|ideas|localize|shots)$/

/** Handles changes from pages: approving or refusing a waiting write, and writes with preview and confirm. */
async function sent(desk: Desk, owner: Owner, visit: PageVisit): Promise<PageAnswer> {
  const { path, request } = visit
  const fields = await readForm(request, MAX_BYTES)
  const isOpened = OPENED.test(path)
  if (!isOpened && ![`${OWN}/changes`, `${OWN}/write`].includes(path))
    throw new Fault("method_not_allowed", {}, { allow: "GET, HEAD" })
  if (typeof fields === "string" || !isOwnForm(owner, fields))
    return pageAnswer(
      desk,
      fields === "text" ? 400 : 403,
      notHerePage(
        desk,
        new Fault("invalid_arguments", { detail: "The form is not complete. Reload the page and send it again." }),
      ),
    )
  if (isOpened) return await shown({ ...desk, isSent: true }, visit)
  try {
    if (path === `${OWN}/changes`) {
      await desk.ask("settle_approval", { id: fieldOf(fields, "id") ?? "", verdict: fieldOf(fields, "verdict") ?? "" })
      return seeOther(path)
    }
    const answer = await writeFromPage(desk, fields)
    return "status" in answer ? answer : pageAnswer(desk, 200, answer)
  } catch (error) {
    if (!(error instanceof Fault) || error.status === 503 || error.status === 401) throw error
    return pageAnswer(desk, error.status, notHerePage(desk, error), error)
  }
}
