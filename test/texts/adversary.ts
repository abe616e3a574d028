import { type Line, receiptOf, type Script, well } from "./stand-in.ts"

/** The answers of three models to a prompt: a good model, a lying model and a model that obeys attacks. */
export interface ModelAnswers {
  good: (lines: Line[]) => object
  lying: (lines: Line[]) => object
  obeying: (lines: Line[]) => object
}

/** Texts that must never be shown. */
export const NEVER_SHOWN = /sk-secret|evil\.|Refund|93 %|secret words|"receipt"|records hold other/i

/** Returns a generator of integers below a limit, from a fixed seed, so that a failure can be repeated. */
export function openRandom(seed = 20_251_120): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) % below
  }
}

/** Returns scripts for each way in which a provider may fail, and for a correct and a slow one. */
export function scriptsOf({ good, lying, obeying }: ModelAnswers, random: (below: number) => number): (() => Script)[] {
  const right = well(good)
  const variant = (rest: object) => ({ ...(right as object), ...rest }) as Script
  const whole = (lines: Line[]) => JSON.stringify({ receipt: receiptOf(lines), ...good(lines) })
  return [
    () => right,
    () => right,
    () => variant({ afterMs: 5 + random(40) }),
    () => variant({ end: "cut" }),
    () => variant({ end: "refused" }),
    () => variant({ inputTokens: 3 }),
    () => ({ say: (lines) => whole(lines).slice(0, 1 + random(whole(lines).length - 1)) }),
    () => ({ say: (lines) => `<think>no { idea</think>\n\`\`\`json\n${whole(lines)}\n\`\`\`` }),
    () => ({ say: (lines) => JSON.stringify(good(lines)) }),
    () => ({
      say: (lines) => JSON.stringify({ receipt: { first: "aaaaaa", last: "bbbbbb", records: 1 }, ...good(lines) }),
    }),
    () => well((lines) => ({ ...good(lines), credits: 500 })),
    () => ({ say: () => "Sure! sk-secret" }),
    () => ({ say: () => "[]" }),
    () => ({ raw: "" }),
    () => ({ raw: "<html>secret words</html>" }),
    () => ({ status: 500 }),
    () => ({ status: 529, headers: { "retry-after-ms": "1" } }),
    () => ({ status: 429, headers: { "retry-after-ms": "1" } }),
    () => ({ status: 429, headers: { "retry-after": "4000" } }),
    () => ({ status: 429, body: '{"error":{"code":"insufficient_quota","message":"secret words"}}' }),
    () => ({ status: 402 }),
    () => ({ status: 401, body: '{"error":{"message":"sk-secret is wrong"}}' }),
    () => ({ status: 404 }),
    () => ({ status: 302, headers: { location: "http://127.0.0.1:1/trap" } }),
    () => well(lying),
    () => well(obeying),
  ]
}

/** Returns all texts of a prompt that a model may mistake for instructions. */
export function textsIn(lines: readonly Line[]): string {
  return lines
    .slice(1, -1)
    .flatMap((line) => Object.values(line).filter((value) => typeof value === "string"))
    .join(" ")
}
