import { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import type { PendingQuery, Row } from "postgres"
import * as v from "valibot"
import type { Sql, Tx } from "../database/types.ts"
import type { SourceName } from "../lib/upstreams.ts"
import type { Facts, ReportSets } from "./observation/facts.ts"
import { checkProvenance, checkSource, checkStore, checkStorefront, checkTime } from "./observation/invariants.ts"
import { Country, LINE_PROVENANCE, type MarketFacts, Moment, PlatformName, sourceIn } from "./observation/line-parts.ts"
import type {
  AnyObservation,
  ChangedApp,
  Platform,
  Provenance,
  Side,
  StoreObservation,
} from "./observation/provenance.ts"
import { rulesOf } from "./observation/shape.ts"
import type { NamingApps, OutdatedReading, ShownApps } from "./observation/shown-apps.ts"
import type { Names, SurrogateIds } from "./observation/subjects.ts"

export type ObservationOf<Name extends string, Source extends SourceName, Shape extends v.GenericSchema> = Omit<
  AnyObservation,
  "kind" | "source" | "storefront" | "platform"
> & { kind: Name; source: Source; storefront: string; platform: Platform } & v.InferOutput<Shape>

/** A strict object, with rules of the whole of it or without. */
type Shape = v.GenericSchema & { entries: v.ObjectEntries }

/** A kind of observation, declared once: from the list of kinds (kinds.ts) follows all that is done with any. */
interface KindDeclaration<Seen extends AnyObservation = AnyObservation, Question = never> {
  name: Seen["kind"]
  sources: readonly Seen["source"][]
  /** True: belongs to a workspace and never leaves it. */
  private: boolean
  /** True: the same in every storefront, so that it names none. */
  everywhere?: true
  /** True: of no store, so that it names no platform. Its rules look at its own fields alone. */
  storeless?: true
  /** True: the demo's data may hold it, "invented": of its own world alone. Of no other kind it does. */
  demo?: true | "invented"
  /** The keyword, or the prefix of keywords, whose figures rest on the reading itself, not on what it shows of apps. */
  figures?(seen: Seen): { kind: "term" | "hint"; subject: string }
  /** True: stored in tables parted by month. */
  monthly?: true
  /** Fields beside those of every observation: as an import line spells them, what becomes of them, and their rules. */
  shape: Shape
  /** Where an import line has other fields: these (null = none of the name), and what is made of them. */
  line?: { entries: Record<string, v.GenericSchema | null>; read(line: unknown): object }
  /** How the log of failed reads names what a source was asked; left out where none is logged. */
  question?: {
    /** As the schedule names it too; null for what has no name. */
    about(asked: Question): string | null
    /** Throws ObservationProblem. */
    checkSubject(subject: string, platform: Platform): void
    /** Sources whose failed reads are logged; all when left out. */
    sources?: readonly SourceName[]
  }
  names?(seen: Seen): Names
  /** What it says of other kinds' subjects besides, as readings of theirs. */
  parts?(seen: Seen): readonly AnyObservation[]
  /** What it says of apps' markets. */
  market?(seen: Seen): readonly { id: string; facts: MarketFacts }[]
  /** How many results take about as long to store; 1 when left out. */
  weight?(seen: Seen): number
  /** The same reading as two, of which the first has at most so many results; null where nothing is left for a second. */
  split?(seen: Seen, most: number): [Seen, Seen | null]
  /**
   * Of reports of accounts: what follows from some of their rows. A report of very many is stored so many at a time, in
   * transactions of their own, before `store` says that they count.
   */
  facts?: Facts
  /** Stores rows that are new or better than what is held. */
  store(tx: Tx, seen: readonly Seen[], known: SurrogateIds, staged: ReportSets): Promise<StoreResult<Seen>>
  /** What follows from the rows of readings, once what is said of apps is stored. */
  derive?(tx: Tx, seen: NewReadings<Seen>, known: SurrogateIds, staged: ReportSets): Promise<void>
  /** What is held, page by page, in the order of the rows' key. */
  stored?(sql: Sql, range: StoredRange): AsyncIterable<Seen[]>
  /** Of kinds whose bodies are kept: what is read in the body now, beside what is held. */
  replay?: {
    /** True: without a first day, only readings of days whose bodies can be kept; there are too many others. */
    whileKept?: true
    /** Each of these counts as one reading. */
    subjects(held: Seen): readonly string[]
    /** What was asked for it: a subject, or several with commas. */
    asked(place: Side, subject: string): Question
    /** By subject; null = in nothing. */
    compare(held: Seen, now: Seen): (Difference | null)[]
    /** Whether what the failed read `a` (a row of `attempt`) was after is held, from its body or from a later reading. */
    isHeld(sql: Sql): PendingQuery<Row[]>
  }
  /** When its subject was last seen since then, as one row "seenAt"; of kinds that are read on request. */
  latest?(sql: Sql, place: Side & { subject: string }, since: Date): PendingQuery<Row[]>
  /** Rows that go so many days after the day of this column; all are kept when left out. */
  keep?: { table: string; day: string; keep: number }
  /** A line of an import, as the reference shows it. */
  example: Record<string, unknown>
}

export interface StoreResult<Seen> {
  /** Readings that took a place with any of their rows. */
  placed: readonly Seen[]
  /** What they show of apps that is the same in every storefront, and rating counts. */
  shown?: readonly ShownApps[]
  /** What they call apps; what they show when left out. */
  named?: readonly NamingApps[]
  /** Apps whose row of a storefront was written, so that the date of their last update may be another. */
  dated?: readonly ChangedApp[]
  /** Earlier readings that turned out to be stale: their names and rating counts are removed. */
  outdated?: readonly OutdatedReading[]
}

interface NewReadings<Seen> {
  placed: readonly Seen[]
  /** Those whose rating counts were new. */
  rated: readonly Seen[]
}

export interface StoredRange {
  /** First day, "YYYY-MM-DD"; null = all. */
  since: string | null
  sources: readonly SourceName[]
}

export interface Difference {
  /** How many places, or facts. */
  places: number
  detail: string
}

interface Kind<Seen extends AnyObservation = AnyObservation, Question = never> extends KindDeclaration<Seen, Question> {
  lineShape: v.GenericSchema
  /** What a line says that has this shape. `text` is the line. */
  readLine(line: unknown, text: string): Seen
  /** Throws ObservationProblem unless all its rules hold. */
  check(seen: Seen, now: Date): void
}

export function kind<Seen extends AnyObservation, Question = never>(
  declared: KindDeclaration<Seen, Question>,
): Kind<Seen, Question> {
  const { name, sources, everywhere, storeless, shape, line } = declared
  const rules = rulesOf(shape)
  const fields: Record<string, v.GenericSchema | null> = {
    kind: v.literal(name),
    source: sourceIn(sources),
    ...(storeless ? {} : { platform: PlatformName }),
    ...(everywhere ? {} : { storefront: Country }),
    seenAt: Moment,
    ...(shape.entries as Record<string, v.GenericSchema>),
    ...line?.entries,
    ...LINE_PROVENANCE,
  }
  return {
    ...declared,
    lineShape: v.strictObject(Object.fromEntries(Object.entries(fields).filter(isField))),
    readLine(said: LineProvenance, text) {
      const { storefront } = said
      const fields = (line ? line.read(said) : said) as LineProvenance
      const place = storefront === undefined ? {} : { storefront: storefront.toLowerCase() }
      // the line's shape was checked, and the compiler cannot follow what the kind makes of it
      return { ...fields, ...place, ...provenanceOf(fields, text) } as never
    },
    check(seen, now) {
      if (storeless) checkSource(seen.source, sources)
      else checkStore(seen as StoreObservation, sources)
      if (!everywhere) checkStorefront(seen.storefront as string, storeless ? undefined : seen.platform)
      checkTime(seen.seenAt, now)
      rules?.(seen, seen as StoreObservation)
      checkProvenance(seen)
    },
  }
}

function isField(entry: [string, v.GenericSchema | null]): entry is [string, v.GenericSchema] {
  return entry[1] !== null
}

interface LineProvenance {
  storefront?: string
  seenAt: Date
  parser: number
  origin: string
  egress?: string
  sha256?: string
}

function provenanceOf({ seenAt, parser, origin, egress, sha256 }: LineProvenance, text: string): Provenance {
  return {
    seenAt,
    parser,
    origin,
    egress: egress?.toLowerCase() as string,
    sha256: sha256 === undefined ? hash("sha256", text.trim(), "buffer") : Buffer.from(sha256, "hex"),
  }
}

/** Any kind; what it is given is of its own. */
// biome-ignore lint/suspicious/noExplicitAny: a list of kinds calls each with its own observations alone
export type AnyKind = Kind<any, any>
