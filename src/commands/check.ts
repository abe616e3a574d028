import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join, relative } from "node:path"
import process from "node:process"
import { type CheckedMetadata, checkMetadata, type MetadataFinding } from "../listings/checks/metadata-folder.ts"
import { type Command, CommandProblem, type Invocation } from "./cli/command.ts"
import { harmless, show, wrapped } from "./cli/show.ts"

export const check: Command = {
  name: "check",
  summary: "Check the store texts in a folder before a release.",
  details:
    "Reads fastlane's metadata of the App Store and Google Play, or the Gradle Play publisher's folder, and " +
    "checks every locale: lengths, wasted space, repetitions, prices, names of other apps and companies, script " +
    "and language. Needs no server. Exit code 1 if there is an error.",
  examples: [
    ["check", "./fastlane/metadata, or ./metadata"],
    ["check app/src/main/play --strict", "warnings fail too"],
    ["check --github", "annotations in a GitHub workflow; see packaging github-action"],
    ['check --name "Tea Timer" --developer "Acme"', "do not report these two names as names of other companies"],
  ],
  positionals: ["folder?"],
  options: {
    name: { meaning: "The app's name in the store.", value: "NAME" },
    developer: { meaning: "The developer's name in the store.", value: "NAME" },
    strict: { meaning: "Exit code 1 if there is a warning." },
    github: { meaning: "Print annotations for a GitHub workflow." },
  },
  async run(invocation) {
    const { text, has, terminal } = invocation
    const folder = folderOf(invocation)
    const checked = checkMetadata(textFiles(folder), {
      name: text("name") ?? null,
      developer: text("developer") ?? null,
    })
    const { counts, findings, listings } = checked
    if (listings.length === 0 && findings.length === 0)
      throw new CommandProblem(`${folder} contains no locale with texts, such as en-US/name.txt`)
    if (has("github")) for (const finding of findings) terminal.out(`${annotation(folder, finding)}\n`)
    else show(invocation, { folder, ...checked }, () => report(invocation, folder, checked))
    return counts.error > 0 || (has("strict") && counts.warning > 0) ? 1 : 0
  },
}

const DEFAULT_FOLDERS = [join("fastlane", "metadata"), "metadata"]

function folderOf({ positionals: [typed] }: Invocation): string {
  const folder = typed ?? DEFAULT_FOLDERS.find((name) => existsSync(name))
  if (folder === undefined)
    throw new CommandProblem(`there is no ${DEFAULT_FOLDERS.join(" or ")} here; name the folder: appmeter check FOLDER`)
  if (!existsSync(folder)) throw new CommandProblem(`there is no folder ${folder}`)
  if (!statSync(folder).isDirectory()) throw new CommandProblem(`${folder} is a file; give a folder of locales`)
  return folder
}

/** Returns the text files of a folder by their paths in it, with "/" between the parts. */
export function textFiles(folder: string): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".txt")) continue
    const path = join(entry.parentPath, entry.name)
    files.set(relative(folder, path).replaceAll("\\", "/"), readFileSync(path))
  }
  return files
}

function report({ terminal }: Invocation, folder: string, { listings, findings, counts }: CheckedMetadata): string[] {
  const lines = findings.flatMap((finding) => {
    const { severity, message, code } = finding
    const painted = severity === "error" ? terminal.paint("bad", severity) : severity
    const [first = "", ...rest] = wrapped(`${harmless(message)} (${code})`, terminal.columns())
    return [`${terminal.bold(placeOf(folder, finding))} ${painted}`, `  ${first}`, ...rest]
  })
  const total = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`
  const summary =
    `${total(listings.length, "listing")} checked: ${total(counts.error, "error")}, ` +
    `${total(counts.warning, "warning")}, ${total(counts.hint, "hint")}`
  return [...lines, summary]
}

function placeOf(folder: string, { file, line, column }: MetadataFinding): string {
  const path = harmless(join(folder, file))
  return line === null ? path : `${path}:${line}:${column}`
}

/**
 * Returns a workflow command of GitHub Actions. Source: docs.github.com, "Workflow commands for GitHub Actions". A path
 * is relative to the repository, which is the working directory.
 */
function annotation(folder: string, { file, line, column, severity, code, message }: MetadataFinding): string {
  const kind = severity === "hint" ? "notice" : severity
  const path = relative(process.cwd(), join(folder, file)).replaceAll("\\", "/")
  const properties = { file: path, ...(line !== null && { line, col: column }), title: code }
  const pairs = Object.entries(properties).map(([name, value]) => `${name}=${escapedProperty(String(value))}`)
  return `::${kind} ${pairs.join(",")}::${escapedData(message)}`
}

function escapedData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A")
}

function escapedProperty(text: string): string {
  return escapedData(text).replaceAll(":", "%3A").replaceAll(",", "%2C")
}
