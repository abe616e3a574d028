import type { Sealer } from "../../access/sealed.ts"
import type { Channel } from "../rules.ts"
import type { ChannelAccess } from "./message.ts"

export type ChannelSecret = { url: string; secret: string } | { token: string; chat: string } | { url: string }

export interface SealedChannel {
  id: string
  kind: Channel
  sealed: string
  /** The webhook's earlier secret while it is valid. */
  sealedEarlier: string | null
}

export async function sealInside(sealer: Sealer, id: string, inside: ChannelSecret | string): Promise<string> {
  return await sealer.seal(JSON.stringify(inside), placeOf(id))
}

/** Decrypts a channel. Throws AccessProblem if there is no key, the key is different, or the row was changed. */
export async function openChannel(
  sealer: Sealer,
  { id, kind, sealed, sealedEarlier }: SealedChannel,
): Promise<ChannelAccess> {
  const inside = JSON.parse(await sealer.open(sealed, placeOf(id)))
  if (kind !== "webhook") return { kind, ...inside }
  const { url, secret } = inside
  const earlier = sealedEarlier === null ? [] : [JSON.parse(await sealer.open(sealedEarlier, placeOf(id)))]
  return { kind, url, secrets: [secret, ...earlier] }
}

function placeOf(row: string) {
  return { table: "channel", row }
}
