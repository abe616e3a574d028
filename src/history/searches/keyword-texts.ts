import { createSharedReads } from "../../database/shared-reads.ts"
import type { Sql } from "../../database/types.ts"
import { figuresText } from "../../observations/derived/app-keywords.ts"
import { UNMEASURED } from "../../observations/derived/keyword-figures.ts"
import { FORM, type ShownKeyword, shownIn } from "../../observations/derived/keyword-lines.ts"
import { readMetricsOfLists } from "../../observations/derived/keyword-metrics.ts"
import type { Side } from "../../observations/provenance.ts"
import type { WrittenAnswer } from "../../vocabulary/prepared.ts"
import { type Reader, readersQuery, readingBy } from "../readers.ts"
import { dueDigits, underWayBy } from "../under-way.ts"
import { findKeptAnswer, keepAnswer } from "./kept-answers.ts"

/** Keywords that one statement reads ready: they hold the thread for less than 10 ms. */
const MOST = 2_500

export interface KeywordTexts {
  /** The latest day on which any of the keywords was measured; null = never. */
  day: string | null
  measuredAt: string | null
  /** The keywords as a JSON list, in the app's order. */
  list: string
}

interface KeywordTextsQuery extends Side {
  appId: string
  /** The store_app id. */
  own: number
  today: string
}

/**
 * Every keyword of an app in a storefront that it tracks, as answers say it, and written; null = they are not ready, or too
 * many. The answer that was kept of the same is given once more while nothing that it is made of has changed.
 */
export async function readKeywordTexts(
  sql: Sql,
  asked: KeywordTextsQuery,
  write: (texts: KeywordTexts) => WrittenAnswer,
): Promise<WrittenAnswer | null> {
  const { appId, own, platform, storefront, today } = asked
  const name = JSON.stringify([appId, own, platform, storefront, today])
  return await readTogether(sql, name, (handle) => readNamed(handle, name, asked, write))
}

const readTogether = createSharedReads<WrittenAnswer | null>()

async function readNamed(
  sql: Sql,
  name: string,
  asked: KeywordTextsQuery,
  write: (texts: KeywordTexts) => WrittenAnswer,
): Promise<WrittenAnswer | null> {
  const kept = findKeptAnswer(sql, name)
  const row = await readRow(sql, asked, kept?.digest ?? null)
  if (!row.isNew) return kept!.answer
  const made = await makeTexts(sql, row, asked)
  if (!made) return null
  const answer = write(made.texts)
  if (made.isWhole) keepAnswer(sql, name, { digest: row.digest, answer })
  return answer
}

/** `isWhole`: they rest on the row alone. */
async function makeTexts(
  sql: Sql,
  { terms, shown, due, readers }: ReadyRow,
  asked: KeywordTextsQuery,
): Promise<{ texts: KeywordTexts; isWhole: boolean } | null> {
  if (terms === null) return { texts: { day: null, measuredAt: null, list: "[]" }, isWhole: true }
  const ready = new Map(
    linesOf(shown)
      .map((line) => shownIn(line))
      .map((one) => [one.term, one]),
  )
  const named = linesOf(terms)
  const keywords = named.flatMap((term) => ready.get(term) ?? [])
  if (keywords.length < named.length || named.length > MOST) return null
  const isWhole = (await takeYoung(sql, keywords, asked)) === 0
  const codes = codesIn(due)
  const day = latest(keywords.map((keyword) => keyword.day))
  const underWay = underWayTexts(underWayBy(asked, readingBy(readers ?? [])))
  const items = keywords.map((one) => {
    const isShown = one.day === day
    const depth = isShown ? one.depth : null
    const first = isShown ? one.measured : one.unmeasured
    return `{${first}${one.figures}${underWay(codes.get(one.term) ?? 0)}"searchDepth":${depth}}`
  })
  const measuredAt = latest(keywords.map((one) => (one.day === day ? one.seenAt : null)))
  return { texts: { day, measuredAt, list: `[${items.join(",")}]` }, isWhole }
}

function linesOf(text: string | null): string[] {
  return text === null ? [] : text.split(LINE)
}

/** By the keyword. */
function codesIn(due: string | null): Map<string, number> {
  const codes = new Map<string, number>()
  for (const line of linesOf(due)) {
    const end = line.indexOf(" ")
    const term = line.slice(end + 1)
    codes.set(term, (codes.get(term) ?? 0) + Number(line.slice(0, end)))
  }
  return codes
}

