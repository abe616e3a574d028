import type { ReadPort, Subject } from "./due-kind.ts"

/**
 * Returns true if a workspace tracks the subject. An untracked subject is read for one waiting caller and gets a single
 * reading instead of several.
 */
export async function isTracked({ kind, platform, storefront, subject }: Subject, { sql }: ReadPort): Promise<boolean> {
  const rows = await sql`
    select
    from tracked_subject
    where kind = ${kind} and platform = ${platform} and storefront = ${storefront} and subject = ${subject}
    limit 1`
  return rows.length > 0
}
