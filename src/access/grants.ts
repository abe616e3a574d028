import type { Db, Tx } from "../database/types.ts"

/** Until when a grant may be used, if it is not revoked meanwhile. */
export async function extendGrant(tx: Tx, keyId: number, until: Date): Promise<void> {
  await tx`
    update api_key
    set expires_at = ${until}
    where id = ${keyId} and kind = 'grant'`
}

/** Ends a grant for good, with every token of it. */
export async function revokeGrant(sql: Db, keyId: number): Promise<void> {
  await sql`
    update api_key
    set revoked_at = coalesce(revoked_at, now())
    where id = ${keyId} and kind = 'grant'`
}
