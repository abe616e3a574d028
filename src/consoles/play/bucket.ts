import { GOOGLE_STORAGE_HOST } from "../../lib/upstreams.ts"
import { ConsoleProblem } from "../console.ts"
import { platformText } from "../platform-text.ts"
import { MAX_BYTES, type Play } from "./client.ts"

/** A file of the bucket. A new generation replaces the earlier content. */
export interface BucketFile {
  name: string
  generation: string
  /** When this generation was written, RFC 3339. */
  updated: string
  /** Bytes. */
  size: number
}

const PAGE = 1_000
/** At most 20,000 files. A publisher of 20 apps, with one file per app and month, reaches that after 80 years. */
const MAX_PAGES = 20
const FILE_FIELDS = "name,generation,updated,size"

interface ListQuery {
  prefix: string
  /** Lists only names that match. A star matches anything except a slash. */
  matchGlob?: string
}

/** Lists files by name, page by page. Throws ConsoleProblem. */
export async function listFiles(
  play: Play,
  bucket: string,
  { prefix, matchGlob }: ListQuery,
  signal?: AbortSignal,
): Promise<BucketFile[]> {
  const files: BucketFile[] = []
  let pageToken: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const found = await play.document(
      GOOGLE_STORAGE_HOST,
      objectsPath(bucket),
      {
        prefix,
        matchGlob,
        maxResults: String(PAGE),
        fields: `nextPageToken,items(${FILE_FIELDS})`,
        pageToken,
      },
      signal,
    )
    if (found === null) throw new ConsoleProblem("refused", noBucket(bucket))
    const { items = [], nextPageToken } = found
    if (!Array.isArray(items)) throw new ConsoleProblem("refused", "the list of files cannot be read")
    files.push(...items.flatMap((item) => fileIn(item) ?? []))
    if (typeof nextPageToken !== "string" || nextPageToken === "") return files
    pageToken = nextPageToken
  }
  throw new ConsoleProblem("refused", `more than ${MAX_PAGES * PAGE} files begin with ${platformText(prefix, 200)}`)
}

function noBucket(bucket: string): string {
  return `there is no bucket ${bucket}; Play Console shows its name under Download reports, Copy Cloud Storage URI`
}

/** Returns the current generation of a file. Null if the file does not exist. Throws ConsoleProblem. */
export async function findFile(
  play: Play,
  bucket: string,
  name: string,
  signal?: AbortSignal,
): Promise<BucketFile | null> {
  const path = `${objectsPath(bucket)}/${encodeURIComponent(name)}`
  const found = await play.document(GOOGLE_STORAGE_HOST, path, { fields: FILE_FIELDS }, signal)
  if (found === null) return null
  const file = fileIn(found)
  if (file === null || file.name !== name)
    throw new ConsoleProblem("refused", "the metadata of the file cannot be read")
  return file
}

/**
 * Returns the content of exactly this generation. Null if it was replaced or deleted in the meantime. Throws
 * ConsoleProblem `refused` for a file that is too large.
 */
export async function readFile(
  play: Play,
  bucket: string,
  { name, generation, size }: BucketFile,
  signal?: AbortSignal,
): Promise<Uint8Array | null> {
  if (size > MAX_BYTES)
    throw new ConsoleProblem("refused", `the file has ${size} bytes, and at most ${MAX_BYTES} are read`)
  const path = `${objectsPath(bucket)}/${encodeURIComponent(name)}`
  const { status, bytes } = await play.get(GOOGLE_STORAGE_HOST, path, { alt: "media", generation }, signal)
  return status === 404 ? null : bytes
}

function objectsPath(bucket: string): string {
  return `/storage/v1/b/${encodeURIComponent(bucket)}/o`
}

/** Returns a file from Google's list. Null if a field is missing or invalid. */
function fileIn(item: unknown): BucketFile | null {
  const { name, generation, updated, size } = (item ?? {}) as Record<string, unknown>
  if (typeof name !== "string" || name === "" || name.length > 1_024) return null
  if (typeof generation !== "string" || !/^\d{1,20}$/.test(generation)) return null
  if (typeof updated !== "string" || Number.isNaN(Date.parse(updated))) return null
  if (!/^\d{1,15}$/.test(String(size))) return null
  return { name, generation, updated, size: Number(size) }
}
