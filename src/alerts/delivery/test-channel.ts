import { randomUUID } from "node:crypto"
import { testMessage } from "./alert-message.ts"
import { type ChannelRow, findChannel, noteTest, type Register, readSealedChannel } from "./channels.ts"
import type { SendPort } from "./message.ts"
import { storeMoved } from "./moved.ts"
import { openChannel } from "./sealed-channel.ts"
import { send } from "./send.ts"
import { ATTEMPT_MS } from "./worker.ts"

interface TestedChannel {
  taken: boolean
  /** Why the receiver did not accept the message. Null if it did. */
  failure: string | null
  channel: ChannelRow
}

/** Sends a test message from this process, whether a server runs or not. Throws AccessProblem. */
export async function testChannel(
  { sql, sealer }: Register,
  { outbound, telegramApi, mail }: Pick<SendPort, "outbound" | "telegramApi" | "mail">,
  workspaceId: number,
  id: string,
): Promise<TestedChannel> {
  const channel = await readSealedChannel(sql, workspaceId, id)
  const opened = await openChannel(sealer, channel)
  const now = () => new Date()
  const signal = new AbortController().signal
  const message = testMessage(`msg_${randomUUID().replaceAll("-", "")}`, now())
  const port = { outbound, telegramApi, mail, channelId: id, signal, now, timeoutMs: ATTEMPT_MS }
  const sent = await send(opened, message, port, async (moved) => {
    return (await storeMoved({ sql, sealer }, channel, moved)) !== null
  })
  const failure = sent.result === "delivered" ? null : sent.failure
  await noteTest(sql, id, failure)
  return { taken: failure === null, failure, channel: await findChannel(sql, workspaceId, id) }
}
