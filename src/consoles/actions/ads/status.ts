import * as v from "valibot"
import { action, type Diff } from "../../../core/action.ts"
import type { Port, SendPort } from "../../../jobs/outside.ts"
import { described, named } from "../../../lib/schema.ts"
import { AppOfCampaign, CampaignId, KeywordId, OF_ADS, outsideOf, proofOf, sendChange } from "./declared.ts"
import { openCampaign, readKeyword, type SeenCampaign, type SeenKeyword } from "./things.ts"

const State = named(
  "AdsStatus",
  v.strictObject({ status: described(v.string(), "Status on the platform: ENABLED or PAUSED.") }),
)
const Result = v.strictObject({ id: v.string(), status: v.string() })

const CampaignArgs = v.strictObject({ appId: AppOfCampaign, campaignId: CampaignId })
const KeywordArgs = v.strictObject({ appId: AppOfCampaign, campaignId: CampaignId, keywordId: KeywordId })
type CampaignPlace = v.InferOutput<typeof CampaignArgs>
type KeywordPlace = v.InferOutput<typeof KeywordArgs>

const EXAMPLE = { appId: "app_4fD0Zs81hQbK", campaignId: "444555666" }

type Status = "PAUSED" | "ENABLED"
const VERBS: Record<Status, string> = { PAUSED: "Pause", ENABLED: "Resume" }

function campaignStatus<const Name extends string>(name: Name, to: Status, summary: string) {
  return action({
    ...OF_ADS,
    name,
    summary,
    description: "Requires a connected Apple Ads account with writes enabled (account writes on).",
    destructive: to === "PAUSED",
    args: CampaignArgs,
    example: EXAMPLE,
    state: State,
    result: Result,
    target: ({ campaignId }) => `campaign ${campaignId}`,
    diff(_, { campaignId }, seen) {
      const { status, budget } = seen as SeenCampaign
      const free = to === "ENABLED" && budget !== null ? [`From then on the campaign may spend ${budget} a day.`] : []
      return diffOf({ kind: "campaign", id: campaignId, name: `campaign ${campaignId}` }, { status, to, notes: free })
    },
    outside: outsideOf({
      read: async (args: CampaignPlace, port: Port) => (await openCampaign(args, port)).campaign,
      async send(args: CampaignPlace, port: SendPort, { status }: SeenCampaign) {
        const { way } = await openCampaign(args, port)
        const id = args.campaignId
        await sendChange({ thing: "campaigns", id, field: "status", from: status, to, currency: null }, way, port)
        return { id, status: to }
      },
      proof: proofOf<CampaignPlace>(({ campaignId: id }, before) => {
        return { thing: "campaigns", id, field: "status", from: (before as SeenCampaign).status, to }
      }),
    }),
  })
}

function keywordStatus<const Name extends string>(name: Name, to: Status, summary: string) {
  return action({
    ...OF_ADS,
    name,
    summary,
    description: "Requires a connected Apple Ads account with writes enabled (account writes on).",
    destructive: to === "PAUSED",
    args: KeywordArgs,
    example: { ...EXAMPLE, keywordId: "777888999" },
    state: State,
    result: Result,
    target: ({ keywordId }) => `keyword ${keywordId}`,
    diff(_, { keywordId }, seen) {
      const { status } = seen as SeenKeyword
      return diffOf({ kind: "ads_keyword", id: keywordId, name: `keyword ${keywordId}` }, { status, to, notes: [] })
    },
    outside: outsideOf({
      async read(args: KeywordPlace, port: Port) {
        const { way } = await openCampaign(args, port)
        return await readKeyword(way, args, port.signal)
      },
      async send(args: KeywordPlace, port: SendPort, { status }: SeenKeyword) {
        const { way } = await openCampaign(args, port)
        const id = args.keywordId
        await sendChange({ thing: "keywords", id, field: "status", from: status, to, currency: null }, way, port)
        return { id, status: to }
      },
      proof: proofOf<KeywordPlace>(({ keywordId: id }, before) => {
        return { thing: "keywords", id, field: "status", from: (before as SeenKeyword).status, to }
      }),
    }),
  })
}

function diffOf(target: Diff["target"], { status, to, notes }: { status: string; to: Status; notes: string[] }): Diff {
  return { summary: `${VERBS[to]} ${target.name}.`, target, before: { status }, after: { status: to }, notes }
}

export const pauseCampaign = campaignStatus("pause_campaign", "PAUSED", "Pauses a campaign, which stops its spend.")
export const resumeCampaign = campaignStatus("resume_campaign", "ENABLED", "Resumes a paused campaign.")
export const pauseKeyword = keywordStatus("pause_keyword", "PAUSED", "Pauses a bid keyword.")
export const resumeKeyword = keywordStatus("resume_keyword", "ENABLED", "Resumes a paused bid keyword.")
