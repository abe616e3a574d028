import { isOwnForm, type People, type Person, signInAddress } from "../../access/sign-in/person.ts"
import type { Gate } from "../../database/gate.ts"
import type { Sql } from "../../database/types.ts"
import { type PageAnswer, seeOther } from "../../ui/answer.ts"
import { fieldOf, readForm } from "../../ui/form.ts"
import { askProof } from "../../ui/proof-page.ts"
import type { PageRoute, PageVisit } from "../../ui/routes.ts"
import { listApprovals, settleApproval } from "../approvals.ts"
import { APPROVAL_POLICY, approvalPage, noApprovalPage, sampleApprovalPage, waitingPage } from "./page.ts"

interface ApprovalParts {
  sql: Sql
  gate: Pick<Gate, "run">
  people: People
}

/**
 * Returns the pages where a signed-in person lists, approves and declines pending writes. Anyone else is redirected to
 * sign in, and then back.
 */
export function approvalRoutes(parts: ApprovalParts): PageRoute[] {
  const { sql, gate } = parts
  return [
    {
      path: "/approve",
      methods: ["GET", "HEAD"],
      open: signedIn(parts, async (person) => {
        const { workspaceId, scopes: rights } = person
        return page(200, waitingPage(await gate.run(() => listApprovals(sql, { workspaceId, rights }))))
      }),
    },
    { path: "/approve/sample", methods: ["GET", "HEAD"], open: async () => page(200, sampleApprovalPage()) },
    {
      path: "/approve/(?<id>ap_[0-9a-f]{18})",
      methods: ["GET", "HEAD", "POST"],
      open: signedIn(parts, async (person, visit) => {
        const id = visit.path.slice("/approve/".length)
        if (visit.request.method === "POST") return await settle(parts, person, id, visit)
        const found = await findApproval(parts, person, id)
        return "status" in found ? found : page(200, approvalPage(found, person, new Date()))
      }),
    },
  ]
}

type PersonPage = (person: Person, visit: PageVisit) => Promise<PageAnswer>

function signedIn({ people }: ApprovalParts, open: PersonPage): PageRoute["open"] {
  return async (visit) => {
    const person = await people.personOf(visit)
    if (!person) return seeOther(signInAddress(visit.path))
    return person.appList === null ? await open(person, visit) : page(403, noApprovalPage("apps"))
  }
}

/**
 * Returns the approval, or the page that refuses a person who may not decide it, because an approval contains figures.
 */
async function findApproval({ sql, gate }: ApprovalParts, { workspaceId, scopes }: Person, id: string) {
  const [approval] = await gate.run(() => listApprovals(sql, { workspaceId, id, rights: null }))
  if (!approval) return page(404, noApprovalPage())
  return scopes.includes(approval.scope) ? approval : page(403, noApprovalPage(approval.scope))
}

const MAX_BYTES = 4_096
const VERDICTS = { approve: "approved", decline: "declined" } as const

/**
 * Handles the form. A form from another site lacks this session's token and is refused. An earlier decision stays, and
 * the page shows it.
 */
async function settle(parts: ApprovalParts, person: Person, id: string, visit: PageVisit): Promise<PageAnswer> {
  const fields = await readForm(visit.request, MAX_BYTES)
  const answer = typeof fields === "string" ? undefined : fieldOf(fields, "verdict")
  const verdict =
    answer !== undefined && Object.hasOwn(VERDICTS, answer) ? VERDICTS[answer as keyof typeof VERDICTS] : null
  if (typeof fields === "string" || verdict === null || !isOwnForm(person, fields))
    return page(400, noApprovalPage("form"))
  const { sql, gate } = parts
  const { workspaceId, person: by, scopes } = person
  const found = await findApproval(parts, person, id)
  if ("status" in found) return found
  const proofQuestion = verdict === "approved" ? await askProof(parts, person, visit, fields) : null
  if (proofQuestion) return proofQuestion
  await gate.run(() => settleApproval(sql, { workspaceId, id }, { verdict, by, scopes }))
  return seeOther(visit.path)
}

function page(status: number, body: string): PageAnswer {
  return { status, headers: { "content-security-policy": APPROVAL_POLICY }, body }
}
