import { type Line, receiptOf, type Script, well } from "./stand-in.ts"

/** What a good model says of a prompt, and what a fooled or lying one does. */
export interface Said {
  good: (lines: Line[]) => object
  lying: (lines: Line[]) => object
  obeying: (lines: Line[]) => object
}

/** None of it may ever be shown. */
export const NEVER_SHOWN = /sk-secret|evil\.|Refund|93 %|secret words|"receipt"|records hold other/i

/** A number below another, from a fixed seed: a failure comes again. */
export function openRandom(seed = 20_251_120): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) % below
  }
}

/** The ways in which a provider goes wrong, each for itself; well and slow are among them. */
export function scriptsOf({ good, lying, obeying }: Said, random: (below: number) => number): (() => Script)[] {
  const right = well(good)
  const told = (rest: object) => ({ ...(right as object), ...rest }) as Script
  const whole = (lines: Line[]) => JSON.stringify({ receipt: receiptOf(lines), ...good(lines) })
  return [
    () => right,
    () => right,
    () => told({ afterMs: 5 + random(40) }),
    () => told({ end: "cut" }),
    () => told({ end: "refused" }),
    () => told({ inputTokens: 3 }),
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

/** Every text of a prompt that a fooled model might take for an order. */
export function textsIn(lines: readonly Line[]): string {
  return lines
    .slice(1, -1)
    .flatMap((line) => Object.values(line).filter((value) => typeof value === "string"))
    .join(" ")
}
