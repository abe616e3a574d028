import { createSealer } from "../access/sealed.ts"
import {
  addSlack,
  addTelegram,
  addWebhook,
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
import { testChannel } from "../alerts/delivery/test-channel.ts"
import { type Command, firstArgument, type Invocation, WrongUse } from "./cli/command.ts"
import { hasToken, readSecret, warnOfSecret } from "./cli/read-secret.ts"
import { printable, show, table } from "./cli/show.ts"
import { chooseWorkspace, useDatabase } from "./cli/with-database.ts"
import { guardedFetch } from "./process/guarded-fetch.ts"

const WORKSPACE = { value: "NAME", meaning: "The workspace. Optional if there is only one." }

export const channelAddWebhook: Command = {
  name: "channel add webhook",
  changes: true,
  summary: "Send alerts to a webhook, signed as Standard Webhooks.",
  details: "The signing secret is shown only once.",
  examples: [
    [
      "channel add webhook https://example.com/hooks/appmeter",
      "alerts of the rules that name the channel are posted there",
    ],
    ["channel add webhook - --json < url.txt", "read the address from stdin, to keep it out of the shell history"],
  ],
  positionals: ["url"],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const [typed] = invocation.positionals as [string]
    const url = typed === "-" ? await readSecret(invocation, "-", "the address") : typed
    const added = await changed(invocation, (register, workspaceId) => addWebhook(register, workspaceId, url))
    if (typed !== "-" && hasToken(typed))
      warnOfSecret(invocation, "the address has a token", "appmeter channel add webhook - < url.txt")
    showSecret(invocation, added)
    return 0
  },
}

export const channelAddTelegram: Command = {
  name: "channel add telegram",
  changes: true,
  summary: "Send alerts to a Telegram chat through your own bot.",
  examples: [
    ["channel add telegram --bot-token-file /run/secrets/bot --chat -1001234567890", "a group"],
    ["channel add telegram --bot-token-stdin --chat @ranks < bot.txt", "a public channel"],
  ],
  options: {
    workspace: WORKSPACE,
    chat: { value: "ID", meaning: "Number of the chat, or @NAME of a public channel." },
    "bot-token-file": { value: "FILE", meaning: "File that contains the bot's token." },
    "bot-token-stdin": { meaning: "Read the bot's token from stdin." },
  },
  async run(invocation) {
    const { text, has } = invocation
    const chat = text("chat")
    if (chat === undefined) throw new WrongUse("--chat is missing; give the chat that the bot writes to")
    const file = text("bot-token-file")
    if ((file !== undefined) === has("bot-token-stdin"))
      throw new WrongUse("give the bot's token with either --bot-token-file or --bot-token-stdin")
    const token = await readSecret(invocation, file ?? "-", "the bot's token")
    const added = await changed(invocation, (register, workspaceId) =>
      addTelegram(register, workspaceId, { token, chat }),
    )
    showChannels(invocation, added, [added.channel])
    return 0
  },
}

export const channelAddSlack: Command = {
  name: "channel add slack",
  changes: true,
  summary: "Send alerts to Slack through an incoming webhook.",
  details: "The address of the webhook is a secret, so it is read from a file or stdin.",
  examples: [
    ["channel add slack - < slack.txt", "the address from stdin"],
    ["channel add slack /run/secrets/slack", "from a file"],
  ],
  positionals: ["file"],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const url = await readSecret(invocation, firstArgument(invocation), "the address")
    const added = await changed(invocation, (register, workspaceId) => addSlack(register, workspaceId, url))
    showChannels(invocation, added, [added.channel])
    return 0
  },
}

export const channelList: Command = {
  name: "channel list",
  summary: "List a workspace's alert channels and failed deliveries.",
  examples: [["channel list", "id, kind, address, state and last delivery"]],
  options: { workspace: WORKSPACE },
  async run(invocation) {
    const channels = await changed(invocation, ({ sql }, workspaceId) => listChannels(sql, workspaceId))
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
    const { allowPrivateTargets, telegramApi } = invocation.settings
    const reach = { outbound: guardedFetch(allowPrivateTargets), telegramApi }
    const tested = await changed(invocation, (register, workspaceId) => testChannel(register, reach, workspaceId, id))
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
    const channel = await changed(invocation, ({ sql }, workspaceId) => pauseChannel(sql, workspaceId, id))
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
    const channel = await changed(invocation, ({ sql }, workspaceId) => resumeChannel(sql, workspaceId, id))
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
    const rotated = await changed(invocation, (register, workspaceId) => rotateSecret(register, workspaceId, id))
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
    const channel = await changed(invocation, async ({ sql }, workspaceId) => {
      const { kind, address } = await findChannel(sql, workspaceId, id)
      if (!invocation.has("force"))
        await invocation.terminal.confirm(`Removing ${id} (${kind}, ${printable(address)}) cannot be undone.`)
      return await removeChannel(sql, workspaceId, id)
    })
    showChannels(invocation, { removed: channel }, [channel])
    return 0
  },
}

async function changed<T>(
  invocation: Invocation,
  work: (register: Register, workspaceId: number) => Promise<T>,
): Promise<T> {
  const sealer = await createSealer(invocation.settings.secretKeys)
  return await useDatabase(invocation, async (sql) => {
    const { id } = await chooseWorkspace(sql, invocation.text("workspace"))
    return await work({ sql, sealer }, id)
  })
}

function showSecret(invocation: Invocation, { channel, secret }: NewChannel & { secret: string }): void {
  show(invocation, { secret, channel }, () => [secret])
  if (invocation.has("json")) return
  invocation.terminal.say(`${channel.id} signs with this secret. Save it now: it cannot be shown again.`)
}

function showChannels(invocation: Invocation, value: object, channels: ChannelRow[]): void {
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
      "no channels; add one with: appmeter channel add webhook, telegram or slack",
    ),
  )
}
