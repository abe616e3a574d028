import type { Action } from "../../core/action.ts"
import { jsonSchema } from "../../lib/schema.ts"
import { nearest } from "../../lib/text.ts"
import { type Command, type Invocation, WrongUse } from "../cli/command.ts"
import { fitted, table } from "../cli/show.ts"
import { useKeyedOperations } from "../reading/ask.ts"
import { inputOf } from "../reading/words.ts"
import { approveAndWrite, WRITE_OPTIONS } from "./approve-and-write.ts"

export const write: Command = {
  name: "write",
  summary: "Preview a write and run it after you confirm, or list all writes.",
  details: "The key in APPMETER_KEY is charged.",
  examples: [
    ["write", "list all writes"],
    ["write add_keywords --about", "describe the write and its arguments"],
    ["write add_keywords appId=app_4fD0Zs81hQbK keywords='tide times,tides'", "show the preview, ask, then write"],
    ["write create_alert_rule type=rank_drop dropBy=5 --preview", "only show the preview"],
  ],
  positionals: ["action?", "name=value…?"],
  options: { about: { meaning: "Describe the write and its arguments instead of running it." }, ...WRITE_OPTIONS },
  async run(invocation) {
    const { actions } = await import("../../catalog.ts")
    const [name, ...typed] = invocation.positionals
    if (name === undefined) {
      listWrites(invocation, actions)
      return 0
    }
    const action = actionNamed(name, actions)
    if (invocation.has("about")) {
      invocation.terminal.out(about(action).join("\n").concat("\n"))
      return 0
    }
    const args = inputOf({ input: action.args }, typed)
    return await useKeyedOperations(invocation, (ask) => approveAndWrite(invocation, ask, { action: name, args }))
  },
}

function listWrites({ terminal, has }: Invocation, actions: readonly Action[]): void {
  if (has("json")) {
    terminal.json({ writes: actions.map(({ name, summary, credits }) => ({ name, summary, credits })) })
    return
  }
  const rows = actions.map(({ name, credits, summary }) => [
    name,
    typeof credits === "number" ? credits : null,
    summary,
  ])
  for (const line of table(["WRITE", "CREDITS", "SUMMARY"], rows)) terminal.out(`${fitted(line, terminal.columns())}\n`)
}

function actionNamed(name: string, actions: readonly Action[]): Action {
  const found = actions.find((action) => action.name === name)
  if (found) return found
  const names = actions.map((action) => action.name)
  const meant = nearest(name, names)
  const hint = meant ? `did you mean ${meant}?` : "list them with: appmeter write"
  throw new WrongUse(`unknown write ${JSON.stringify(name.slice(0, 60))}; ${hint}`)
}

function about({ name, summary, description, scope, plan, args }: Action): string[] {
  const { properties = {}, required = [] } = jsonSchema(args, "input") as {
    properties?: Record<string, { description?: string }>
    required?: string[]
  }
  const rows = Object.entries(properties).map(([argument, { description: means = "" }]) => [
    argument,
    required.includes(argument) ? "required" : "",
    means,
  ])
  return [
    name,
    summary,
    ...(description === undefined ? [] : [description]),
    `Plan ${plan}, scope ${scope}.`,
    "",
    ...table(["ARGUMENT", "", "MEANING"], rows),
  ]
}
