import { accountOf, type Call, message } from "./calls.ts"
import { dayBefore, IOS_RIVALS } from "./readings.ts"

/** A call of a script, which may take values from its answer for later calls. */
export interface Step extends Call {
  /** Values to take from the answer: the field by the alias that later calls use. */
  takes?: Record<string, string>
  /** Repeats the call until the answer's field has one of these values. */
  until?: { field: string; values: readonly string[] }
}

/** A write with its arguments. With `again`, the same preview is confirmed a second time. */
interface Write {
  action: string
  args: Record<string, unknown>
  /** True for a write by a job at a console, which ends after the confirm. */
  isJob?: true
}

function writes(now: Date): Write[] {
  const appId = "@{tea}"
  const campaign = { appId, campaignId: "444555666" }
  return [
    { action: "add_app", args: { iosId: "910000001", name: "New one", keywords: ["tea timer", "new term"] } },
    { action: "add_app", args: { androidPkg: "com.example.newone", countries: ["us", "de"] } },
    { action: "add_keywords", args: { appId, keywords: ["jasmine", "  Jasmine ", "green tea"] } },
    { action: "add_keywords", args: { appId, keywords: ["green tea"] } },
    { action: "remove_keywords", args: { appId, keywords: ["jasmine", "not there"] } },
    { action: "add_rivals", args: { appId, rivals: [`ios:${IOS_RIVALS[4]}`, "android:com.rival.app3"] } },
    { action: "remove_rivals", args: { appId, rivals: [`ios:${IOS_RIVALS[4]}`] } },
    { action: "create_share_link", args: { appId, country: "us", days: 3 } },
    { action: "create_share_link", args: { appId, country: "gb", password: "hunter22 hunter22" } },
    { action: "export_data", args: { appId, dataset: "keywords", country: "us" } },
    {
      action: "export_data",
      args: {
        appId,
        dataset: "history",
        country: "us",
        format: "json",
        from: dayBefore(now, 9),
        to: dayBefore(now, 2),
      },
    },
    { action: "export_data", args: { appId, dataset: "reviews", country: "us" } },
    { action: "mark_alerts_read", args: { appId: "@{kettle}" } },
    { action: "mark_alerts_read", args: { read: false, until: dayBefore(now, 2) } },
    { action: "create_alert_rule", args: { type: "rank_drop", dropBy: 9, keywordScope: "all" } },
    { action: "create_alert_rule", args: { type: "rank_drop", dropBy: 4, channels: ["webhook"] } },
    { action: "delete_alert_rule", args: { type: "rank_drop" } },
    { action: "reply_review", args: { appId, reviewId: "rev1", response: "Thank you, 4.3 fixes it." }, isJob: true },
    { action: "update_listing", args: { appId, locale: "en-US", fields: { subtitle: "Brew better" } }, isJob: true },
    { action: "pause_campaign", args: campaign, isJob: true },
    { action: "resume_campaign", args: campaign, isJob: true },
    { action: "set_daily_budget", args: { ...campaign, amount: 22, currency: "EUR" }, isJob: true },
    { action: "set_keyword_bid", args: { ...campaign, keywordId: "81", amount: 1.3 }, isJob: true },
    { action: "pause_keyword", args: { ...campaign, keywordId: "81" }, isJob: true },
    { action: "resume_keyword", args: { ...campaign, keywordId: "81" }, isJob: true },
    { action: "add_negative_keyword", args: { ...campaign, text: "pot" }, isJob: true },
    {
      action: "add_exact_keyword",
      args: { ...campaign, adGroupId: "71", text: "tea clock", amount: 0.9 },
      isJob: true,
    },
  ]
}

/** Runs every write: refused, previewed, confirmed, confirmed again, as a tool, against a changed target. */
export function writeSteps(now: Date): Step[] {
  const steps: Step[] = []
  const all = writes(now)
  for (const [index, write] of all.entries()) {
    steps.push(...refusals(write))
    steps.push(...confirmed(write, `w${index}`))
  }
  for (const [index, write] of all.slice(0, 17).entries()) steps.push(...confirmedByTool(write, `t${index}`))
  steps.push(...drift())
  steps.push(...tokens())
  steps.push(...afterwards())
  return steps
}

function preview({ action, args }: Write, state: string, options: Partial<Step> = {}): Step {
  return post("/v1/actions", action, `preview: ${state}`, { action, args }, options)
}

