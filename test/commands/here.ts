import { readFileSync } from "node:fs"
import { PassThrough, Writable } from "node:stream"
import { bunRedisWire } from "../../src/access/redis/bun-wire.ts"
import { processTerminal } from "../../src/commands/cli/terminal.ts"
import { run } from "../../src/commands/run.ts"

/** Runs a command in this process like src/main.ts, with pipes instead of a terminal. */
export async function runHere(
  args: readonly string[],
  { env = {}, stdin }: { env?: Record<string, string>; stdin?: string },
): Promise<{ code: number; out: string; err: string }> {
  const { input, out, err, exited } = start(args, env, refuse)
  if (stdin !== undefined) input.end(stdin)
  return { code: await exited, out: out(), err: err() }
}

/** Starts a command that runs while its stdin is open. It gets no signals. */
export function begunHere(args: readonly string[], env: Record<string, string>) {
  return start(args, env, () => {})
}

function start(args: readonly string[], env: Record<string, string>, onStop: () => void) {
  const input = new PassThrough()
  const [out, err] = [new Collected(), new Collected()]
  const terminal = processTerminal({ stdin: input, stdout: out, stderr: err } as never, env)
  const exited = (async () => {
    const code = await run(args, {
      env: { MEASURE: "no", ...env },
      readFile: (path) => readFileSync(path, "utf8"),
      terminal,
      process: { listen: refuse, redisWire: bunRedisWire, onStop, exit: refuse },
    })
    await terminal.flush()
    input.destroy()
    return code
  })()
  return { input, out: () => out.text(), err: () => err.text(), exited }
}

/** Collects the text written to a pipe. */
class Collected extends Writable {
  readonly #parts: Buffer[] = []

  override _write(part: Buffer, _encoding: string, done: () => void): void {
    this.#parts.push(part)
    done()
  }

  text(): string {
    return Buffer.concat(this.#parts).toString("utf8")
  }
}

function refuse(): never {
  throw new Error("a command that serves or ends its process needs one of its own")
}
