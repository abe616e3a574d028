import { packaging } from "../../src/commands/packaging.ts"
import { readSettings } from "../../src/settings/settings.ts"

/** Returns what `appmeter packaging KIND` prints, without starting a process. */
export async function printed(kind: string, options: Record<string, string[]> = {}): Promise<string> {
  const pieces: string[] = []
  const invocation = {
    positionals: [kind],
    text: (name: string) => options[name]?.[0],
    texts: (name: string) => options[name],
    settings: readSettings({}, () => ""),
    terminal: { out: (more: string) => void pieces.push(more) },
  }
  await packaging.run(invocation as unknown as Parameters<typeof packaging.run>[0])
  return pieces.join("")
}
