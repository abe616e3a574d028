import type { Sql, Tx } from "../../../database/types.ts"
import { ADS_REPORTS, type AdsReport } from "../../../vocabulary/upstreams.ts"
import { ADS_FACTS, type AdsSubjects, deriveAds, factsAbout } from "./ads.ts"

interface AdsSubject {
  account: string
  about: string
  day: string
}

const AT_ONCE = 20

/** Derives all facts of ad accounts anew, and says of how many subjects they stood otherwise. */
export async function rebuildAds(sql: Sql, pause: () => Promise<void>): Promise<number> {
  let mended = 0
  for (const report of ADS_REPORTS) {
    for (let page = await readNext(sql, report, null); page.length > 0; ) {
      for (const subject of page) if (await sql.begin((tx) => rebuildSubject(tx, report, subject))) mended++
      await pause()
      page = await readNext(sql, report, page.at(-1)!)
    }
  }
  return mended
}

/** Whether it stood otherwise. */
async function rebuildSubject(tx: Tx, report: AdsReport, { account, about, day }: AdsSubject): Promise<boolean> {
  // as who stores what it says: nobody says more of it meanwhile
  await tx`
    select id
    from connected_account
    where id = ${account}
    for no key update`
  const subjects = { accounts: [account], abouts: [about], days: [day] }
  const before = await readFacts(tx, report, subjects)
  await deriveAds(tx, report, subjects)
  return (await readFacts(tx, report, subjects)) !== before
}

async function readFacts(tx: Tx, report: AdsReport, subjects: AdsSubjects): Promise<string> {
  const [row] = await tx<{ facts: string | null }[]>`
    select md5(string_agg(f::text, ' ' order by f::text)) as facts
    from ${tx(ADS_FACTS[report].table)} f
    where ${factsAbout(tx, report, subjects)}`
  return row?.facts ?? ""
}

/** Of what stands by what was said last, the last day alone. */
async function readNext(sql: Sql, report: AdsReport, after: AdsSubject | null): Promise<AdsSubject[]> {
  const from = [after?.account ?? "", after?.about ?? ""] as const
  return ADS_FACTS[report].daily
    ? await sql<AdsSubject[]>`
      select distinct account_id as account, about, day
      from ads_report
      where report = ${report}
        and (account_id, about, day) > (${from[0]}, ${from[1]}, ${after?.day ?? "0001-01-01"}::date)
      order by account_id, about, day
      limit ${AT_ONCE}`
    : await sql<AdsSubject[]>`
      select account_id as account, about, max(day) as day
      from ads_report
      where report = ${report} and ${after ? sql`(account_id, about) > (${from[0]}, ${from[1]})` : sql`true`}
      group by account_id, about
      order by account_id, about
      limit ${AT_ONCE}`
}
