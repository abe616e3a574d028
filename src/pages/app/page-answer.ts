import { BYTE_ORDER_MARK } from "../../lib/csv.ts"
import type { Fault } from "../../lib/faults.ts"
import type { PageAnswer } from "../../ui/answer.ts"
import type { Page, PageContext } from "../../ui/app/context.ts"
import { APP_POLICY, framed } from "../../ui/app/frame.ts"

/** A page of /app as the response to a request. */
export function pageAnswer(context: PageContext, status: number, page: Page, fault?: Fault): PageAnswer {
  if (page.file) return fileAnswer(page.file)
  const { retryAfter } = fault ?? {}
  const headers = {
    "content-security-policy": APP_POLICY,
    "cross-origin-resource-policy": "same-origin",
    ...(retryAfter && { "retry-after": String(retryAfter) }),
  }
  // The response may be compressed: each page masks the form's token anew and has new confirm tokens, so its compressed
  // size does not reveal them.
  return { status, headers, body: framed(context, page), isCompressible: true }
}

function fileAnswer({ name, csv }: NonNullable<Page["file"]>): PageAnswer {
  const headers = {
    "content-type": "text/csv; charset=utf-8; header=present",
    "content-disposition": `attachment; filename="${name}"`,
    "content-security-policy": "default-src 'none'; sandbox",
  }
  return { status: 200, headers, body: BYTE_ORDER_MARK + csv, isCompressible: true }
}
