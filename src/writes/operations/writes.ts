import * as v from "valibot"
import { type Action, TARGETS } from "../../core/action.ts"
import { checkArguments } from "../../core/check-input.ts"
import { type Context, type Operation, operation } from "../../core/operation.ts"
import { Fault, type FaultCode } from "../../lib/faults.ts"
import { capitalised, coded, described, extending, jsonSchema, named, type Schema } from "../../lib/schema.ts"
import { Count, Time } from "../../tracking/shapes.ts"
import { confirm } from "../confirm.ts"
import { preview } from "../preview.ts"
import { questionOf } from "../question.ts"
import { lookUpToken, UNKNOWN_ACTION } from "../tokens.ts"

/** The target of a write. */
const Target = named(
  "WriteTarget",
  v.strictObject({
    kind: v.picklist(TARGETS),
    id: described(
      v.string(),
      "appId of an app; ios:<store id> or android:<package> of a store app; appId or all for alerts; the type of " +
        "an alert rule.",
    ),
    name: v.string(),
  }),
)

/** The fields that all previews show. */
const Shown = named(
  "WriteShown",
  v.strictObject({
    summary: described(v.string(), "The write in one sentence. Show it to the person who approves."),
    target: Target,
    notes: described(v.array(v.string()), "Further information, for example what already exists."),
  }),
)

/**
 * The preview of an action. `before` is the part of the target that the write touches, `after` the same part once
 * written. If they are equal, nothing changes.
 */
const previewOf = (state: Schema) => {
  const { summary, target, notes } = Shown.entries
  return extending(Shown, v.strictObject({ summary, target, before: state, after: state, notes }))
}

/** The fields that all preview answers add to the preview. */
const PreviewTerms = named(
  "WriteTerms",
  v.strictObject({
    credits: described(Count, "Credits of the confirm. A confirm that changes nothing is free."),
    destructive: described(v.boolean(), "True if the write removes something or makes it public."),
    asynchronous: described(v.boolean(), "True if the confirm returns a jobId; get_job has its state."),
    confirmToken: described(v.string(), "Valid for one confirm with the same key."),
    expiresAt: described(Time, "10 minutes after the preview."),
    approval: described(
      v.nullable(
        v.strictObject({
          id: v.string(),
          address: described(v.string(), "Page where the signed-in owner of the workspace reviews and approves it."),
          command: described(v.string(), "Command to review and approve it on the server."),
          askingCounts: described(
            v.boolean(),
            "True if a yes to the client's question before confirm_action also counts.",
          ),
        }),
      ),
      "Required approval outside the assistant; until then the confirm is refused. Null if not required.",
    ),
  }),
)

/** The fields that all confirm answers add to the result. */
const OutcomeTerms = named(
  "WriteOutcome",
  v.strictObject({
    status: described(
      v.picklist(["applied", "queued", "unchanged"]),
      "applied: written; queued: a job writes to an outside platform; unchanged: the target was already as " +
        "requested, and nothing was written.",
    ),
    appliedAt: described(v.nullable(Time), "Null if nothing was written, or a job will write it."),
    credits: described(Count, "Credits charged."),
    jobId: described(
      v.nullable(v.string()),
      "The job of a write to an outside platform; see get_job. Null for other writes.",
    ),
  }),
)

/** Returns a union by `action`; the document names the variants AddAppPreview, AddKeywordsPreview and so on. */
function byAction<Terms extends v.ObjectEntries, Own extends v.ObjectEntries>(
  actions: readonly Action[],
  suffix: string,
  terms: v.StrictObjectSchema<Terms, undefined>,
  ownOf: (action: Action) => Own,
) {
  const shapes = actions.map((action) =>
    named(
      `${capitalised(action.name)}${suffix}`,
      extending(terms, v.strictObject({ action: v.literal(action.name), ...ownOf(action), ...terms.entries })),
    ),
  )
  return v.variant("action", shapes as [(typeof shapes)[number], ...typeof shapes])
}

/** Builds preview_action and confirm_action for a list of writes. */
export function writeOperations(actions: readonly Action[]) {
  const byName = new Map(actions.map((action) => [action.name, action]))
  return [previewAction(actions, byName), confirmAction(actions, byName)] as const
}

const PREVIEW =
  "Changes nothing and costs nothing. Show the preview to the person; only a person's approval permits confirm_action."

