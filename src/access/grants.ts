import type { Db, Tx } from "../database/types.ts"

/** Sets when a grant expires, unless it is revoked earlier. */
export async function extendGrant(tx: Tx, keyId: number, until: Date): Promise<void> {
  await tx`
    update api_key
    set expires_at = ${until}
    where id = ${keyId} and kind = 'grant'`
}

/** Revokes a grant and all its tokens permanently. */
export async function revokeGrant(sql: Db, keyId: number): Promise<void> {
  await sql`
    update api_key
    set revoked_at = coalesce(revoked_at, now())
    where id = ${keyId} and kind = 'grant'`
}
