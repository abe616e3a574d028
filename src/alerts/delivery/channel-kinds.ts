import type { ChannelKind } from "./channel-kind.ts"
import { discord } from "./discord.ts"
import { email } from "./email.ts"
import { ntfy } from "./ntfy.ts"
import { slack } from "./slack.ts"
import { teams } from "./teams.ts"
import { telegram } from "./telegram.ts"
import { webhook } from "./webhook.ts"

const KINDS = { telegram, slack, webhook, ntfy, discord, teams, email }

export type Channel = keyof typeof KINDS

/** All kinds of channels by the name that is stored and that the API uses. The schema lists the names too. */
export const CHANNEL_KINDS: Readonly<Record<Channel, ChannelKind>> = KINDS

export const CHANNELS = Object.keys(KINDS) as Channel[]
