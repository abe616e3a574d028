import type { AnswerOf } from "../../answers.ts"
import { changedLines } from "../../tracking/actions/changed-lines.ts"
import type { ExitCode, Invocation, Option } from "../cli/command.ts"
import { harmless, show } from "../cli/show.ts"
import type { Ask } from "../reading/ask.ts"

/** Options of every command that writes. */
export const WRITE_OPTIONS: Record<string, Option> = {
  preview: { meaning: "Only show the preview." },
  force: { meaning: "Skip the confirmation." },
}

type PreviewAnswer = AnswerOf<"preview_action">

/** Previews an action, asks, confirms it and shows the result. */
export async function approveAndWrite(
  invocation: Invocation,
  ask: Ask,
  { action, args }: { action: string; args: Record<string, unknown> },
): Promise<ExitCode> {
  const { terminal, has } = invocation
  const answer = await ask("preview_action", { action, args })
  for (const line of previewLines(answer)) terminal.say(line)
  if (has("preview")) {
    if (has("json")) terminal.json({ preview: answer.preview })
    return 0
  }
  if (!has("force")) await terminal.confirm("Write it?")
  const outcome = await ask("confirm_action", { confirmToken: answer.confirmToken })
  show(invocation, outcome, () => outcomeLines(outcome))
  return 0
}

function previewLines({ action, destructive, credits, preview }: PreviewAnswer): string[] {
  const { summary, notes } = preview
  return [
    `${action}: ${summary}`,
    ...changedLines(preview).map((line) => `  ${line}`),
    ...notes.map((note) => `  ${note}`),
    ...(destructive ? ["  It deletes something or makes it public."] : []),
    `  It costs ${credits === 1 ? "1 credit" : `${credits} credits`}.`,
  ].map(harmless)
}

type Outcome = AnswerOf<"confirm_action">

/** Lists the scalar fields of the result. The output of --json has the others. */
function outcomeLines({ status, credits, jobId, result }: Outcome): string[] {
  const fields = Object.entries(result ?? {}).filter(([, value]) =>
    ["string", "number", "boolean"].includes(typeof value),
  )
  return [
    `${status}, ${credits === 1 ? "1 credit" : `${credits} credits`}${jobId ? `, job ${jobId}` : ""}`,
    ...fields.map(([name, value]) => `  ${name}  ${harmless(String(value))}`),
  ]
}
