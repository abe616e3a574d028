import type { AnyKind } from "../../../core/kind.ts"
import type { Facts, FactsReport, ReportSubject } from "../../../core/observation/facts.ts"
import type { Sql, Tx } from "../../../database/types.ts"
import { beginSets, pieceOf, removeSet } from "../../../measuring/record/report-sets.ts"
import { factsAbout, newestReports, replaceFacts, type Subjects, subjectsOf } from "./facts.ts"
import { rebuildPrices } from "./rebuild-prices.ts"

/** One day of a subject of an account, or the subject's latest report. */
interface Subject {
  account: string
  about: string
  day: string
}

interface Derivation {
  report: FactsReport
  facts: Facts
}

const AT_ONCE = 20

/** Derives all facts of all accounts again. Returns the number of days, subjects and products whose facts changed. */
export async function rebuildAccounts(
  sql: Sql,
  kinds: readonly AnyKind[],
  pause: () => Promise<void>,
): Promise<number> {
  let mended = 0
  for (const { name, facts } of kinds) {
    if (!facts) continue
    const derivation = { report: name as FactsReport, facts }
    for (let page = await readNext(sql, derivation, null); page.length > 0; ) {
      for (const subject of page) if (await rebuildSubject(sql, derivation, subject, pause)) mended++
      await pause()
      page = await readNext(sql, derivation, page.at(-1)!)
    }
  }
  return mended + (await rebuildPrices(sql, pause))
}

/** Returns the next subjects. For reports that apply until replaced, returns only the last day. */
async function readNext(sql: Sql, { report, facts }: Derivation, after: Subject | null): Promise<Subject[]> {
  const about = { report_day: sql`about`, analytics_day: sql`app`, ads_report: sql`about` }[facts.reportTable]
  const [account, of, day] = [after?.account ?? "", after?.about ?? "", after?.day ?? "0001-01-01"]
  return facts.daily
    ? await sql<Subject[]>`
      select distinct account_id as account, ${about} as about, day
      from ${sql(facts.reportTable)}
      where report = ${report} and (account_id, ${about}, day) > (${account}, ${of}, ${day}::date)
      order by account_id, ${about}, day
      limit ${AT_ONCE}`
    : await sql<Subject[]>`
      select account_id as account, ${about} as about, max(day) as day
      from ${sql(facts.reportTable)}
      where report = ${report} and ${after ? sql`(account_id, ${about}) > (${account}, ${of})` : sql`true`}
      group by account_id, ${about}
      order by account_id, ${about}
      limit ${AT_ONCE}`
}

/** Derives the facts of a subject again. Returns whether they changed. */
async function rebuildSubject(
  sql: Sql,
  derivation: Derivation,
  { account, about, day }: Subject,
  pause: () => Promise<void>,
): Promise<boolean> {
  const subject = { account, app: about, day }
  const pieces = await readPieces(sql, derivation, subject)
  if (pieces !== null) return await rebuildPieces(sql, derivation, { subject, pieces }, pause)
  return await sql.begin(async (tx) => {
    await lockAccount(tx, account)
    // Checks again, because only from here on does the lock prevent new reports.
    if ((await readPieces(tx, derivation, subject)) !== null) return false
    const before = await readFacts(tx, derivation, subject)
    await replaceFacts(tx, derivation.report, derivation.facts, [subject], new Set())
    return (await readFacts(tx, derivation, subject)) !== before
  })
}

/** Returns the set of the latest report's pieces. Null if the report is stored inline. */
async function readPieces(db: Sql | Tx, { report, facts }: Derivation, subject: ReportSubject): Promise<number | null> {
  const [newest] = await db<{ pieces: number | null }[]>`
    select pieces
    from (${newestReports(db, report, facts, subjectsOf([subject]))}) n`
  return newest?.pieces ?? null
}

/** Takes the lock that storing takes. */
async function lockAccount(tx: Tx, account: string): Promise<void> {
  await tx`
    select id
    from connected_account
    where id = ${account}
    for no key update`
}

/** Derives the facts piece by piece into a new set, which replaces the current one only if they differ. */
async function rebuildPieces(
  sql: Sql,
  derivation: Derivation,
  { subject, pieces }: { subject: ReportSubject; pieces: number },
  pause: () => Promise<void>,
): Promise<boolean> {
  const { report, facts } = derivation
  const [set] = (await beginSets(sql, subject.account, [facts.table])) ?? []
  if (set === undefined) return false
  const places = await sql<{ place: number }[]>`
    select place
    from report_piece
    where set_id = ${pieces}
    order by place`
  for (const { place } of places) {
    await sql.begin(async (tx) => {
      await facts.insert(tx, { from: pieceOf(tx, subject, { set: pieces, place }), set, before: place })
    })
    await pause()
  }
  const isMended = await sql.begin(async (tx) => {
    await lockAccount(tx, subject.account)
    const before = await readFacts(tx, derivation, subject)
    if (
      (await readPieces(tx, derivation, subject)) !== pieces ||
      before === (await readDigest(tx, derivation, subject, set))
    )
      return false
    await replaceFacts(tx, report, facts, [subject], new Set([{ rows: pieces, facts: set }]))
    return true
  })
  if (!isMended) await removeSet(sql, { id: set, holds: facts.table }, pause)
  return isMended
}

async function readFacts(tx: Tx, derivation: Derivation, subject: ReportSubject): Promise<string> {
  const day = derivation.facts.daily ? tx`${subject.day}::date` : tx`'-infinity'::date`
  const [latest] = await tx<{ set: number }[]>`
    select set_id as set
    from fact_set
    where account_id = ${subject.account} and report = ${derivation.report} and about = ${subject.app ?? ""}
      and day = ${day}`
  return await readDigest(tx, derivation, subject, latest?.set ?? 0)
}

/** Returns a digest that does not depend on the order of the facts. */
async function readDigest(tx: Tx, { report, facts }: Derivation, subject: ReportSubject, set: number): Promise<string> {
  const subjects: Subjects = subjectsOf([subject])
  const [row] = await tx<[{ facts: string }]>`
    select count(*) || ' ' || coalesce(sum(hashtextextended((to_jsonb(f) - 'set_id')::text, 0)::numeric), 0) as facts
    from ${tx(facts.table)} f
    where ${factsAbout(tx, report, facts, subjects)} and set_id = ${set}`
  return row.facts
}
