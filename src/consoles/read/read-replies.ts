import type { TrackedApp } from "../../core/tracked-app.ts"
import type { Db } from "../../database/types.ts"
import { readPlayConsoles } from "../../tracking/tracked-app.ts"

interface ConsoleReply {
  reviewId: string
  text: string
  /** Time when the reply was last changed. */
  at: Date
}

/** Returns the developer's replies to these reviews, as a Google Play Console of the workspace last listed them. */
export async function readConsoleReplies(
  sql: Db,
  { id, androidApp }: Pick<TrackedApp, "id" | "androidApp">,
  reviewIds: readonly string[],
): Promise<ConsoleReply[]> {
  const accounts = androidApp === null ? [] : await readPlayConsoles(sql, id)
  if (accounts.length === 0) return []
  return await sql<ConsoleReply[]>`
    select distinct on (review_id) review_id as "reviewId", reply as text, reply_at as at
    from console_review
    where account_id = any(${accounts}::text[]) and app_id = ${androidApp}
      and review_id = any(${reviewIds as string[]}::text[]) and reply is not null
    order by review_id, seen_at desc, account_id
    limit ${reviewIds.length}`
}
