import type { Sealer } from "../../access/sealed.ts"
import type { Channel } from "./channel-kinds.ts"
import type { ChannelSecret } from "./message.ts"

export interface SealedChannel {
  id: string
  kind: Channel
  sealed: string
  /** The webhook's earlier secret while it is valid. */
  sealedEarlier: string | null
}

/** A decrypted channel. A webhook's earlier secret is in `earlier` while it is valid. */
export interface OpenedChannel {
  kind: Channel
  secret: ChannelSecret
}

export async function sealInside(sealer: Sealer, id: string, inside: ChannelSecret | string): Promise<string> {
  return await sealer.seal(JSON.stringify(inside), placeOf(id))
}

/** Decrypts a channel. Throws AccessProblem if there is no key, the key is different, or the row was changed. */
export async function openChannel(
  sealer: Sealer,
  { id, kind, sealed, sealedEarlier }: SealedChannel,
): Promise<OpenedChannel> {
  const inside = JSON.parse(await sealer.open(sealed, placeOf(id)))
  if (sealedEarlier === null) return { kind, secret: inside }
  return { kind, secret: { ...inside, earlier: JSON.parse(await sealer.open(sealedEarlier, placeOf(id))) } }
}

function placeOf(row: string) {
  return { table: "channel", row }
}
