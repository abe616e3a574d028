import type { ReadPort, Subject } from "./due-kind.ts"

/** What nobody tracks is asked for by somebody who waits: for one answer, where whoever tracks it has several read. */
export async function isTracked({ kind, platform, storefront, subject }: Subject, { sql }: ReadPort): Promise<boolean> {
  const rows = await sql`
    select
    from tracked_subject
    where kind = ${kind} and platform = ${platform} and storefront = ${storefront} and subject = ${subject}
    limit 1`
  return rows.length > 0
}
