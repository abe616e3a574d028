import { hash } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Observation } from "../../src/kinds.ts"
import { openRawBodies, type RawBodies } from "../../src/measuring/raw-bodies.ts"
import { parseBody, type RawBody, type Source } from "../../src/measuring/source.ts"

const folders: string[] = []

/** Creates a new folder for bodies. */
export function someBodies(now: () => Date): RawBodies {
  const folder = mkdtempSync(join(tmpdir(), "raw-bodies-"))
  folders.push(folder)
  return openRawBodies({ folder, days: 14, megabytes: 100, now })
}

/** Deletes the folders; call it in `afterAll`. */
export function removeBodies(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
}

export function bodyOf(text: string, seenAt: Date): RawBody {
  const bytes = new TextEncoder().encode(text)
  return { bytes, text, sha256: hash("sha256", bytes, "buffer"), url: "https://itunes.apple.com/", seenAt }
}

/** Parses a body with a source, as a read would. */
export function seenIn<Asked, Seen extends Observation>(
  source: Source<Asked, Seen>,
  subject: Asked,
  text: string,
  seenAt: string | Date,
): Seen {
  return parseBody(source, subject, bodyOf(text, new Date(seenAt)), "us")
}
