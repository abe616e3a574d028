import type { Sql, Tx } from "../../../database/types.ts"
import { deriveFunnel } from "./funnel.ts"
import { derivePrices } from "./prices.ts"

/** What is derived of one thing that the console said of: a day of an app's report, or a product. */
interface Subject {
  account: string
  app: string
  /** The report, or the product. */
  of: string
  /** Of a report. */
  day: string | null
}

const AT_ONCE = 20

/** Derives what answers are made of anew, of what was said of apps and products, and says of how many it stood otherwise. */
export async function rebuildConsole(sql: Sql, pause: () => Promise<void>): Promise<number> {
  return (await rebuildAll(sql, pause, FUNNEL)) + (await rebuildAll(sql, pause, PRICES))
}

interface Derivation {
  next(sql: Sql, after: Subject | null): Promise<Subject[]>
  read(tx: Tx, subject: Subject): Promise<string>
  derive(tx: Tx, subject: Subject): Promise<void>
}

async function rebuildAll(sql: Sql, pause: () => Promise<void>, { next, read, derive }: Derivation): Promise<number> {
  let mended = 0
  for (let page = await next(sql, null); page.length > 0; page = await next(sql, page.at(-1)!)) {
    for (const subject of page) {
      const isMended = await sql.begin(async (tx) => {
        // as who stores what it says: nobody says more of it meanwhile
        await tx`
          select id
          from connected_account
          where id = ${subject.account}
          for no key update`
        const before = await read(tx, subject)
        await derive(tx, subject)
        return (await read(tx, subject)) !== before
      })
      if (isMended) mended++
    }
    await pause()
  }
  return mended
}

const FUNNEL: Derivation = {
  next: async (sql, after) =>
    await sql<Subject[]>`
    select distinct account_id as account, app, report as of, day
    from analytics_day
    where (account_id, app, report, day) > (
      ${after?.account ?? ""}, ${after?.app ?? ""}, ${after?.of ?? ""}, ${after?.day ?? "0001-01-01"}::date
    )
    order by account_id, app, report, day
    limit ${AT_ONCE}`,
  async read(tx, { account, app, of, day }) {
    const [row] = await tx<{ facts: string | null }[]>`
      select md5(string_agg(f::text, ' ' order by place)) as facts
      from funnel_fact f
      where account_id = ${account} and app = ${app} and report = ${of} and day = ${day}`
    return row?.facts ?? ""
  },
  derive: (tx, { account, app, of, day }) => deriveFunnel(tx, [{ kind: of, account, app, day: day as string }]),
}

const PRICES: Derivation = {
  next: async (sql, after) =>
    await sql<Subject[]>`
    select distinct account_id as account, app, product as of, null as day
    from price_day
    where (account_id, app, product) > (${after?.account ?? ""}, ${after?.app ?? ""}, ${after?.of ?? ""})
    order by account_id, app, product
    limit ${AT_ONCE}`,
  async read(tx, { account, app, of }) {
    const [row] = await tx<{ facts: string | null }[]>`
      select md5(string_agg(p::text, ' ' order by country, from_day)) as facts
      from price_period p
      where account_id = ${account} and app = ${app} and product = ${of}`
    return row?.facts ?? ""
  },
  derive: (tx, { account, app, of: product }) => derivePrices(tx, [{ account, app, product }]),
}
