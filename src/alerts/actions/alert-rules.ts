import * as v from "valibot"
import { type AdsWatch, readAdsWatch } from "../../consoles/ads/read/watched.ts"
import { action, type Diff, type LookContext } from "../../core/action.ts"
import { Fault } from "../../lib/faults.ts"
import { described, named } from "../../lib/schema.ts"
import { Count } from "../../lib/shapes.ts"
import { holdAccount } from "../../tracking/limits.ts"
import type { RuleOption } from "../alert-type.ts"
import { CHANNELS, type Channel } from "../delivery/channel-kinds.ts"
import { type AlertRule, DROP_BY, KEYWORD_SCOPES, RIVAL_SCOPES, takes } from "../rules.ts"
import { feedType, RULE_TYPES, type RuleType } from "../types.ts"

const Type = named("AlertRuleType", v.picklist(RULE_TYPES), "Alert type, as in the alert feed.")

const Rule = v.strictObject({
  type: Type,
  channels: v.optional(
    described(
      v.pipe(v.array(v.picklist(CHANNELS)), v.maxLength(100)),
      "Default: the connected channels of the workspace. Empty: only the feed.",
    ),
  ),
  dropBy: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(DROP_BY.least),
      v.maxValue(DROP_BY.most),
      v.description(`rank_drop only: minimum fall in places. Default: ${DROP_BY.least}.`),
    ),
  ),
  keywordScope: v.optional(
    described(
      v.picklist(KEYWORD_SCOPES),
      "tagged: only keywords with a tag. Default: all. Only for types about keywords.",
    ),
  ),
  rivalScope: v.optional(
    described(
      v.picklist(RIVAL_SCOPES),
      "manual: only rivals added by hand. Default: all. Only for types about rivals.",
    ),
  ),
})

/** A stored rule with all of its options. */
const Standing = named(
  "AlertRule",
  v.strictObject({
    type: Type,
    channels: v.array(v.picklist(CHANNELS)),
    dropBy: v.nullable(Count),
    keywordScope: v.nullable(v.picklist(KEYWORD_SCOPES)),
    rivalScope: v.nullable(v.picklist(RIVAL_SCOPES)),
  }),
)
const RuleState = named("AlertRuleState", v.strictObject({ rule: v.nullable(Standing) }))

export const createAlertRule = action({
  name: "create_alert_rule",
  summary: "Creates or replaces the delivery rule of an alert type.",
  description:
    "The feed lists every alert; a rule adds delivery for all apps of the workspace. Each type has one rule: " +
    "creating it again replaces the whole rule, including omitted fields.",
  scope: "track:write",
  plan: "free",
  credits: 2,
  destructive: false,
  args: Rule,
  example: { type: "rank_drop", dropBy: 5, keywordScope: "tagged" },
  state: RuleState,
  result: v.strictObject({ rule: Standing, created: described(v.boolean(), "False if it replaced a rule.") }),
  refine(args) {
    for (const option of ["dropBy", "keywordScope", "rivalScope"] as const)
      if (args[option] !== undefined && !takes(args.type, option))
        throw new Fault("invalid_arguments", {
          field: option,
          detail: `A rule for ${args.type} has no option ${option}. Omit it.`,
        })
    return args
  },
  target: ({ type }) => `alert_rule ${type}`,
  async look({ type }, looking) {
    refuseLimited(looking)
    const storedRule = await readRule(looking, type)
    return { storedRule, channels: await readChannels(looking), has: await readContents(looking) }
  },
  diff({ storedRule, channels, has }, args) {
    const rule = ruleOf(args, channels)
    const same = storedRule !== null && JSON.stringify(storedRule) === JSON.stringify(rule)
    const to = rule.channels.length > 0 ? `by ${rule.channels.join(", ")}` : "nowhere"
    return {
      summary: same
        ? `Change nothing: ${rule.type} alerts are delivered ${to} already.`
        : `Deliver ${rule.type} alerts ${to}${storedRule ? ", with changed conditions" : ""}.`,
      ...diffOf(rule.type, storedRule, rule),
      notes: notesOn(rule, channels, has),
    }
  },
  async write(args, { storedRule, channels: connected }, { tx, caller }) {
    const rule = ruleOf(args, connected)
    const { type, channels, dropBy, keywordScope, rivalScope } = rule
    await tx`
      insert into alert_rule (workspace_id, type, channels, drop_by, keyword_scope, rival_scope, created_by)
      values (
        ${caller.workspaceId}, ${type}, ${channels}::text[], ${dropBy}, ${keywordScope}, ${rivalScope}, ${caller.keyId}
      )
      on conflict (workspace_id, type) do update
      set channels = excluded.channels, drop_by = excluded.drop_by, keyword_scope = excluded.keyword_scope,
        rival_scope = excluded.rival_scope, updated_at = now()`
    return { rule, created: storedRule === null }
  },
})

export const deleteAlertRule = action({
  name: "delete_alert_rule",
  summary: "Deletes the delivery rule of an alert type.",
  description: "The feed still lists these alerts. If the type has no rule, nothing changes.",
  scope: "track:write",
  plan: "free",
  credits: 0,
  destructive: true,
  args: v.strictObject({ type: Type }),
  example: { type: "rank_drop" },
  state: RuleState,
  result: v.strictObject({ removed: v.nullable(Standing) }),
  target: ({ type }) => `alert_rule ${type}`,
  async look({ type }, looking) {
    refuseLimited(looking)
    return await readRule(looking, type)
  },
  diff: (storedRule, { type }) => ({
    summary:
      storedRule === null
        ? `Change nothing: there is no rule that delivers ${type} alerts.`
        : `Deliver ${type} alerts no longer. The feed still lists them.`,
    ...diffOf(type, storedRule, null),
    notes: [],
  }),
  async write({ type }, storedRule, { tx, caller }) {
    await tx`
      delete from alert_rule
      where workspace_id = ${caller.workspaceId} and type = ${type}`
    return { removed: storedRule }
  },
})

