import type { ChannelField, ChannelKind } from "../alerts/delivery/channel-kind.ts"
import { CHANNEL_KINDS, CHANNELS, type Channel } from "../alerts/delivery/channel-kinds.ts"
import { addChannel } from "../alerts/delivery/channels.ts"
import { changeChannels, showChannels, showSecret, WORKSPACE } from "./channel.ts"
import { type Command, firstArgument, type Invocation, type Option, WrongUse } from "./cli/command.ts"
import { hasToken, readSecret, warnOfSecret } from "./cli/read-secret.ts"

/** `channel add`, one command for each kind of channel. */
export const channelAdds: Command[] = CHANNELS.map((kind) => channelAdd(kind, CHANNEL_KINDS[kind]))

function channelAdd(kind: Channel, { fields, summary, details, examples }: ChannelKind): Command {
  const command = `channel add ${kind}`
  const argument = fields.find(({ option }) => option === undefined)
  const options = Object.assign({ workspace: WORKSPACE }, ...fields.map(optionsOf)) as Record<string, Option>
  return {
    name: command,
    changes: true,
    summary,
    ...(details !== undefined && { details }),
    examples: examples.map(([typed, does]) => [`${command} ${typed}`, does]),
    ...(argument && { positionals: [argument.isSecret ? "file" : argument.name] }),
    options,
    async run(invocation) {
      checkOptions(invocation, fields)
      const entered: Record<string, string> = {}
      for (const field of fields) entered[field.name] = await readField(invocation, field)
      const added = await changeChannels(invocation, (register, workspaceId) =>
        addChannel(register, workspaceId, kind, entered),
      )
      const { channel, secret } = added
      if (argument && !argument.isSecret) warnOfToken(invocation, command, argument)
      if (secret === undefined) showChannels(invocation, { channel }, [channel])
      else showSecret(invocation, { channel, secret })
      return 0
    },
  }
}

function optionsOf({ option, isSecret }: ChannelField): Record<string, Option> {
  if (!option) return {}
  const { name, value, meaning } = option
  if (!isSecret) return { [name]: { value, meaning } }
  return {
    [`${name}-file`]: { value, meaning: `File that contains ${meaning}.` },
    [`${name}-stdin`]: { meaning: `Read ${meaning} from stdin.` },
  }
}

/** Checks the options before anything is read from stdin. Throws WrongUse. */
function checkOptions({ has }: Invocation, fields: readonly ChannelField[]): void {
  for (const { option, isSecret, isOptional, noun } of fields)
    if (option && !isSecret && !isOptional && !has(option.name))
      throw new WrongUse(`--${option.name} is missing; give ${noun}`)
  for (const { option, isSecret, isOptional, noun } of fields) {
    if (!(option && isSecret)) continue
    const [isFile, isStdin] = [has(`${option.name}-file`), has(`${option.name}-stdin`)]
    if (isFile === isStdin && !(isOptional && !isFile))
      throw new WrongUse(`give ${noun} with either --${option.name}-file or --${option.name}-stdin`)
  }
}

async function readField(invocation: Invocation, field: ChannelField): Promise<string> {
  const { option, isSecret, noun } = field
  if (!option) return isSecret ? await readSecret(invocation, firstArgument(invocation), noun) : await typed()
  if (!isSecret) return invocation.text(option.name)?.trim() ?? ""
  const file = invocation.text(`${option.name}-file`) ?? (invocation.has(`${option.name}-stdin`) ? "-" : undefined)
  return file === undefined ? "" : await readSecret(invocation, file, noun)

  /** Reads an argument that is usually typed. "-" reads it from stdin. */
  async function typed(): Promise<string> {
    const text = firstArgument(invocation)
    return text === "-" ? await readSecret(invocation, "-", noun) : text
  }
}

function warnOfToken(invocation: Invocation, command: string, { noun }: ChannelField): void {
  if (hasToken(firstArgument(invocation)))
    warnOfSecret(invocation, `${noun} has a token`, `appmeter ${command} - < url.txt`)
}
