import { expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { versionOf } from "../../src/database/assets.ts"
import { checkMetadata } from "../../src/listings/checks/metadata-folder.ts"
import { runHere } from "./here.ts"

const FOLDERS = join(import.meta.dirname, "../listings/metadata")
const folder = (name: string) => join(FOLDERS, name)
const NO_NAMES = { name: null, developer: null }

function filesOf(name: string): Map<string, Uint8Array> {
  const paths = readdirSync(folder(name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".txt"))
    .map((entry) => join(entry.parentPath, entry.name))
  return new Map(paths.map((path) => [relative(folder(name), path), readFileSync(path)]))
}

/** Returns the findings of a folder as "file:line:column code" and the words. */
function findingsIn(name: string): string[][] {
  return checkMetadata(filesOf(name), NO_NAMES).findings.map(({ file, line, column, code, what }) => [
    `${file}${line === null ? "" : `:${line}:${column}`} ${code}`,
    what.slice(0, 12),
  ])
}

const textsOf = (texts: Record<string, string>) =>
  new Map(Object.entries(texts).map(([path, text]) => [path, new TextEncoder().encode(text)]))

test("check finds no fault in correct texts of either store, whatever their script and line endings", () => {
  const { listings, findings } = checkMetadata(filesOf("clean"), NO_NAMES)
  expect(findings).toEqual([])
  expect(listings.map(({ store, locale }) => `${store} ${locale}`)).toEqual([
    "android en-US",
    "android fil",
    "android zh-TW",
    "ios de-DE",
    "ios en-US",
    "ios ja",
  ])
  expect(listings.find(({ locale }) => locale === "ja")?.fields.name).toEqual({ length: 6, limit: 30 })
})

test("check reports each fault in App Store texts with its file, line and column", () => {
  expect(findingsIn("tea-timer")).toEqual([
    ["de-DE/description.txt:1:1 wrong_language", "This"],
    ["en-US/description.txt:1:12 refused_character", "🍵"],
    ["en-US/description.txt:1:18 price_amount", "$4.99."],
    ["en-US/description.txt:2:1 markup", "<b>"],
    ["en-US/description.txt:2:8 markup", "</b>"],
    ["en-US/keywords.txt:1:1 repeated_in_name", "tea"],
    ["en-US/keywords.txt:1:5 keyword_space", " "],
    ["en-US/keywords.txt:1:6 repeated_in_name", "oolong"],
    ["en-US/keywords.txt:1:12 empty_keyword", ","],
    ["en-US/keywords.txt:1:20 wrong_separator", ";"],
    ["en-US/keywords.txt:1:25 filler_word", "app"],
    ["en-US/name.txt:1:31 too_long", "a Free"],
    ["en-US/name.txt:1:33 price_word", "Free"],
    ["en-US/subtitle.txt:1:6 repeated_in_name", "tea"],
    ["en-US/subtitle.txt:1:10 repeated_in_name", "timer"],
    ["en-US/subtitle.txt:1:20 other_platform", "Android"],
    ["en-US/support_url.txt:1:1 bad_url", "example.com/"],
    ["fr-FR/name.txt not_utf8", "name.txt"],
    ["ja/keyword.txt unknown_file", "keyword.txt"],
    ["ja/name.txt:1:1 too_short", "お"],
  ])
})

test("check reports each fault in folder names and Google Play texts with its file, line and column", () => {
  expect(findingsIn("moon")).toEqual([
    ["android/de-DE/title.txt:1:31 too_long", "r"],
    ["android/en unknown_locale", "en"],
    ["android/en-US/changelogs/7.txt:1:501 too_long", "es. Fixes. F"],
    ["android/en-US/name.txt unknown_file", "name.txt"],
    ["android/en-US/short_description.txt:1:81 too_long", " you are on "],
    ["android/en-US/title.txt:1:12 refused_character", "🌙"],
    ["android/en-US/title.txt:1:14 price_word", "Free"],
    ["android/en-US/title.txt:1:19 filler_word", "#1"],
    ["android/pt-BR/video.txt:1:1 bad_url", "youtube"],
    ["de unknown_locale", "de"],
  ])
})

test("the finding for a misspelt locale or file suggests the correct name", () => {
  const messages = ["moon", "tea-timer"].flatMap((name) =>
    checkMetadata(filesOf(name), NO_NAMES).findings.map(({ message }) => message),
  )
  const questions = messages.flatMap((message) => /Did you mean [^?]*\?/.exec(message) ?? [])
  expect(questions).toEqual(["Did you mean en-US?", "Did you mean de-DE?", "Did you mean keywords.txt?"])
})

test("the Google Play folders of fastlane and of Gradle Play Publisher are recognised without an option", () => {
  const long = "x".repeat(501)
  const layouts: Record<string, string>[] = [
    { "en-US/title.txt": "Tea", "en-US/changelogs/default.txt": long },
    { "listings/en-US/title.txt": "Tea", "release-notes/en-US/default.txt": long, "contact-email.txt": "a@b.c" },
  ]
  for (const texts of layouts) {
    const { listings, findings } = checkMetadata(textsOf(texts), NO_NAMES)
    expect(listings).toEqual([{ store: "android", locale: "en-US", fields: { name: { length: 3, limit: 30 } } }])
    expect(findings.map(({ code, locale }) => `${locale} ${code}`)).toEqual(["en-US too_long"])
  }
})

test("the app's own name is not reported as the name of another company", () => {
  const texts = textsOf({ "en-US/name.txt": "Spotify", "en-US/subtitle.txt": "Spotify Music" })
  const codesWith = (name: string | null) =>
    checkMetadata(texts, { name, developer: null }).findings.map(({ code }) => code)
  expect(codesWith(null)).toContain("known_brand")
  expect(codesWith("Spotify")).toEqual(["repeated_in_name"])
})

test("check prints readable findings with their totals, and exits with 1 if there are errors", async () => {
  const { code, out } = await runHere(["check", folder("moon")], {})
  expect(code).toBe(1)
  expect(out).toContain(`${folder("moon")}/android/de-DE/title.txt:1:31 error\n  The title has 31 characters, 1 over`)
  expect(out).toEndWith("\n9 listings checked: 9 errors, 1 warning, 0 hints\n")
  const clean = await runHere(["check", folder("clean"), "--strict"], {})
  expect(clean).toEqual({ code: 0, out: "6 listings checked: 0 errors, 0 warnings, 0 hints\n", err: "" })
})

test("check --json prints the totals of the findings, and check --github prints annotations", async () => {
  const json = await runHere(["check", folder("moon"), "--json"], {})
  expect(JSON.parse(json.out)).toMatchObject({ counts: { error: 9, warning: 1, hint: 0 }, folder: folder("moon") })
  const { code, out } = await runHere(["check", relative(process.cwd(), folder("moon")), "--github"], {})
  expect(code).toBe(1)
  const path = relative(process.cwd(), folder("moon"))
  const expected = [
    `::error file=${path}/android/de-DE/title.txt,line=1,col=31,title=too_long::` +
      "The title has 31 characters, 1 over the limit of 30.",
    `::error file=${path}/de,title=unknown_locale::There is no locale de in the App Store; fastlane refuses to ` +
      "upload such a folder. Did you mean de-DE?",
  ]
  expect(out.split("\n")).toEqual(expect.arrayContaining(expected))
})

test("a missing folder, a file and a folder without texts are refused with advice", async () => {
  for (const [path, reason] of [
    [folder("missing"), "there is no folder"],
    [folder("moon/README.md"), "is a file; give a folder of locales"],
    [join(import.meta.dirname, "process"), "contains no locale with texts, such as en-US/name.txt"],
  ] as const) {
    const { code, err } = await runHere(["check", path], {})
    expect([code, err]).toEqual([1, expect.stringContaining(reason)])
  }
})

test("a store text cannot start a GitHub workflow command in the output", async () => {
  const root = mkdtempSync(join(tmpdir(), "appmeter-check-"))
  mkdirSync(join(root, "en-US"))
  writeFileSync(join(root, "en-US", "keywords.txt"), "tea\n::error::x, kettle\n::stop-commands::y ,\r::add-mask::z")
  const { out } = await runHere(["check", root, "--github"], {})
  rmSync(root, { recursive: true })
  const lines = out.trimEnd().split("\n")
  expect(lines.length).toBeGreaterThan(3)
  expect(lines.filter((line) => !/^::(?:error|warning|notice) file=/.test(line))).toEqual([])
})

test("the printed GitHub action passes its inputs to the command check unchanged", async () => {
  const { out } = await runHere(["packaging", "github-action"], {})
  const { inputs, runs } = Bun.YAML.parse(out) as {
    inputs: Record<string, { default: string }>
    runs: { steps: { env: Record<string, string>; run: string }[] }
  }
  const [step] = runs.steps
  expect(Object.values(step!.env)).toEqual(Object.keys(inputs).map((name) => `\${{ inputs.${name} }}`))
  const bin = mkdtempSync(join(tmpdir(), "appmeter-action-"))
  writeFileSync(join(bin, "npx"), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 })
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    FOLDER: "a b/$(id)",
    NAME: 'Tea "Timer"; id',
    DEVELOPER: "",
    STRICT: "true",
  }
  const { stdout } = Bun.spawnSync(["bash", "-c", step!.run], { env })
  rmSync(bin, { recursive: true })
  expect(stdout.toString().trimEnd().split("\n")).toEqual([
    "-y",
    `appmeter@${versionOf()}`,
    "check",
    "a b/$(id)",
    "--github",
    "--name",
    'Tea "Timer"; id',
    "--strict",
  ])
})
