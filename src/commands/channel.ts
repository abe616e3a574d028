import { createSealer } from "../access/sealed.ts"
import { CHANNELS } from "../alerts/delivery/channel-kinds.ts"
import {
  type ChannelRow,
  findChannel,
  listChannels,
  type NewChannel,
  pauseChannel,
  type Register,
  removeChannel,
  resumeChannel,
  rotateSecret,
} from "../alerts/delivery/channels.ts"
import { openMailPort } from "../alerts/delivery/mail-port.ts"
import { testChannel } from "../alerts/delivery/test-channel.ts"
import { createMailer } from "../outbound/mail/smtp.ts"
import type { Command, Invocation } from "./cli/command.ts"
import { printable, show, table } from "./cli/show.ts"
import { chooseWorkspace, useDatabase } from "./cli/with-database.ts"
import { guardedFetch } from "./process/guarded-fetch.ts"
import { addressOf } from "./sign-in.ts"

/** The option of all commands about channels. */
export const WORKSPACE = { value: "NAME", meaning: "The workspace. Optional if there is only one." }

export const channelList: Command = {
  name: "channel list",
  summary: "List a workspace's alert channels and failed deliveries.",
  examples: [["channel list", "id, kind, address, state and last delivery"]],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const channels = await changeChannels(invocation, ({ sql }, workspaceId) => listChannels(sql, workspaceId))
    showChannels(invocation, { channels }, channels)
    return 0
  },
}

export const channelTest: Command = {
  name: "channel test",
  summary: "Send a test message to a channel and show the result.",
  details: "A disabled channel that accepts the message is enabled again.",
  examples: [["channel test ch_0123456789abcdef01", "exit code 1 if the message was not accepted"]],
  positionals: ["id"],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const [id] = invocation.positionals as [string]
    const { allowPrivateTargets, telegramApi, mail } = invocation.settings
    const publicUrl = addressOf(invocation.settings)
    const tested = await changeChannels(invocation, (register, workspaceId) => {
      const port = mail && openMailPort(register.sql, { mailer: createMailer(mail), publicUrl })
      const reach = { outbound: guardedFetch(allowPrivateTargets), telegramApi, mail: port }
      return testChannel(register, reach, workspaceId, id)
    })
    show(invocation, tested, () => [tested.taken ? "delivered" : `not delivered: ${tested.failure}`])
    return tested.taken ? 0 : 1
  },
}

export const channelPause: Command = {
  name: "channel pause",
  changes: true,
  summary: "Pause a channel. Alerts found meanwhile are not delivered later.",
  examples: [["channel pause ch_0123456789abcdef01", "undo: appmeter channel resume ch_0123456789abcdef01"]],
  positionals: ["id"],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const [id] = invocation.positionals as [string]
    const channel = await changeChannels(invocation, ({ sql }, workspaceId) => pauseChannel(sql, workspaceId, id))
    showChannels(invocation, { channel }, [channel])
    return 0
  },
}

export const channelResume: Command = {
  name: "channel resume",
  changes: true,
  summary: "Resume a paused channel.",
  examples: [["channel resume ch_0123456789abcdef01", "undo: appmeter channel pause ch_0123456789abcdef01"]],
  positionals: ["id"],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const [id] = invocation.positionals as [string]
    const channel = await changeChannels(invocation, ({ sql }, workspaceId) => resumeChannel(sql, workspaceId, id))
    showChannels(invocation, { channel }, [channel])
    return 0
  },
}

export const channelRotate: Command = {
  name: "channel rotate",
  changes: true,
  summary: "Replace a webhook's signing secret. The new one is shown only once.",
  details: "Messages are signed with both secrets for 24 hours.",
  examples: [["channel rotate ch_0123456789abcdef01", "the receiver has a day to switch"]],
  positionals: ["id"],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const [id] = invocation.positionals as [string]
    const rotated = await changeChannels(invocation, (register, workspaceId) => rotateSecret(register, workspaceId, id))
    showSecret(invocation, rotated)
    return 0
  },
}

export const channelRemove: Command = {
  name: "channel remove",
  changes: true,
  summary: "Remove a channel and its pending deliveries.",
  examples: [["channel remove ch_0123456789abcdef01 --force", "skip the confirmation"]],
  positionals: ["id"],
  options: { workspace: WORKSPACE, force: { meaning: "Skip the confirmation." } },
  async run(invocation) {
    const [id] = invocation.positionals as [string]
    const channel = await changeChannels(invocation, async ({ sql }, workspaceId) => {
      const { kind, address } = await findChannel(sql, workspaceId, id)
      if (!invocation.has("force"))
        await invocation.terminal.confirm(`Removing ${id} (${kind}, ${printable(address)}) cannot be undone.`)
      return await removeChannel(sql, workspaceId, id)
    })
    showChannels(invocation, { removed: channel }, [channel])
    return 0
  },
}

/** Runs a command's work with the workspace that it names. Throws CommandProblem and AccessProblem. */
export async function changeChannels<T>(
  invocation: Invocation,
  work: (register: Register, workspaceId: number) => Promise<T>,
): Promise<T> {
  const sealer = await createSealer(invocation.settings.secretKeys)
  return await useDatabase(invocation, async (sql) => {
    const { id } = await chooseWorkspace(sql, invocation.text("workspace"))
    return await work({ sql, sealer }, id)
  })
}

/** Prints a new signing secret alone on stdout, for scripts that store it. */
export function showSecret(invocation: Invocation, { channel, secret }: Required<NewChannel>): void {
  show(invocation, { secret, channel }, () => [secret])
  if (invocation.has("json")) return
  invocation.terminal.say(`${channel.id} signs with this secret. Save it now: it cannot be shown again.`)
}

/** Shows channels as a table, or `value` as JSON. */
export function showChannels(invocation: Invocation, value: object, channels: ChannelRow[]): void {
  const minute = (at: Date | null) => at?.toISOString().slice(0, 16) ?? null
  show(invocation, value, () =>
    table(
      ["ID", "KIND", "ADDRESS", "STATE", "WAITING", "UNDELIVERED", "LAST OK", "LAST FAILURE", "WHY"],
      channels.map((channel) => [
        channel.id,
        channel.kind,
        printable(channel.address),
        channel.state,
        channel.waiting,
        channel.undelivered,
        minute(channel.lastOk),
        minute(channel.lastFailure),
        channel.disabled ?? channel.failure,
      ]),
      `no channels; add one with: appmeter channel add ${CHANNELS.join(", ")}`,
    ),
  )
}
