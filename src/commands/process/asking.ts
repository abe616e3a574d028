import type { Sql } from "../../database/types.ts"
import type { Worker } from "../../jobs/worker.ts"
import type { Log } from "../../lib/log.ts"
import type { AssistantChecks } from "../../lib/writing/assistant-checks.ts"
import { recording } from "../../recording.ts"
import type { Settings } from "../../settings/settings.ts"
import { ENGINE_FORMATS } from "../../visibility/engines/ask-engine.ts"
import { createAsking } from "../../visibility/worker.ts"

/** Returns the settings of the assistants that calls need, without API keys. */
export function checksOf({ assistants: { engines, runs, mostAnswers, spreadMs } }: Settings): AssistantChecks {
  return {
    engines: engines.map(({ assistant, model, price }) => ({ assistant, model, price })),
    runs,
    mostAnswers,
    spreadMs,
  }
}

/** Creates the worker that asks assistants the questions of checks. The operator chose the addresses. */
export function openAsking({ assistants }: Settings, { sql, log }: { sql: Sql; log: Log }): Worker {
  const { engines, gapMs } = assistants
  return createAsking({
    sql,
    recording,
    log,
    engines: engines.map(({ assistant, url, key }) => ({
      assistant,
      url: url ?? ENGINE_FORMATS[assistant].address,
      key,
    })),
    gapMs,
    fetch: (url, init) => fetch(url, init),
    now: () => new Date(),
  })
}
