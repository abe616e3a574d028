import { catalog } from "../src/catalog.ts"
import { readTree } from "../src/database/assets.ts"
import { prepareSandbox, type Sandbox } from "../src/http/sandbox.ts"

/** Returns the sandbox of the whole catalog at an address, as a server prepares it. */
export function sandboxAt(publicUrl: string): Sandbox {
  return prepareSandbox(catalog, readTree("fixtures/sandbox", ".json"), publicUrl)
}
