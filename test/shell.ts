import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/**
 * Returns the lines that a POSIX shell prints with only PATH and the given environment. Asynchronous, so that a server
 * in this process can respond.
 */
export async function printed(script: string, env: Record<string, string>): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "appmeter-shell-"))
  try {
    const path = Bun.which("curl") ? process.env.PATH : `${standIn(folder)}:${process.env.PATH}`
    const child = Bun.spawn(["sh", "-c", script], { env: { PATH: path ?? "", ...env }, cwd: folder })
    return (await new Response(child.stdout).text()).split("\n").filter(Boolean)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Creates a replacement for curl, for machines without it. It supports -s, -H and -d. */
function standIn(folder: string): string {
  const source = `
    const [headers, urls, body] = [[], [], []]
    for (const words = process.argv.slice(2); words.length > 0; ) {
      const word = words.shift()
      if (word === "-H") headers.push(words.shift().split(": "))
      else if (word === "-d") body.push(words.shift())
      else if (word !== "-s") urls.push(word)
    }
    const method = body.length > 0 ? "POST" : "GET"
    process.stdout.write(await (await fetch(urls[0], { method, headers, body: body[0] })).text())`
  writeFileSync(join(folder, "curl.mjs"), source)
  writeFileSync(join(folder, "curl"), `#!/bin/sh\nexec '${process.execPath}' '${folder}/curl.mjs' "$@"\n`, {
    mode: 0o755,
  })
  return folder
}
