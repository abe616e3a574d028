import { isOwnForm, type Owner, type Owners, signInAddress } from "../../access/sign-in/owner.ts"
import type { Gate } from "../../database/gate.ts"
import type { Sql } from "../../database/types.ts"
import { type PageAnswer, seeOther } from "../../ui/answer.ts"
import { fieldOf, readForm } from "../../ui/form.ts"
import type { PageRoute, PageVisit } from "../../ui/routes.ts"
import { type Approval, listApprovals, settleApproval } from "../approvals.ts"
import { APPROVAL_POLICY, approvalPage, noApprovalPage, sampleApprovalPage, waitingPage } from "./page.ts"

interface ApprovalParts {
  sql: Sql
  gate: Pick<Gate, "run">
  owners: Owners
}

/**
 * The pages where a signed-in owner lists, approves and declines pending writes. Others are redirected to sign in, and
 * then back.
 */
export function approvalRoutes(parts: ApprovalParts): PageRoute[] {
  const { sql, gate } = parts
  return [
    {
      path: "/approve",
      methods: ["GET", "HEAD"],
      open: signedIn(parts, async (owner) => {
        return page(200, waitingPage(await gate.run(() => listApprovals(sql, { workspaceId: owner.workspaceId }))))
      }),
    },
    { path: "/approve/sample", methods: ["GET", "HEAD"], open: async () => page(200, sampleApprovalPage()) },
    {
      path: "/approve/(?<id>ap_[0-9a-f]{18})",
      methods: ["GET", "HEAD", "POST"],
      open: signedIn(parts, async (owner, visit) => {
        const id = visit.path.slice("/approve/".length)
        if (visit.request.method === "POST") return await settle(parts, owner, id, visit)
        const [approval] = await gate.run(() => listApprovals(sql, { workspaceId: owner.workspaceId, id }))
        return approval ? shown(owner, approval) : page(404, noApprovalPage())
      }),
    },
  ]
}

type OwnerPage = (owner: Owner, visit: PageVisit) => Promise<PageAnswer>

function signedIn({ owners }: ApprovalParts, open: OwnerPage): PageRoute["open"] {
  return async (visit) => {
    const owner = await owners.ownerOf(visit.request)
    return owner ? await open(owner, visit) : seeOther(signInAddress(visit.path))
  }
}

function shown(owner: Owner, approval: Approval): PageAnswer {
  return page(200, approvalPage(approval, owner, new Date()))
}

const MAX_BYTES = 4_096
const VERDICTS = { approve: "approved", decline: "declined" } as const

/**
 * Handles the form. A form from another site lacks this session's token and is refused. An earlier decision stays, and
 * the page shows it.
 */
async function settle({ sql, gate }: ApprovalParts, owner: Owner, id: string, visit: PageVisit): Promise<PageAnswer> {
  const fields = await readForm(visit.request, MAX_BYTES)
  const answer = typeof fields === "string" ? undefined : fieldOf(fields, "verdict")
  const verdict =
    answer !== undefined && Object.hasOwn(VERDICTS, answer) ? VERDICTS[answer as keyof typeof VERDICTS] : null
  if (typeof fields === "string" || verdict === null || !isOwnForm(owner, fields))
    return page(400, noApprovalPage("form"))
  const { workspaceId, workspace } = owner
  const by = `the owner of ${workspace}, signed in`
  await gate.run(() => settleApproval(sql, { workspaceId, id }, { verdict, by }))
  return seeOther(visit.path)
}

function page(status: number, body: string): PageAnswer {
  return { status, headers: { "content-security-policy": APPROVAL_POLICY }, body }
}