function confirm(token: string, action: string, state: string, options: Partial<Step> = {}): Step {
  return post("/v1/actions/confirm", action, `confirm: ${state}`, { confirmToken: token }, options)
}

function post(path: string, operation: string, state: string, body: unknown, options: Partial<Step> = {}): Step {
  const { key = "full" } = options
  return {
    operation,
    surface: "write",
    state,
    method: "POST",
    path,
    key,
    account: accountOf(key),
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...options,
  }
}

function* refusals(write: Write): Generator<Step> {
  for (const key of ["reader", "limited", "test", "free", "pro", "poor", "revoked", null])
    yield preview(write, `key ${key}`, { key })
  for (const field of Object.keys(write.args)) {
    const { [field]: _, ...rest } = write.args
    yield preview({ ...write, args: rest }, `without ${field}`)
    yield preview({ ...write, args: { ...write.args, [field]: { odd: true } } }, `odd ${field}`)
  }
  yield preview({ ...write, args: { ...write.args, nothing: 1 } }, "unknown argument")
  if ("appId" in write.args)
    yield preview({ ...write, args: { ...write.args, appId: "@{tea:pro}" } }, "other workspace's app")
}

function* confirmed(write: Write, alias: string): Generator<Step> {
  const { action } = write
  yield preview(write, "shown", { takes: { [alias]: "confirmToken" } })
  yield confirm(`@{${alias}}`, action, "by another key", { key: "tracker" })
  yield confirm(`@{${alias}}`, action, "first", write.isJob ? { takes: { [`${alias}:job`]: "jobId" } } : {})
  yield confirm(`@{${alias}}`, action, "again")
  if (write.isJob)
    yield {
      ...get(`/v1/jobs/@{${alias}:job}`, action, "job"),
      until: { field: "status", values: ["done", "failed", "unknown", "confirmed"] },
    }
}

function* confirmedByTool(write: Write, alias: string): Generator<Step> {
  const tool = (name: string, state: string, args: unknown): Step => ({
    ...message(write.action, state, "tools/call", { name, arguments: args }, "full"),
    surface: "write",
  })
  const toolPreview = tool("preview_action", "tool preview", { action: write.action, args: write.args })
  yield { ...toolPreview, takes: { [alias]: "result.structuredContent.confirmToken" } }
  yield tool("confirm_action", "tool confirm", { confirmToken: `@{${alias}}` })
  yield tool("confirm_action", "tool confirm again", { confirmToken: `@{${alias}}` })
}

/** Previews two writes of one target and confirms one of them, so that the other preview is outdated. */
function* drift(): Generator<Step> {
  const write = { action: "add_keywords", args: { appId: "@{tea}", keywords: ["sencha", "hojicha"] } }
  const other = { action: "add_keywords", args: { appId: "@{tea}", keywords: ["sencha"] } }
  yield preview(write, "before a change", { takes: { drift: "confirmToken" } })
  yield preview(other, "the change", { takes: { change: "confirmToken" } })
  yield confirm("@{change}", "add_keywords", "the change")
  yield confirm("@{drift}", "add_keywords", "changed target")
}

function* tokens(): Generator<Step> {
  for (const body of [
    {},
    { confirmToken: "" },
    { confirmToken: "confirm_nothing" },
    { confirmToken: 7 },
    { odd: 1 },
    [],
  ])
    yield post("/v1/actions/confirm", "confirm_action", "bad token", body)
  for (const body of [{}, { action: "nothing" }, { action: 7 }, { args: {} }, [], { action: "add_keywords" }])
    yield post("/v1/actions", "preview_action", "bad body", body)
  yield { ...post("/v1/actions", "preview_action", "no JSON", {}), body: "{" }
  yield { ...post("/v1/actions", "preview_action", "GET", {}), method: "GET", body: undefined as never }
}

function* afterwards(): Generator<Step> {
  for (const path of [
    "/v1/apps",
    "/v1/alerts",
    "/v1/apps/@{tea}",
    "/v1/apps/@{tea}/keywords",
    "/v1/apps/@{tea}/rivals",
  ])
    yield get(path, "after the writes", path)
  yield get("/v1/apps/@{tea}/ads-commands", "after the writes", "ads commands")
}

export function get(path: string, operation: string, state: string, key = "full"): Step {
  return { operation, surface: "write", state, method: "GET", path, key, account: accountOf(key) }
}