/** Throws app_not_allowed for a key limited to some apps, because a rule applies to all apps of the workspace. */
function refuseLimited({ caller }: LookContext): void {
  if (caller.appList) throw new Fault("app_not_allowed")
}

async function readRule({ sql, caller, lock }: LookContext, type: RuleType): Promise<AlertRule | null> {
  if (lock) await holdAccount(sql, caller)
  const [rule] = await sql<AlertRule[]>`
    select type, channels, drop_by as "dropBy", keyword_scope as "keywordScope", rival_scope as "rivalScope"
    from alert_rule
    where workspace_id = ${caller.workspaceId} and type = ${type}
    ${lock ? sql`for update` : sql``}`
  return rule ?? null
}

interface ConnectedKind {
  kind: Channel
  /** True if all channels of this kind are disabled. */
  disabled: boolean
}

async function readChannels({ sql, caller }: LookContext): Promise<ConnectedKind[]> {
  return await sql<ConnectedKind[]>`
    select kind, bool_and(disabled is not null) as disabled
    from channel
    where workspace_id = ${caller.workspaceId}
    group by kind
    order by kind`
}

interface Contents {
  app: boolean
  iosApp: boolean
  tag: boolean
  manualRival: boolean
  /** Null if no ads account other than the demo's is connected. */
  ads: AdsWatch | null
}

/** Reads what rules depend on: the workspace's apps, tags, rivals and ads account. */
async function readContents({ sql, caller }: LookContext): Promise<Contents> {
  const [has] = await sql<[Omit<Contents, "ads">]>`
    select count(*) > 0 as app, count(ios_app) > 0 as "iosApp", count(keyword_tags) > 0 as tag,
      count(*) filter (where cardinality(manual_rivals) > 0) > 0 as "manualRival"
    from tracked_app
    where workspace_id = ${caller.workspaceId}`
  return { ...has, ads: await readAdsWatch(sql, caller.workspaceId) }
}

/** Returns the rule with defaults for omitted options. */
function ruleOf(
  { type, channels, dropBy, keywordScope, rivalScope }: v.InferOutput<typeof Rule>,
  connected: readonly ConnectedKind[],
): AlertRule {
  const named = channels ?? connected.map(({ kind }) => kind)
  const option = <T>(name: RuleOption, given: T | undefined, usual: T) => (takes(type, name) ? (given ?? usual) : null)
  return {
    type,
    channels: CHANNELS.filter((channel) => named.includes(channel)),
    dropBy: option("dropBy", dropBy, DROP_BY.least),
    keywordScope: option("keywordScope", keywordScope, "all"),
    rivalScope: option("rivalScope", rivalScope, "all"),
  }
}

function diffOf(
  type: RuleType,
  before: AlertRule | null,
  after: AlertRule | null,
): Pick<Diff, "target" | "before" | "after"> {
  return { target: { kind: "alert_rule", id: type, name: type }, before: { rule: before }, after: { rule: after } }
}

/** Returns the reasons why the rule delivers nothing, or nothing yet. */
function notesOn(rule: AlertRule, connected: readonly ConnectedKind[], has: Contents): string[] {
  const { type, channels, keywordScope, rivalScope } = rule
  const about = feedType(type)
  const missing = channels.filter((channel) => !connected.some(({ kind }) => kind === channel))
  const off = channels.filter((channel) => connected.some(({ kind, disabled }) => kind === channel && disabled))
  return [
    ...(channels.length === 0 ? ["Without a channel nothing is delivered; alerts appear only in the feed."] : []),
    ...(missing.length > 0 ? [`Not connected yet, so nothing is delivered there: ${missing.join(", ")}.`] : []),
    ...(off.length > 0 ? [`Disabled, so nothing is delivered there: ${off.join(", ")}.`] : []),
    ...(about.ofAds ? adsNotes(has.ads) : []),
    ...(has.app ? [] : ["The workspace tracks no app yet."]),
    ...(has.app && !has.iosApp && about.appStoreOnly
      ? ["This type needs an app on the App Store, and the workspace tracks none there."]
      : []),
    ...(keywordScope === "tagged" && !has.tag ? ["No keyword of the workspace has a tag yet."] : []),
    ...(rivalScope === "manual" && !has.manualRival ? ["No rival was added by hand yet. add_rivals adds rivals."] : []),
  ]
}

function adsNotes(ads: AdsWatch | null): string[] {
  const what = "It reports changes by other programs, from the change history of Apple Ads"
  if (ads === null)
    return [
      "Without a connected Apple Ads account there are no alerts. " +
        `Connect one with: appmeter account add apple-ads. ${what}.`,
    ]
  if (ads.state === "ok" && ads.why === null)
    return [`${what}. Rules of ad tools are included, because the history does not separate them.`]
  return [
    `The Apple Ads account ${ads.id} is ${ads.state}${ads.why === null ? "" : ` (${ads.why})`}: ` +
      "there are no new alerts until that is fixed.",
  ]
}