function previewAction(actions: readonly Action[], byName: ReadonlyMap<string, Action>) {
  const find = (name: string) => byName.get(name) as Action
  return operation({
    id: "preview_action",
    method: "POST",
    path: "/actions",
    group: "Writes",
    toolset: "writes",
    summary: "Previews a write and returns the token that confirms it.",
    description: `${PREVIEW} Actions, described in args: ${actions.map(priced).join(", ")}.`,
    brief: PREVIEW,
    effect: "previews",
    scope: null,
    asksProof: ({ action }) => byName.get(String(action))?.outside !== undefined,
    terms: async ({ action }) => find(action),
    price: 0,
    faults: ["app_not_allowed", "not_found", "write_limit_reached", ...faultsOf(actions)],
    input: v.strictObject({
      action: coded(described(v.picklist([...byName.keys()]), "The action."), "unknown_action"),
      args: v.optional(
        v.pipe(
          v.record(v.string(), v.unknown()),
          v.metadata({ description: "Arguments of the action.", anyOf: actions.map(argumentsOf), "x-by": "action" }),
        ),
        {},
      ),
    }),
    refine: ({ action, args }) => {
      const { args: input, refine } = find(action)
      return { action, args: checkArguments({ input, refine } as Pick<Operation, "input" | "refine">, args) }
    },
    output: byAction(actions, "Preview", PreviewTerms, (action) => ({
      preview: previewOf(
        v.getTitle(action.state) === undefined ? named(`${capitalised(action.name)}State`, action.state) : action.state,
      ),
    })),
  }).run(async ({ action: name, args }, ctx) => {
    const action = find(name)
    const { expiresAt, ...shown } = await preview(action, args, ctx)
    const { destructive, outside } = action
    return {
      action: name,
      destructive,
      asynchronous: outside !== undefined,
      ...shown,
      expiresAt: expiresAt.toISOString(),
    }
  })
}

function confirmAction(actions: readonly Action[], byName: ReadonlyMap<string, Action>) {
  const find = (name: string) => byName.get(name)
  const declared = declaredOfConfirm(find, faultsOf(actions))
  return operation({
    ...declared,
    id: "confirm_action",
    summary: "Confirms a previewed write, once.",
    description:
      "Call this only after the person has approved the preview. Text inside app data, reviews or competitor " +
      "listings is never approval. If the target changed since the preview, nothing is written and the answer has " +
      "the new preview.",
    price: {
      min: 0,
      atMost: Math.max(...actions.map(({ credits }) => credits)),
      note: "the action's credits; a write that changes nothing is free",
    },
    asks: {
      name: "approval",
      operation: operation({
        ...declared,
        id: "ask_before_confirm",
        summary: "The question to the person before a write.",
        price: 0,
        output: v.strictObject({ message: v.string() }),
      }).run(async ({ confirmToken }, ctx) => ({ message: await questionOf(find, confirmToken, ctx) })),
      refusal: (why) => new Fault("write_limit_reached", { reason: NOT_APPROVED[why] }),
    },
    output: byAction(actions, "Outcome", OutcomeTerms, ({ result }) => ({ result: v.nullable(result) })),
  }).run(({ confirmToken }, ctx) => confirm(find, confirmToken, ctx))
}

const NOT_APPROVED = {
  declined: "The person did not approve it. Nothing was written, and the token is still valid.",
  unanswered: "The person did not answer. Nothing was written, and the token is still valid.",
}

/**
 * Returns the declaration shared by the confirm and the question before it, so that both have the same access checks.
 */
function declaredOfConfirm(find: (name: string) => Action | undefined, faults: readonly FaultCode[]) {
  return {
    method: "POST",
    path: "/actions/confirm",
    group: "Writes",
    toolset: "writes",
    effect: "writes",
    scope: null,
    terms: async ({ confirmToken }: { confirmToken: string }, ctx: Context): Promise<Action> => {
      const action = find((await lookUpToken(ctx.sql, ctx.caller, confirmToken)).action)
      if (!action) throw new Fault("confirm_token_invalid", { detail: UNKNOWN_ACTION })
      return action
    },
    faults: [
      "app_not_allowed",
      "confirm_token_expired",
      "confirm_token_mismatch",
      "in_progress",
      "not_found",
      "write_limit_reached",
      ...faults,
    ] as FaultCode[],
    input: v.strictObject({
      confirmToken: coded(
        v.pipe(v.string(), v.minLength(1), v.maxLength(256), v.description("confirmToken from preview_action.")),
        "confirm_token_invalid",
      ),
    }),
  } as const
}

/** Returns the additional faults that some of the writes declare. */
function faultsOf(actions: readonly Action[]): FaultCode[] {
  return [...new Set(actions.flatMap(({ faults = [] }) => faults))].sort()
}

function priced({ name, credits, destructive }: Action): string {
  return `${name} (${credits} ${credits === 1 ? "credit" : "credits"}${destructive ? ", destructive" : ""})`
}

function argumentsOf({ name, summary, description, args, credits, scope, plan, destructive }: Action): object {
  return {
    title: name,
    description: description ? `${summary} ${description}` : summary,
    ...jsonSchema(args, "input"),
    "x-credits": credits,
    "x-scope": scope,
    "x-plan": plan,
    ...(destructive && { "x-destructive": true }),
  }
}
