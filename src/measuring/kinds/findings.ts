import { deriveFindings } from "../../alerts/findings.ts"
import type { Platform } from "../../observations/types.ts"
import type { Kind } from "../kind.ts"

/** What a tracked app's measured days show against those before; reckoned from what is stored, and nothing is asked. */
export function findingsKind(platform: Platform): Kind {
  return {
    name: "findings",
    platform,
    upstream: "here",
    together: 1,
    requests: 0,
    everyDays: 1,
    read: async () => [],
    derive: deriveFindings,
  }
}