function latest(times: readonly (string | null)[]): string | null {
  return times.reduce((last, time) => (time !== null && (last === null || time > last) ? time : last), null)
}

function underWayTexts(underWay: ReturnType<typeof underWayBy>): (code: number) => string {
  const known = new Map<number, string>()
  return (code) => {
    const held = known.get(code)
    if (held !== undefined) return held
    const text = `${JSON.stringify(underWay(code)).slice(1, -1)},`
    known.set(code, text)
    return text
  }
}

/** Figures of which some grew too old are read anew; gives how many. */
async function takeYoung(sql: Sql, keywords: ShownKeyword[], asked: KeywordTextsQuery): Promise<number> {
  const old = keywords.filter(({ until }) => until !== null && until < asked.today)
  if (old.length === 0) return 0
  const lists = old.map(({ listId }) => listId)
  const metrics = await readMetricsOfLists(sql, lists, asked)
  for (const one of old) one.figures = figuresText(metrics.get(one.listId) ?? UNMEASURED)
  return old.length
}

/** Between two keywords; no text of one holds it. */
const LINE = "\u0001"

/** A line a keyword or digit; all of it null where the digest is the one that is kept. */
interface ReadyRow {
  isNew: boolean
  /** Of everything below. */
  digest: string
  /** In the app's order, one more than MOST at most, and of so many nothing else is looked for; null = none. */
  terms: string | null
  /** What answers say of those that are ready. */
  shown: string | null
  /** Digit and term of each that is due. */
  due: string | null
  readers: Reader[] | null
}

/**
 * Found by numbers, and put together by the caller: the same joined by terms took the database twice as long, and what it
 * plans without knowing the app a hundred times. Texts are sent where their digest is not `kept`: of 200 keywords they are
 * 110 KB, which it takes the database a tenth of the time to sum up, and this process nothing to take apart.
 */
async function readRow(
  sql: Sql,
  { appId, own, platform, storefront }: KeywordTextsQuery,
  kept: string | null,
): Promise<ReadyRow> {
  const ready = sql`
    from app_keyword
    where app_id = ${own} and storefront = ${storefront} and form = ${FORM}
      and hashtextextended(term, hashtextextended(storefront, 0)) = any((select hashes from tracked)::bigint[])`
  const due = sql`from (${dueDigits(sql, { platform, storefront }, sql`(select hashes from tracked)::bigint[]`)}) d`
  // sums of rows in no order, by two hashes of 64 bits each; no two rows of an app have one list, none of a keyword one digit
  const [row] = await sql<[ReadyRow]>`
    with tracked as materialized (
      select string_agg(term, ${LINE} order by position, term) as terms,
        case
          when count(*) <= ${MOST} then array_agg(hashtextextended(term, hashtextextended(${storefront}, 0)))
        end as hashes
      from (
        select term, position
        from tracked_term
        where app_id = ${appId} and country = ${storefront}
        order by position, term
        limit ${MOST + 1}
      ) t
    ), read_by as materialized (
      select json_agg(r) as readers
      from (${readersQuery(sql)}) r
    ), stood as materialized (
      select concat_ws(' ', md5(t.terms), (
          select concat_ws(
            ' ', count(*), bit_xor(hashtextextended(shown, list_id)), bit_xor(hashtextextended(shown, -list_id))
          )
          ${ready}
        ), (
          select concat_ws(
            ' ', count(*), bit_xor(hashtextextended(subject, digit)), bit_xor(hashtextextended(subject, -digit))
          )
          ${due}
        ), md5(r.readers::text)) as digest
      from tracked t
      cross join read_by r
    )
    select s.digest, s.is_new as "isNew",
      -- nothing of a case that does not hold is looked for
      case when s.is_new then (select terms from tracked) end as terms,
      case when s.is_new then (select string_agg(shown, ${LINE}) ${ready}) end as shown,
      case when s.is_new then (select string_agg(digit || ' ' || subject, ${LINE}) ${due}) end as due,
      case when s.is_new then (select readers from read_by) end as readers
    from (
      select digest, digest is distinct from ${kept}::text as is_new
      from stood
      offset 0
    ) s`
  return row
}
