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

/** A strict object schema, with or without rules about the whole object. */
type Shape = v.GenericSchema & { entries: v.ObjectEntries }

/** Declares a kind of observation. Everything done with observations follows from the list of kinds (kinds.ts). */
interface KindDeclaration<Seen extends AnyObservation = AnyObservation, Question = never> {
  name: Seen["kind"]
  sources: readonly Seen["source"][]
  /** True if the observation belongs to a workspace and is never shared. */
  private: boolean
  /** True if the observation is the same in every storefront and names no storefront. */
  everywhere?: true
  /** True if the observation belongs to no store and names no platform. Its rules get only its own fields. */
  storeless?: true
  /**
   * True if the demo's data may contain the kind; "invented" if only for invented apps. Other kinds refuse demo data.
   */
  demo?: true | "invented"
  /**
   * Returns the keyword or keyword prefix whose metrics are calculated from the reading itself, so that an import
   * recalculates them. Omitted if readings affect metrics only through the facts of apps.
   */
  figures?(seen: Seen): { kind: "term" | "hint"; subject: string }
  /** True if the tables are partitioned by month. */
  monthly?: true
  /**
   * The fields in addition to those of every observation, as an import line spells them, with conversions and rules.
   */
  shape: Shape
  /**
   * How an import line differs from `shape`: fields to add or replace (null removes a field), and a function that
   * converts the line.
   */
  line?: { entries: Record<string, v.GenericSchema | null>; read(line: unknown): object }
  /** Adds to the reading of an import line what every live reading has. */
  completed?(seen: Seen): Seen
  /**
   * The name of the list in an import line whose invalid items are left out. No item of this list depends on another.
   */
  unordered?: string
  /** True if null in an import line means that there is no value, which differs from an unknown value. */
  distinguishesNull?: true
  /** Names the question in the log of failed reads. Left out if failed reads are not logged. */
  question?: {
    /** Returns the subject, as the schedule names it. Null if the question has no name. */
    about(question: Question): string | null
    /** Throws ObservationProblem for a malformed subject. */
    checkSubject(subject: string, platform: Platform): void
    /** Sources whose failed reads are logged. Default: all. */
    sources?: readonly SourceName[]
  }
  names?(seen: Seen): Names
  /** Returns the readings of other kinds that the observation contains. */
  parts?(seen: Seen): readonly AnyObservation[]
  /** Returns the market facts of apps that the observation contains. */
  market?(seen: Seen): readonly { id: string; facts: MarketFacts }[]
  /**
   * Returns the cost of storing the observation, as the number of search results that take about as long to store.
   * Default: 1.
   */
  weight?(seen: Seen): number
  /** Splits the reading in two, the first with at most `most` results. The second is null if nothing is left for it. */
  split?(seen: Seen, most: number): [Seen, Seen | null]
  /**
   * For account reports: how facts are derived from some of the rows. A large report is stored in batches, each in its
   * own transaction, before `store` makes them current.
   */
  facts?: Facts
  /** Stores rows that are new or take precedence over the stored ones. */
  store(tx: Tx, seen: readonly Seen[], ids: SurrogateIds, staged: ReportSets): Promise<StoreResult<Seen>>
  /** Writes the rows derived from readings, after the facts of apps are stored. */
  derive?(tx: Tx, seen: NewReadings<Seen>, ids: SurrogateIds, staged: ReportSets): Promise<void>
  /** Yields what is stored, page by page, in the order of the primary key. */
  stored?(sql: Sql, range: StoredRange): AsyncIterable<Seen[]>
  /** For kinds whose bodies are kept: compares what the present parser reads in a kept body with the stored rows. */
  replay?: {
    /**
     * True if a replay without a first day covers only days whose bodies may still be kept, because there are too many
     * other days.
     */
    whileKept?: true
    /** Returns the subjects of a stored observation. Each counts as one reading. */
    subjects(previous: Seen): readonly string[]
    /** Returns the question to the source for a subject, or for several subjects joined by commas. */
    toQuestion(place: Side, subject: string): Question
    /** Returns the difference for each subject. Null if there is none. */
    compare(previous: Seen, now: Seen): (Difference | null)[]
    /**
     * Returns SQL for whether the subject of the failed read `a` (a row of `attempt`) is stored, from its body or from
     * a later reading.
     */
    isStored(sql: Sql): PendingQuery<Row[]>
  }
  /**
   * For kinds read on request: returns SQL for the latest time its subject was seen since `since`, as one row "seenAt".
   */
  latest?(sql: Sql, place: Side & { subject: string }, since: Date): PendingQuery<Row[]>
  /** Retention: rows are deleted `keep` days after the day in column `day`. If left out, rows are kept forever. */
  keep?: { table: string; day: string; keep: number }
  /** A sample import line, shown in the reference. */
  example: Record<string, unknown>
}

export interface StoreResult<Seen> {
  /** Readings to which at least one stored row now belongs. */
  placed: readonly Seen[]
  /** App facts that are the same in every storefront, and rating counts. */
  shown?: readonly ShownApps[]
  /** Names of apps. Default: those in `shown`. */
  named?: readonly NamingApps[]
  /** Apps whose row for a storefront was written, so that their last update may have a new date. */
  dated?: readonly ChangedApp[]
  /** Earlier readings that turned out to come from a stale cache; their names and rating counts are removed. */
  outdated?: readonly OutdatedReading[]
}

interface NewReadings<Seen> {
  placed: readonly Seen[]
  /** Readings with new rating counts. */
  rated: readonly Seen[]
}

export interface StoredRange {
  /** First day, "YYYY-MM-DD". Null for all days. */
  since: string | null
  sources: readonly SourceName[]
}

export interface Difference {
  /** Number of places or facts that differ. */
  places: number
  detail: string
}

interface Kind<Seen extends AnyObservation = AnyObservation, Question = never> extends KindDeclaration<Seen, Question> {
  lineShape: v.GenericSchema
  /** Converts a line of this shape into an observation. `text` is the raw line. */
  readLine(line: unknown, text: string): Seen
  /** Throws ObservationProblem if a rule is broken. */
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
    readLine(provenance: LineProvenance, text) {
      const { storefront } = provenance
      const fields = (line ? line.read(provenance) : provenance) as LineProvenance
      const place = storefront === undefined ? {} : { storefront: storefront.toLowerCase() }
      // the line's shape was checked; the compiler cannot follow the kind's own conversion
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

/** Any kind. Each is called only with its own observations. */
// biome-ignore lint/suspicious/noExplicitAny: a list of kinds calls each with its own observations alone
export type AnyKind = Kind<any, any>

/** Any observation of a kind. */
export type SeenBy<Listed extends AnyKind> = ReturnType<Listed["readLine"]>

/** The owner of the data. Data of accounts belongs to their workspace. */
type OwnerOf<Seen> = Seen extends { account: string } ? "workspace" : "everyone"

/** Returns the declaration of a kind. The compiler refuses a name or an owner that differs from the declaration. */
export function kindEntry<Listed extends AnyKind>(
  _name: SeenBy<Listed>["kind"],
  declared: Listed,
  _owner: OwnerOf<SeenBy<Listed>>,
): Listed {
  return declared
}

export function kindNamed(name: unknown, kinds: readonly AnyKind[]): AnyKind | undefined {
  return kinds.find((kind) => kind.name === name)
}
