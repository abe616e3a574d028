import type { Sql } from "../../database/types.ts"
import type { Log } from "../../lib/log.ts"
import type { WriterSettings } from "../../outbound/providers/ask.ts"
import type { WritingResult } from "./write-once.ts"

/**
 * Alerts the operator if the provider rejects the key or the model, or demands payment. Alerts at most once per day;
 * the next successful text ends the alert.
 */
export async function noteWriter(
  { sql, log }: { sql: Sql; log: Log },
  { url, model }: Pick<WriterSettings, "url" | "model">,
  result: WritingResult,
): Promise<void> {
  const subject = new URL(url).host
  if (result.done)
    await sql`
      update instance_alert
      set ended_at = now()
      where (kind, subject) = (${KIND}, ${subject}) and ended_at is null`
  else if (result.why === "off") {
    const begun = await sql`
      insert into instance_alert (kind, subject, detail)
      select ${KIND}, ${subject}, ${`${model} is refused; appmeter doctor shows the reason`}
      where not exists (
        select
        from instance_alert
        where (kind, subject) = (${KIND}, ${subject}) and (ended_at is null or at > now() - interval '1 day')
      )
      on conflict (kind, subject) where ended_at is null do nothing
      returning id`
    if (begun.length > 0) log("error", KIND, { operation: model, reason: "check AI_URL, AI_MODEL and AI_KEY" })
  }
}

const KIND = "writer_denied"
