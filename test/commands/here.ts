import { readFileSync } from "node:fs"
import { PassThrough, Writable } from "node:stream"
import { processTerminal } from "../../src/commands/cli/terminal.ts"
import { run } from "../../src/commands/run.ts"
import { bunRedisWire } from "../../src/process/redis/bun-wire.ts"

/** Runs a command as src/main.ts does, with pipes for a terminal, in this process. */
export async function runHere(
  args: readonly string[],
  { env = {}, stdin }: { env?: Record<string, string>; stdin?: string },
): Promise<{ code: number; out: string; err: string }> {
  const input = new PassThrough()
  if (stdin !== undefined) input.end(stdin)
  const [out, err] = [new Collected(), new Collected()]
  const terminal = processTerminal({ stdin: input, stdout: out, stderr: err } as never, env)
  const code = await run(args, {
    env: { MEASURE: "no", ...env },
    readFile: (path) => readFileSync(path, "utf8"),
    terminal,
    process: { listen: refuse, redisWire: bunRedisWire, onStop: refuse, exit: refuse },
  })
  await terminal.flush()
  input.destroy()
  return { code, out: out.text(), err: err.text() }
}

/** What a pipe was written. */
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
