import { type AnyKind, kindNamed } from "../../core/kind.ts"
import type { Attempt } from "../../core/observation/attempt.ts"
import type { StoreObservation } from "../../core/observation/provenance.ts"
import type { Sql } from "../../database/types.ts"
import type { Observation } from "../../kinds.ts"
import { KINDS } from "../../kinds.ts"
import type { SourceName } from "../../lib/upstreams.ts"
import { parseBody, type RawBody, type Source } from "../../measuring/source.ts"
import { type Sources, sourcesIn } from "../../sources.ts"
import { apps } from "../../stores/kinds/apps.ts"
import type { AppsObservation } from "../../stores/kinds/apps-shape.ts"
import { readApps, readAppsAgain } from "./replay-apps.ts"
import type { Range, ReplaySubject } from "./replay-subjects.ts"

interface StoredRange extends Range {
  /** The first day whose bodies may still be stored. */
  firstKept: string
}

/** Yields stored readings of every kind with bodies, in pages, ordered by source. */
export async function* readStoredReadings(
  sql: Sql,
  sources: Sources,
  { since, source, firstKept }: StoredRange,
): AsyncGenerator<ReplaySubject[]> {
  for (const kind of new Set(sourcesIn(sources).map((one) => one.kind))) {
    if (!kind.stored || !kind.replay) continue
    const names = sourcesOf(kind, sources)
      .map(({ name }) => name)
      .filter((name) => source === null || name === source)
    if (names.length === 0) continue
    for await (const page of kind.stored(sql, {
      since: since ?? (kind.replay.whileKept ? firstKept : null),
      sources: names,
    })) {
      yield page.map((observation) => readFrom(kind, sources, observation))
    }
  }
}

function readFrom(kind: AnyKind, sources: Sources, observation: StoreObservation): ReplaySubject {
  const { source, platform, storefront = "", seenAt, sha256, parser, egress, origin } = observation
  const replay = kind.replay!
  const subjects = replay.subjects(observation)
  const subject = { kind: kind.name, source, platform, storefront, subject: subjects.join() }
  return {
    source,
    platform,
    storefront,
    seenAt,
    sha256,
    parser,
    subjects,
    read(body) {
      const read =
        kind === apps
          ? readAppsAgain(sources, observation as AppsObservation, body)
          : readAgain(sources, subject, body, egress)
      return { ...read, origin }
    },
    compare: (seen) => replay.compare(observation, seen),
  }
}

/** Parses a stored body again. Throws ReadFailure. */
export function readAgain(
  sources: Sources,
  question: Omit<Attempt, "at" | "outcome">,
  body: RawBody,
  egress?: string,
): Observation {
  const { source, platform, storefront, subject } = question
  const kind = kindNamed(question.kind, KINDS)!
  if (kind === apps) return readApps(sources, question, body)
  const parser = sourcesOf(kind, sources).find(({ name }) => name === source)!
  return parseBody(parser, kind.replay!.toQuestion({ platform, storefront }, subject), body, egress)
}

function sourcesOf(kind: AnyKind, sources: Sources): Source<unknown>[] {
  return sourcesIn(sources).filter((one) => one.kind === kind)
}

/** Returns the sources whose bodies can be parsed again. */
export function readableNames(sources: Sources): SourceName[] {
  return sourcesIn(sources).flatMap(({ name, kind }) => (kind.replay ? [name] : []))
}

/** SQL that is true if the subject of the failed read `a` is stored, from its body or a later reading. */
export function isStored(sql: Sql) {
  const each = KINDS.flatMap(({ name, replay }) =>
    replay ? [sql`or (a.kind = ${name} and exists (${replay.isStored(sql)}))`] : [],
  )
  return sql`false ${each}`
}
