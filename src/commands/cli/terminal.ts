import { createInterface } from "node:readline/promises"
import { CommandProblem, type Terminal, type Tone } from "./command.ts"

interface Streams {
  stdin: NodeJS.ReadStream
  stdout: NodeJS.WriteStream
  stderr: NodeJS.WriteStream
}

/** Returns the terminal of a process. */
export function processTerminal({ stdin, stdout, stderr }: Streams, env: Record<string, string | undefined>): Terminal {
  let written: Promise<unknown> = Promise.resolve()
  // a reader that closes the pipe (`| head`) is not a failure
  stdout.on("error", () => {})
  stderr.on("error", () => {})
  const out = (text: string) => {
    const leaving = new Promise((left) => stdout.write(text, left))
    // do not collect promises: a command may write for days
    written = Promise.all([written, leaving]).then(() => {})
  }
  const inColour = stdout.isTTY && !env.NO_COLOR
  return {
    out,
    json: (value) => out(`${JSON.stringify(value, null, 2)}\n`),
    say: (line) => void stderr.write(`${line}\n`),
    err: (text) => void stderr.write(text),
    isWatched: () => stderr.isTTY === true,
    progress: (line) => void (stderr.isTTY && stderr.write(`\r\u001b[2K${line}`)),
    bold: (text) => (inColour ? `\u001b[1m${text}\u001b[22m` : text),
    paint: (tone, text) => (inColour ? `\u001b[${TONES[tone]}m${text}\u001b[39m` : text),
    columns: () => (stdout.isTTY ? stdout.columns : undefined),
    confirm: (question) => confirm(question, stdin, stderr),
    stdin() {
      if (stdin.isTTY) throw new CommandProblem("stdin is a terminal; give a file, or redirect one: … < FILE")
      return stdin
    },
    flush: async () => void (await written),
  }
}

/** Codes of the terminal's own palette, which is readable on its background. */
const TONES: Record<Tone, number> = { good: 32, bad: 31, faint: 90 }

async function confirm(question: string, stdin: NodeJS.ReadStream, stderr: NodeJS.WriteStream): Promise<void> {
  if (!stdin.isTTY || !stderr.isTTY)
    throw new CommandProblem(`${question} Nothing was done. To skip this question, add --force`)
  const asking = createInterface({ input: stdin, output: stderr })
  // Ctrl-C and Ctrl-D close the prompt without an answer
  const closed = new Promise<string>((resolve) => asking.once("close", () => resolve("")))
  const answer = await Promise.race([asking.question(`${question} Type yes to continue: `), closed])
  asking.close()
  if (answer.trim().toLowerCase() !== "yes") throw new CommandProblem("cancelled; nothing was done")
}
